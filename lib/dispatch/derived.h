// Copies of an operand in another layout, such as a packed weight.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace crisol::dispatch {

/// Identifies a derived copy: its kind, and the part and the layout of the operand that it holds.
struct DerivedKey {
  const char* kind = nullptr;  ///< The same pointer for the same kind.
  std::array<std::int64_t, 12> values{};
  std::uint64_t offset = 0;  ///< The first element of the part, which launch() fills in.

  friend bool operator==(const DerivedKey&, const DerivedKey&) = default;
};

/// The owner of an operand. It keeps derived copies of the operand until somebody writes the operand.
class DerivedOwner {
 public:
  struct Found {
    std::shared_ptr<void> data;  ///< A runtime::Block, or nothing.
    bool worth_keeping = false;  ///< Without data: true if this version was asked for before, so that a copy pays.
  };

  virtual Found find_derived(const DerivedKey& key, std::uint64_t version) = 0;
  /// Returns the copy that is kept. With several threads this is the copy of the first one.
  virtual std::shared_ptr<void> keep_derived(const DerivedKey& key, std::uint64_t version,
                                             std::shared_ptr<void> data) = 0;

 protected:
  ~DerivedOwner() = default;
};

}  // namespace crisol::dispatch
