#include "autograd/autocast.h"
#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/vision.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/storage.h"

namespace crisol {

namespace {

constexpr const char* op = "deform_conv2d";

/// The positions that windows read along an axis, without offsets. The shape is (1, taps, count, 1) or (1, taps, 1,
/// count). `tap` gives the position of a kernel's element along the axis.
template <class Tap>
Tensor window_places(std::int64_t taps, std::int64_t count, int stride, int padding, int dilation, Tap tap,
                     const Shape& shape, Device device) {
  std::vector<std::int64_t> places;
  for (std::int64_t k = 0; k < taps; ++k)
    for (std::int64_t i = 0; i < count; ++i) places.push_back(i * stride - padding + tap(k) * dilation);
  return from_vector(places, shape, DType::f32, device);
}

}  // namespace

Tensor deform_conv2d(const Tensor& x, const Tensor& offset, const Tensor& weight, const Tensor& bias,
                     const Tensor& mask, const Conv2dOptions& options) {
  if (const autograd::Autocasts casts(op); casts)
    return deform_conv2d(casts(x), casts(offset), casts(weight), casts(bias), casts(mask), options);
  require(x.defined() && offset.defined() && weight.defined(), op, "a tensor is undefined");
  ops::require_floating(op, "the input", x);
  ops::require_dtype(op, "the weight", weight, x.dtype());
  ops::require_device(op, "the input", x, "the weight", weight);
  const ops::Conv2dSizes s = ops::conv2d_sizes(op, x.shape(), weight.shape(), options);
  const std::int64_t taps = s.taps(), pixels = s.pixels();
  require(offset.dim() == 4 && offset.size(1) > 0 && offset.size(1) % (2 * taps) == 0, op, "the offset has shape ",
          offset.shape(), ", it must have two channels for each of the ", taps, " elements of the kernel");
  const std::int64_t parts = offset.size(1) / (2 * taps);
  ops::require_operand(op, "the input", x, "the offset", offset, {s.images, 2 * parts * taps, s.out_h, s.out_w},
                       x.dtype());
  require(s.channels % parts == 0, op, s.channels, " channels cannot be divided into ", parts, " groups of offsets");
  if (mask.defined())
    ops::require_operand(op, "the input", x, "the mask", mask, {s.images, parts * taps, s.out_h, s.out_w}, x.dtype());
  if (bias.defined()) ops::require_operand(op, "the input", x, "the bias", bias, {s.outputs}, x.dtype());

  const Tensor moves =
      offset.to(promote_types(x.dtype(), DType::f32)).reshape({s.images * parts, taps, 2, s.out_h, s.out_w});
  const Tensor rows = window_places(
      taps, s.out_h, options.stride.h, options.padding.h, options.dilation.h,
      [&](std::int64_t k) { return k / s.kernel_w; }, {1, taps, s.out_h, 1}, x.device());
  const Tensor columns = window_places(
      taps, s.out_w, options.stride.w, options.padding.w, options.dilation.w,
      [&](std::int64_t k) { return k % s.kernel_w; }, {1, taps, 1, s.out_w}, x.device());
  const Tensor grid = stack({moves.select(2, 1) + columns, moves.select(2, 0) + rows}, -1)
                          .reshape({s.images * parts, taps * s.out_h, s.out_w, 2});
  Tensor read =
      grid_sample(x.reshape({s.images * parts, s.channels / parts, s.height, s.width}), grid, {.in_elements = true})
          .reshape({s.images * parts, s.channels / parts, taps, pixels});
  if (mask.defined()) read = read * mask.reshape({s.images * parts, 1, taps, pixels});
  const Tensor y = matmul(weight.reshape({1, s.groups, s.group_outputs(), s.depth()}),
                          read.reshape({s.images, s.groups, s.depth(), pixels}))
                       .reshape(s.output_shape());
  return bias.defined() ? y + bias.reshape({s.outputs, 1, 1}) : y;
}

}  // namespace crisol
