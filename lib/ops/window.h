// How many windows fit along an axis: shared by convolution and pooling.
#pragma once

#include <cstdint>

#include "crisol/options/int_pair.h"
#include "crisol/options/int_triple.h"
#include "crisol/options/pad.h"

namespace crisol::ops {

/// One axis of a sliding window. Window o covers the positions o * stride - padding + i * dilation, i < kernel.
struct WindowAxis {
  std::int64_t size;  ///< Of the input along this axis.
  int kernel;
  int stride = 1;
  int padding = 0;
  int dilation = 1;
};

/// floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1 windows; with `ceil_mode` rounded up instead, but
/// without a last window that would begin in the padding behind the input (PyTorch's rule). Refuses, naming `op`, a
/// kernel, stride or dilation below 1, a negative padding, and a window that does not fit in the padded input.
/// `axis_name` ("depth", "height", "width") goes into the error.
std::int64_t window_count(const char* op, const char* axis_name, const WindowAxis& axis, bool ceil_mode = false);

/// The least padding for ceil(size / stride) windows along an axis: ONNX's auto_pad SAME_UPPER, and SAME_LOWER with
/// `more_before`. An odd padding is larger by one behind the input, or before it.
AxisPadding same_padding(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                         bool more_before);

}  // namespace crisol::ops
