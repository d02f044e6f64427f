// What a recording has to know of storages beside their memory.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "tensor/impl.h"

namespace crisol {

/// The recorded work wrote some storages, which a replay writes again, and relied on copies that are kept for others in
/// other layouts, which are right for one version.
class RecordedUses {
 public:
  void wrote(Storage& storage) { written_[&storage] = storage.weak_from_this(); }
  void relied_on(Storage& storage, std::uint64_t version) { relied_on_.push_back({storage.weak_from_this(), version}); }

  /// Refuses a replay with outdated copies.
  void check() const;
  /// After a replay.
  void note_written() const;

 private:
  struct Relied {
    std::weak_ptr<Storage> storage;
    std::uint64_t version;
  };
  std::unordered_map<Storage*, std::weak_ptr<Storage>> written_;
  std::vector<Relied> relied_on_;
};

}  // namespace crisol
