#include "ops/pool/pool_geometry.h"

namespace crisol::ops {

namespace {

// Whether the window has an element of the input. With dilation, all taps of a window may miss a small input.
bool has_element(const WindowAxis& axis, std::int64_t window) {
  const std::int64_t start = window * axis.stride - axis.padding;
  const std::int64_t first = start < 0 ? start + (-start + axis.dilation - 1) / axis.dilation * axis.dilation : start;
  return first < axis.size && first <= start + std::int64_t{axis.dilation} * (axis.kernel - 1);
}

}  // namespace

std::int64_t pool_count(const char* op, const char* axis_name, const WindowAxis& axis, bool ceil_mode) {
  require(std::int64_t{axis.padding} * 2 <= axis.kernel, op, "the padding's ", axis_name, " is ", axis.padding,
          ", it must be at most half of the kernel's, ", axis.kernel);
  const std::int64_t count = window_count(op, axis_name, axis, ceil_mode);
  if (axis.dilation > 1)
    for (std::int64_t window = 0; window < count; ++window)
      require(has_element(axis, window), op, "window ", window, " along the ", axis_name,
              " has all its taps in the padding: size ", axis.size, ", kernel ", axis.kernel, ", padding ",
              axis.padding, ", dilation ", axis.dilation);
  return count;
}

dispatch::ProblemKey PoolGeometry::key() const {
  const dispatch::ProblemKey key{{"planes", planes},     {"h", height},    {"w", width},     {"out_h", out_h},
                                 {"out_w", out_w},       {"r", kernel_h},  {"s", kernel_w},  {"stride_h", stride_h},
                                 {"stride_w", stride_w}, {"pad_h", pad_h}, {"pad_w", pad_w}, {"dil_h", dilation_h},
                                 {"dil_w", dilation_w}};
  return key.with_types(types());
}

kernels::PoolWindow PoolGeometry::kernel_window() const {
  using kernels::number;
  return {number(height),   number(width),    number(out_h), number(out_w), number(kernel_h),   number(kernel_w),
          number(stride_h), number(stride_w), number(pad_h), number(pad_w), number(dilation_h), number(dilation_w)};
}

PoolGeometry pool_geometry(const char* op, const Shape& shape, IntPair kernel, IntPair stride, IntPair padding,
                           IntPair dilation, bool ceil_mode) {
  require_images(op, shape);
  const IntPair step = stride == IntPair(0) ? kernel : stride;
  const WindowAxis rows{shape[2], kernel.h, step.h, padding.h, dilation.h};
  const WindowAxis columns{shape[3], kernel.w, step.w, padding.w, dilation.w};
  return {shape[0] * shape[1],
          shape[2],
          shape[3],
          pool_count(op, "height", rows, ceil_mode),
          pool_count(op, "width", columns, ceil_mode),
          kernel.h,
          kernel.w,
          step.h,
          step.w,
          padding.h,
          padding.w,
          dilation.h,
          dilation.w};
}

}  // namespace crisol::ops
