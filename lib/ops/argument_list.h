// Arguments of a kernel whose number is known at run time only.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "base/text.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// Room for `capacity` of them, which cost nothing until they are added.
template <std::size_t capacity>
class ArgumentList {
 public:
  void add(const runtime::KernelArg& argument) {
    require(count_ < capacity, "launch", "more than ", capacity, " arguments");
    new (&bytes_[count_++ * sizeof(runtime::KernelArg)]) runtime::KernelArg(argument);
  }
  const runtime::KernelArg* data() const noexcept {
    return std::launder(reinterpret_cast<const runtime::KernelArg*>(bytes_));
  }
  std::size_t count() const noexcept { return count_; }

 private:
  static_assert(std::is_trivially_copyable_v<runtime::KernelArg>);
  alignas(runtime::KernelArg) std::byte bytes_[capacity * sizeof(runtime::KernelArg)];
  std::size_t count_ = 0;
};

}  // namespace crisol::ops
