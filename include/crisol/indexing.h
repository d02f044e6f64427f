// What stands between the brackets of x[…]: positions, slices, new axes and tensors of positions.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "crisol/export.h"

namespace crisol {

class Tensor;

/// Elements start, start + step, … before stop, as Python's start:stop:step. Missing bounds mean the whole axis:
/// `Slice()`, `Slice(2)` (from 2 on), `Slice({}, 5)` (the first 5), `Slice({}, {}, -1)` (backwards). Negative bounds
/// count from the end. Bounds outside the axis are moved to its ends. The step must not be 0.
struct Slice {
  Slice(std::optional<std::int64_t> first = {}, std::optional<std::int64_t> behind_last = {}, std::int64_t by = 1)
      : start(first), stop(behind_last), step(by) {}

  std::optional<std::int64_t> start;  ///< The first element.
  std::optional<std::int64_t> stop;   ///< The first element that is left out.
  std::int64_t step;                  ///< The distance between elements; negative: backwards.
};

/// The types of Ellipsis and NewAxis.
enum class AxisMark : std::uint8_t { ellipsis, new_axis };

/// As many whole axes as the other entries leave: x[{Ellipsis, 0}] is x[:, :, 0] for rank 3. At most one.
inline constexpr AxisMark Ellipsis = AxisMark::ellipsis;
/// An axis of size 1 in this place.
inline constexpr AxisMark NewAxis = AxisMark::new_axis;

/// One entry of x[{…}]. Lives no longer than the call.
class TensorIndex {
 public:
  /// What an entry can be.
  enum class Kind : std::uint8_t { position, slice, ellipsis, new_axis, positions };

  /// The element at a position, which counts from the end if it is negative. The axis disappears.
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int> && !std::is_same_v<Int, bool>>>
  TensorIndex(Int position) noexcept : kind_(Kind::position), position_(static_cast<std::int64_t>(position)) {}
  /// A part of the axis.
  TensorIndex(const Slice& slice) noexcept : kind_(Kind::slice), slice_(slice) {}
  /// Ellipsis or NewAxis.
  TensorIndex(AxisMark mark) noexcept : kind_(mark == Ellipsis ? Kind::ellipsis : Kind::new_axis) {}
  /// The elements at these positions (u8, i32 or i64, which count from 0). The axes of `positions` replace the axis.
  TensorIndex(const Tensor& positions) noexcept : kind_(Kind::positions), positions_(&positions) {}

  Kind kind() const noexcept { return kind_; }                     ///< What the entry is.
  std::int64_t position() const noexcept { return position_; }     ///< Of Kind::position.
  const Slice& slice() const noexcept { return slice_; }           ///< Of Kind::slice; else the whole axis.
  const Tensor* positions() const noexcept { return positions_; }  ///< Of Kind::positions; else nullptr.

 private:
  Kind kind_;
  std::int64_t position_ = 0;
  Slice slice_;
  const Tensor* positions_ = nullptr;
};

}  // namespace crisol
