// How many windows fit along an axis: shared by convolution and pooling.
#pragma once

#include <cstdint>

#include "crisol/options/int_pair.h"
#include "crisol/options/int_triple.h"
#include "crisol/options/pad.h"

namespace crisol::ops {

/// One axis of a sliding window. Window o covers the positions o * stride - padding + i * dilation, i < kernel.
struct WindowAxis {
  std::int64_t size;  ///< The size of the input along this axis.
  int kernel;
  int stride = 1;
  int padding = 0;
  int dilation = 1;
};

/// The number of windows: floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1. `ceil_mode` rounds up
/// instead. Then a last window does not count if it would begin in the padding after the input (PyTorch's rule). Throws
/// invalid_argument for a kernel, stride or dilation below 1, for a negative padding, and for a window that does not
/// fit in the padded input. The error names `op` and `axis_name` ("depth", "height", "width").
std::int64_t window_count(const char* op, const char* axis_name, const WindowAxis& axis, bool ceil_mode = false);

/// The smallest padding that gives ceil(size / stride) windows along an axis: ONNX's auto_pad SAME_UPPER, or SAME_LOWER
/// with `more_before`. If the padding is odd, the end after the input gets one more, or with `more_before` the end
/// before it.
AxisPadding same_padding(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                         bool more_before);

}  // namespace crisol::ops
