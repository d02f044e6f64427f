// What a capture must know about the storages that it uses, in addition to their memory.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tensor/impl.h"

namespace crisol {

/// The captured work wrote some storages, and each replay writes them again. The work also read packed copies of other
/// storages. A packed copy is valid for one version of its storage.
class CapturedUses {
 public:
  void wrote(Storage& storage) { written_[&storage] = storage.weak_from_this(); }
  /// Whether the captured work computes the storage's values, so that each replay may give other values.
  bool computes(Storage& storage) const;
  void relied_on(Storage& storage, std::uint64_t version) { relied_on_.push_back({storage.weak_from_this(), version}); }

  /// Notes that others write the storage between replays.
  void varies(const Storage& storage) { varying_.insert(&storage); }
  /// Whether the work read a packed copy of the storage.
  bool relies_on(const Storage& storage) const;

  /// Whether all packed copies are up to date.
  bool holds() const;
  /// Throws if a replay would use an outdated copy.
  void check() const;
  /// Called after a replay.
  void note_written() const;

 private:
  struct Relied {
    std::weak_ptr<Storage> storage;
    std::uint64_t version;
  };
  std::unordered_map<Storage*, std::weak_ptr<Storage>> written_;
  std::unordered_set<const Storage*> varying_;
  std::vector<Relied> relied_on_;
};

}  // namespace crisol
