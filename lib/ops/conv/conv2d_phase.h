// The gradient of a convolution's input as convolutions of stride 1, one for each remainder of a position by the
// stride.
#pragma once

#include <cstdint>

namespace crisol::ops {

/// Positions first, first + stride, … of x along one axis. They see the same kernel taps, at distance `tap_step` from
/// the first that they see, and neighbours among them see neighbouring outputs: output = position / stride + start + t
/// * step for tap number t. So each pair of phases is a convolution of dy with stride 1.
struct Phase {
  std::int64_t positions;            ///< How many of x.
  std::int32_t first_tap, tap_step;  ///< Of the kernel.
  std::int32_t taps;                 ///< How many of the kernel.
  std::int32_t start, step;          ///< In outputs.
};

/// That of the positions first, first + stride, … of an axis of `size`.
Phase phase_of(int first, std::int64_t size, std::int64_t kernel, int stride, int padding, int dilation);

}  // namespace crisol::ops
