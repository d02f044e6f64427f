// Arguments of a kernel whose number is known at run time only.
#pragma once

#include <array>
#include <utility>

#include "base/text.h"
#include "runtime/launch.h"

namespace crisol::ops {

class ArgumentList {
 public:
  static constexpr std::size_t capacity = 32;

  ArgumentList() : list_(filled(std::make_index_sequence<capacity>())) {}
  void add(const runtime::KernelArg& argument) {
    require(count_ < capacity, "launch", "more than ", capacity, " arguments");
    list_[count_++] = argument;
  }
  const runtime::KernelArg* data() const noexcept { return list_.data(); }
  std::size_t count() const noexcept { return count_; }

 private:
  template <std::size_t... i>
  static std::array<runtime::KernelArg, capacity> filled(std::index_sequence<i...>) {
    return {((void)i, runtime::KernelArg(std::int32_t{0}))...};
  }

  std::array<runtime::KernelArg, capacity> list_;
  std::size_t count_ = 0;
};

}  // namespace crisol::ops
