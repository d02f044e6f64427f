// The entries between the brackets of x[…]: positions, slices, new axes, tensors of positions and masks.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "crisol/export.h"

namespace crisol {

class Tensor;

/// Elements start, start + step, … before stop, like Python's start:stop:step. A missing bound means the end of the
/// axis: `Slice()` is the whole axis, `Slice(2)` starts at 2, `Slice({}, 5)` is the first 5 elements, and `Slice({},
/// {}, -1)` goes backwards. Negative bounds count from the end. Bounds outside the axis are moved to its ends. The step
/// must not be 0.
struct Slice {
  Slice(std::optional<std::int64_t> first = {}, std::optional<std::int64_t> behind_last = {}, std::int64_t by = 1)
      : start(first), stop(behind_last), step(by) {}

  std::optional<std::int64_t> start;  ///< The first element.
  std::optional<std::int64_t> stop;   ///< The first element that is left out.
  std::int64_t step;                  ///< The distance between elements. A negative step goes backwards.
};

/// The types of Ellipsis and NewAxis.
enum class AxisMark : std::uint8_t { ellipsis, new_axis };

/// All axes without another entry: x[{Ellipsis, 0}] is PyTorch's x[:, :, 0] for rank 3. At most one Ellipsis is
/// allowed.
inline constexpr AxisMark Ellipsis = AxisMark::ellipsis;
/// A new axis of size 1.
inline constexpr AxisMark NewAxis = AxisMark::new_axis;

/// One entry of x[{…}]. It is valid only during the call.
class TensorIndex {
 public:
  /// The kinds of entries.
  enum class Kind : std::uint8_t { position, slice, ellipsis, new_axis, positions };

  /// The element at a position. A negative position counts from the end. The result lacks the axis.
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int> && !std::is_same_v<Int, bool>>>
  TensorIndex(Int position) noexcept : kind_(Kind::position), position_(static_cast<std::int64_t>(position)) {}
  /// A part of the axis.
  TensorIndex(const Slice& slice) noexcept : kind_(Kind::slice), slice_(slice) {}
  /// Ellipsis or NewAxis.
  TensorIndex(AxisMark mark) noexcept : kind_(mark == Ellipsis ? Kind::ellipsis : Kind::new_axis) {}
  /// The elements at these positions: whole numbers, and negative ones count from the end. The axes of `positions`
  /// replace the axis. A mask (bool) stands for the positions of its true elements, and takes as many axes as it has.
  /// Several such tensors broadcast: see index_get in crisol/functions/index.h.
  TensorIndex(const Tensor& positions) noexcept : kind_(Kind::positions), positions_(&positions) {}

  Kind kind() const noexcept { return kind_; }                  ///< The kind of the entry.
  std::int64_t position() const noexcept { return position_; }  ///< The position, for Kind::position.
  const Slice& slice() const noexcept { return slice_; }  ///< The slice, for Kind::slice; otherwise the whole axis.
  const Tensor* positions() const noexcept { return positions_; }  ///< The tensor, for Kind::positions, or nullptr.

 private:
  Kind kind_;
  std::int64_t position_ = 0;
  Slice slice_;
  const Tensor* positions_ = nullptr;
};

}  // namespace crisol
