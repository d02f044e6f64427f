// Sizes of a tensor, outermost first, without allocation.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <vector>

#include "crisol/export.h"

namespace crisol {

/// Up to 8 sizes (or strides, or axes), outermost first. Rank 0 is a scalar with one element.
class CRISOL_API Shape {
 public:
  static constexpr int max_rank = 8;  ///< Axes that a shape can have.

  Shape() = default;
  /// Throws invalid_argument above max_rank. Sizes may be 0 (empty tensors); whoever uses a Shape as sizes
  /// refuses negative ones, because the same type carries strides and axes too.
  Shape(std::initializer_list<std::int64_t> sizes) : Shape(sizes.begin(), sizes.size()) {}
  /// One size, or one axis: zeros(5), sum(x, -1).
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int> && !std::is_same_v<Int, bool>>>
  Shape(Int size) : Shape({static_cast<std::int64_t>(size)}) {}
  Shape(const std::vector<std::int64_t>& sizes) : Shape(sizes.data(), sizes.size()) {}
  Shape(const std::int64_t* sizes, std::size_t count);
  /// `count` times the same value.
  static Shape filled(int count, std::int64_t value);

  /// Number of axes.
  int rank() const noexcept { return rank_; }
  /// Rank 0: a scalar's shape.
  bool empty() const noexcept { return rank_ == 0; }
  /// Product of the sizes: elements of a tensor of this shape; 1 for rank 0.
  std::int64_t numel() const noexcept;

  /// The size of an axis, which must exist and counts from 0.
  std::int64_t operator[](int axis) const noexcept { return sizes_[static_cast<std::size_t>(axis)]; }
  /// The same, to be changed.
  std::int64_t& operator[](int axis) noexcept { return sizes_[static_cast<std::size_t>(axis)]; }
  /// The innermost size; there must be one.
  std::int64_t back() const noexcept { return (*this)[rank_ - 1]; }
  /// The outermost size.
  const std::int64_t* begin() const noexcept { return sizes_.data(); }
  /// Behind the innermost size.
  const std::int64_t* end() const noexcept { return sizes_.data() + rank_; }

  /// Appends an innermost size; throws invalid_argument above max_rank.
  void push_back(std::int64_t size);
  /// Removes an axis; the axis must exist.
  void erase(int axis) noexcept;
  /// Inserts a size before an axis (rank() appends); throws invalid_argument above max_rank.
  void insert(int axis, std::int64_t size);

  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  friend bool operator!=(const Shape& a, const Shape& b) noexcept { return !(a == b); }

 private:
  std::array<std::int64_t, max_rank> sizes_{};
  int rank_ = 0;
};

/// "(2, 3, 4)".
CRISOL_API std::ostream& operator<<(std::ostream& out, const Shape& shape);
/// "(2, 3, 4)".
CRISOL_API std::string to_string(const Shape& shape);

}  // namespace crisol
