// The products that a convolution and the gradient of its input consist of.
#include <numeric>

#include "ops/conv/conv2d_products.h"
#include "ops/product/indices.h"

namespace crisol::ops {

namespace {

/// Positions first, first + stride, … of x along one axis. These positions see the same taps of the kernel: every
/// `tap_step`-th from `first_tap` on. At tap number t, a position sees output = position / stride + start + t * step,
/// so neighbouring positions see neighbouring outputs. So each pair of a row phase and a column phase is a convolution
/// of dy with stride 1.
struct Phase {
  std::int64_t first, positions;     ///< Of x.
  std::int32_t first_tap, tap_step;  ///< Which taps of the kernel.
  std::int32_t taps;                 ///< Number of taps.
  std::int32_t start, step;          ///< In outputs.
};

/// One axis of a convolution.
struct Axis {
  std::int64_t size, kernel, stride, padding, dilation;

  std::int64_t phases() const noexcept { return std::min(stride, size); }
  Phase phase(std::int64_t first) const;
};

Phase Axis::phase(std::int64_t first) const {
  const std::int64_t common = std::gcd(dilation, stride);
  Phase phase{first, (size - first + stride - 1) / stride,         0, static_cast<std::int32_t>(stride / common), 0,
              0,     static_cast<std::int32_t>(-dilation / common)};
  for (std::int64_t tap = 0; tap < std::min(kernel, stride); ++tap) {
    const std::int64_t at = first + padding - tap * dilation;
    if (at % stride != 0) continue;
    phase.first_tap = static_cast<std::int32_t>(tap);
    phase.taps = static_cast<std::int32_t>((kernel - 1 - tap) / phase.tap_step + 1);
    phase.start = static_cast<std::int32_t>(at / stride);
    break;
  }
  return phase;
}

GatheredProduct phase_product(const Conv2dSizes& s, const Phase& h, const Phase& w) {
  const std::int64_t m = s.group_channels();
  return {.groups = s.groups,
          .m = m,
          .images = s.images,
          .rows = h.positions,
          .columns = w.positions,
          .channels = s.group_outputs(),
          .taps_h = h.taps,
          .taps_w = w.taps,
          .weight_strides = {s.group_outputs() * s.depth(), s.taps(), s.depth(), h.tap_step * s.kernel_w, w.tap_step},
          .height = s.out_h,
          .width = s.out_w,
          .src_image = s.output_image(),
          .src_group = s.group_outputs() * s.pixels(),
          .src_channel = s.pixels(),
          .step_h = 1,
          .step_w = 1,
          .start_h = h.start,
          .start_w = w.start,
          .tap_h = h.step,
          .tap_w = w.step,
          .c_image = s.input_image(),
          .c_group = m * s.plane(),
          .c_row = s.plane(),
          .c_h = s.stride_h * s.width,
          .c_w = s.stride_w,
          .weight_first = h.first_tap * s.kernel_w + w.first_tap,
          .c_first = h.first * s.width + w.first};
}

}  // namespace

bool GatheredProduct::is_packed() const noexcept {
  const std::array<std::int64_t, 5> packed{m * depth(), depth(), taps(), taps_w, 1};
  const bool in_order = channel_vector() == 1 || taps() == 1;
  return in_order && depth() == packed_depth() && weight_strides == packed;
}

kernels::ColumnParameters GatheredProduct::places() const noexcept {
  return {c_image, number(pixels()), number(columns), number(c_h), number(c_w)};
}

kernels::WindowParameters GatheredProduct::window() const noexcept {
  return {.depth = 1,
          .height = number(height),
          .width = number(width),
          .taps_d = 1,
          .taps_h = taps_h,
          .taps_w = taps_w,
          .step_d = 1,
          .step_h = step_h,
          .step_w = step_w,
          .start_d = 0,
          .start_h = start_h,
          .start_w = start_w,
          .tap_d = 1,
          .tap_h = tap_h,
          .tap_w = tap_w,
          .unused = 0};
}

GatheredProduct forward_product(const Conv2dSizes& s) {
  return {.groups = s.groups,
          .m = s.group_outputs(),
          .images = s.images,
          .rows = s.out_h,
          .columns = s.out_w,
          .channels = s.group_channels(),
          .taps_h = number(s.kernel_h),
          .taps_w = number(s.kernel_w),
          .weight_strides = {s.group_outputs() * s.depth(), s.depth(), s.taps(), s.kernel_w, 1},
          .height = s.height,
          .width = s.width,
          .src_image = s.input_image(),
          .src_group = s.group_channels() * s.plane(),
          .src_channel = s.plane(),
          .step_h = number(s.stride_h),
          .step_w = number(s.stride_w),
          .start_h = number(-s.pad_h),
          .start_w = number(-s.pad_w),
          .tap_h = number(s.dilation_h),
          .tap_w = number(s.dilation_w),
          .c_image = s.output_image(),
          .c_group = s.group_outputs() * s.pixels(),
          .c_row = s.pixels(),
          .c_h = s.out_w,
          .c_w = 1};
}

std::vector<GatheredProduct> phase_products(const Conv2dSizes& s) {
  const Axis rows{s.height, s.kernel_h, s.stride_h, s.pad_h, s.dilation_h};
  const Axis columns{s.width, s.kernel_w, s.stride_w, s.pad_w, s.dilation_w};
  std::vector<GatheredProduct> products;
  for (std::int64_t h = 0; h < rows.phases(); ++h)
    for (std::int64_t w = 0; w < columns.phases(); ++w)
      products.push_back(phase_product(s, rows.phase(h), columns.phase(w)));
  return products;
}

PartsSum sum_of_parts(const Conv2dProblem& problem, const GatheredProduct& p, dispatch::Place parts, dispatch::Place c,
                      dispatch::Place bias, int split_k, const EpilogueArgs& args) {
  return {.parts = parts,
          .c = c,
          .bias = bias,
          .m = p.m,
          .n = p.n(),
          .batch = p.groups,
          .c_batch = p.c_group,
          .c_row = p.c_row,
          .c_column = 1,
          .c_type = problem.type,
          .split_k = split_k,
          .bias_batch = number(p.m),
          .flags = problem.flags(),
          .epilogue = problem.epilogue,
          .args = args,
          .columns = p.places()};
}

}  // namespace crisol::ops
