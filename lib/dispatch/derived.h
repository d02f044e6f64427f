// Copies of an operand in another layout, such as a packed weight.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace crisol::dispatch {

/// Identifies a derived copy: its kind, the part of the operand that it holds, and its layout.
struct DerivedKey {
  const char* kind = nullptr;  ///< Keys of the same kind must have the same pointer.
  std::array<std::int64_t, 12> values{};
  std::uint64_t offset = 0;  ///< The part's first element. launch() fills it in.

  friend bool operator==(const DerivedKey&, const DerivedKey&) = default;
};

/// The owner of an operand. It keeps derived copies of the operand until the operand is written.
class DerivedOwner {
 public:
  struct Found {
    std::shared_ptr<void> data;  ///< A runtime::Block, or nothing if no copy is kept.
    bool worth_keeping = false;  ///< If there is no copy: whether making one saves time from now on.
  };

  virtual Found find_derived(const DerivedKey& key, std::uint64_t version) = 0;
  /// Keeps a copy and returns the kept one. If several threads do this, all get the copy of the first thread.
  virtual std::shared_ptr<void> keep_derived(const DerivedKey& key, std::uint64_t version,
                                             std::shared_ptr<void> data) = 0;

 protected:
  ~DerivedOwner() = default;
};

}  // namespace crisol::dispatch
