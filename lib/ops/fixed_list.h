// A list whose length is known only at run time. It allocates nothing.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>

#include "base/text.h"

namespace crisol::ops {

/// Space for `capacity` values. It costs nothing until values are added.
template <class T, std::size_t capacity>
class FixedList {
 public:
  FixedList() = default;
  FixedList(const FixedList&) = delete;
  FixedList& operator=(const FixedList&) = delete;

  /// Constructs a T from the value in the list's space, because copying a large T would cost more.
  template <class Value>
  void add(const Value& value) {
    require(count_ < capacity, "launch", "more than ", capacity, " values in a list");
    new (&bytes_[count_++ * sizeof(T)]) T(value);
  }
  const T* data() const noexcept { return std::launder(reinterpret_cast<const T*>(bytes_)); }
  std::size_t count() const noexcept { return count_; }
  std::span<const T> span() const noexcept { return {data(), count_}; }

 private:
  static_assert(std::is_trivially_destructible_v<T>);
  alignas(T) std::byte bytes_[capacity * sizeof(T)];
  std::size_t count_ = 0;
};

}  // namespace crisol::ops
