#include <cmath>

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/vision.h"
#include "functions/traced/traced.h"
#include "functions/vision/resample.h"
#include "ops/numbers.h"

namespace crisol {

namespace {

constexpr const char* interpolate_op = "interpolate";

/// The entry for this axis of a list. The list has one entry for each axis after the channels, or one entry for all
/// axes.
template <class List>
auto entry_of(const List& list, int axis) {
  return *(list.begin() + (list.end() - list.begin() == 1 ? 0 : axis));
}

/// Resizes one axis to the size, or by the factor, that the options have for it.
ResampledAxis resampled(const Shape& x, int axis, const InterpolateOptions& options) {
  const std::int64_t size = x[2 + axis];
  const bool by_size = !options.size.empty();
  const double factor = by_size ? 0 : entry_of(options.scale_factor, axis);
  require(by_size || (factor > 0 && factor * static_cast<double>(size) < 0x1p31), interpolate_op, "scale_factor is ",
          factor);
  const std::int64_t count = by_size ? entry_of(options.size, axis)
                                     : static_cast<std::int64_t>(std::floor(factor * static_cast<double>(size)));
  require(size > 0 && count > 0 && size < (std::int64_t{1} << 31) && count < (std::int64_t{1} << 31), interpolate_op,
          "an axis of size ", size, " would get size ", count);
  const double n = static_cast<double>(size), scale = by_size ? static_cast<double>(count) / n : factor;
  if (options.mode == InterpolateMode::nearest || options.mode == InterpolateMode::nearest_exact) {
    const double shift = options.mode == InterpolateMode::nearest ? 0 : 0.5;
    return {2 + axis, pick_weights(size, count, [&](std::int64_t j) {
              return std::floor((static_cast<double>(j) + shift) / scale);
            })};
  }
  const ResampleFilter filter{.is_cubic = options.mode == InterpolateMode::cubic,
                              .a = options.antialias ? -0.5 : -0.75,
                              .stretch = options.antialias && scale < 1 ? scale : 1,
                              .exclude_outside = options.antialias};
  if (options.align_corners) {
    const double step = count > 1 ? (n - 1) / static_cast<double>(count - 1) : 0;
    return {2 + axis, filter_weights(
                          size, count, [&](std::int64_t j) { return static_cast<double>(j) * step; }, filter)};
  }
  return {2 + axis,
          filter_weights(
              size, count, [&](std::int64_t j) { return (static_cast<double>(j) + 0.5) / scale - 0.5; }, filter)};
}

}  // namespace

namespace {

/// Whether f32 holds all whole numbers of a type, and means of them to several bits after the point.
bool is_short(DType dtype) { return is_whole(dtype) && dtype_row(dtype).digits <= 16; }

/// Rounds to whole numbers of a type, halves up as PyTorch does. Cubic curves may leave the range of the type.
Tensor rounded(const Tensor& y, DType dtype) {
  return clamp(floor(y + 0.5), ops::lowest_of(dtype), ops::highest_of(dtype)).to(dtype);
}

}  // namespace

std::vector<ResampledAxis> interpolated_axes(const Shape& x, const InterpolateOptions& options) {
  std::vector<ResampledAxis> axes;
  axes.reserve(static_cast<std::size_t>(x.rank() - 2));
  for (int axis = 0; axis < x.rank() - 2; ++axis) axes.push_back(resampled(x, axis, options));
  return axes;
}

Tensor interpolate(const Tensor& x, const InterpolateOptions& options) {
  if (const autograd::Autocasts casts("interpolate"); casts) return interpolate(casts(x), options);
  require(x.defined(), interpolate_op, "the input is undefined");
  require(x.dim() >= 3, interpolate_op, "the input has shape ", x.shape(), ", (N, C, …) expected");
  const auto axes = static_cast<std::size_t>(x.dim() - 2), sizes = static_cast<std::size_t>(options.size.rank()),
             factors = options.scale_factor.size();
  require((sizes > 0) != (factors > 0), interpolate_op, "either size or scale_factor must be given; they have ", sizes,
          " and ", factors, " numbers");
  require(sizes + factors == 1 || sizes + factors == axes, interpolate_op, sizes + factors, " numbers for ", axes,
          " axes after the channels");
  const bool picks = options.mode == InterpolateMode::nearest || options.mode == InterpolateMode::nearest_exact;
  require(!picks || (!options.align_corners && !options.antialias), interpolate_op,
          "align_corners and antialias are not for the nearest modes");
  require(!options.align_corners || !options.antialias, interpolate_op,
          "align_corners and antialias exclude each other");
  const auto compute = [&] { return resample_axes(interpolate_op, x, interpolated_axes(x.shape(), options)); };
  if (!picks && is_short(x.dtype())) return rounded(interpolate(x.to(DType::f32), options), x.dtype());
  if (picks) return compute();  // Elements are only repeated and picked, for which graphs have ops.
  return autograd::noted_as_one(compute,
                                [&](Trace& trace, const Tensor& y) { traced::interpolate(trace, x, options, y); });
}

Tensor pixel_shuffle(const Tensor& x, std::int64_t factor) {
  constexpr const char* name = "pixel_shuffle";
  require(x.defined() && x.dim() >= 3, name, "the input must have axes (…, C, H, W)");
  require(factor > 0 && factor < (1 << 15) && x.size(-3) % (factor * factor) == 0, name, x.size(-3),
          " channels cannot be divided into squares of side ", factor);
  const Shape& leading = x.shape();
  Shape shape;
  for (int i = 0; i < x.dim() - 3; ++i) shape.push_back(leading[i]);
  const std::int64_t c = x.size(-3) / (factor * factor), h = x.size(-2), w = x.size(-1);
  // All axes before the channels become one axis.
  const Tensor squares =
      x.reshape({x.numel() / std::max<std::int64_t>(x.size(-3) * h * w, 1), c, factor, factor, h, w});
  for (const std::int64_t size : {c, h * factor, w * factor}) shape.push_back(size);
  return squares.permute({0, 1, 4, 2, 5, 3}).reshape(shape);
}

Tensor pixel_unshuffle(const Tensor& x, std::int64_t factor) {
  constexpr const char* name = "pixel_unshuffle";
  require(x.defined() && x.dim() >= 3, name, "the input must have axes (…, C, H, W)");
  require(factor > 0 && x.size(-2) % factor == 0 && x.size(-1) % factor == 0, name, "an image of shape ", x.shape(),
          " cannot be divided into squares of side ", factor);
  Shape shape;
  for (int i = 0; i < x.dim() - 3; ++i) shape.push_back(x.size(i));
  const std::int64_t c = x.size(-3), h = x.size(-2) / factor, w = x.size(-1) / factor;
  const Tensor squares =
      x.reshape({x.numel() / std::max<std::int64_t>(c * x.size(-2) * x.size(-1), 1), c, h, factor, w, factor});
  for (const std::int64_t size : {c * factor * factor, h, w}) shape.push_back(size);
  return squares.permute({0, 1, 3, 5, 2, 4}).reshape(shape);
}

}  // namespace crisol
