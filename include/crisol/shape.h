// The sizes of a tensor, outermost axis first. A Shape allocates no memory.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <vector>

#include "crisol/export.h"

namespace crisol {

/// Up to 25 sizes (or strides, or axes), outermost first. Rank 0 is a scalar with one element.
class CRISOL_API Shape {
 public:
  /// The largest number of axes. Views, copies and elementwise ops take so many. Other ops merge axes, and refuse a
  /// tensor of which more than 8 remain.
  static constexpr int max_rank = 25;

  Shape() noexcept {
    for (int i = 0; i < usual_rank; ++i) sizes_[i] = 0;
  }
  Shape(const Shape& other) noexcept { *this = other; }
  Shape& operator=(const Shape& other) noexcept {  // NOLINT(bugprone-unhandled-self-assignment)
    rank_ = other.rank_;
    for (int i = 0; i < usual_rank; ++i) sizes_[i] = other.sizes_[i];
    for (int i = usual_rank; i < rank_; ++i) sizes_[i] = other.sizes_[i];
    return *this;
  }
  /// Throws invalid_argument for more than max_rank sizes. A size may be 0 (an empty tensor). Negative values are
  /// accepted here, because a Shape may hold strides or axes. Functions that take sizes refuse negative values.
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
  /// Whether the rank is 0: the shape of a scalar.
  bool empty() const noexcept { return rank_ == 0; }
  /// The number of elements: the product of the sizes, and 1 for rank 0.
  std::int64_t numel() const noexcept;

  /// The size of an axis. The axis must exist and counts from 0.
  std::int64_t operator[](int axis) const noexcept { return sizes_[axis]; }
  /// The same, for changes.
  std::int64_t& operator[](int axis) noexcept { return sizes_[axis]; }
  /// The innermost size. The rank must be at least 1.
  std::int64_t back() const noexcept { return (*this)[rank_ - 1]; }
  /// Iterates over the sizes, from the outermost.
  const std::int64_t* begin() const noexcept { return sizes_; }
  /// The end, after the innermost size.
  const std::int64_t* end() const noexcept { return sizes_ + rank_; }

  /// Adds a size at the end, as the innermost. Throws invalid_argument for more than max_rank sizes.
  void push_back(std::int64_t size);
  /// Removes an axis, which must exist.
  void erase(int axis) noexcept;
  /// Inserts a size before an axis. The axis rank() adds it at the end. Throws invalid_argument for more than max_rank
  /// sizes.
  void insert(int axis, std::int64_t size);

  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  friend bool operator!=(const Shape& a, const Shape& b) noexcept { return !(a == b); }

 private:
  // Copying so many sizes takes less time than asking how many there are. The others are set only where they are used.
  static constexpr int usual_rank = 8;

  std::int64_t sizes_[max_rank];
  int rank_ = 0;
};

/// "(2, 3, 4)".
CRISOL_API std::ostream& operator<<(std::ostream& out, const Shape& shape);
/// "(2, 3, 4)".
CRISOL_API std::string to_string(const Shape& shape);

}  // namespace crisol
