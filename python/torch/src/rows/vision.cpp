// Resampling of images, and pools of volumes.
#include "crisol/functions/vision.h"

#include <algorithm>

#include "call.h"
#include "crisol/functions/pool.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::InterpolateMode;
using crisol::InterpolateOptions;
using crisol::IntTriple;
using crisol::Shape;
using crisol::Tensor;

// ---- Resizing

// (size, align_corners if `aligns`, a factor for each axis) from argument 1 on.
InterpolateOptions resize_options(const Call& c, InterpolateMode mode, bool antialias, std::size_t factors) {
  const bool aligns = mode == InterpolateMode::linear || mode == InterpolateMode::cubic;
  InterpolateOptions options{.mode = mode, .align_corners = aligns && c.flag(factors - 1), .antialias = antialias};
  const std::size_t axes = c.wholes(1).size();
  for (std::size_t i = 0; i < axes; ++i)
    if (!c.is_none(factors + i)) options.scale_factor.push_back(c.number(factors + i));
  if (options.scale_factor.size() == axes) return options;
  need(options.scale_factor.empty(), "factors of some axes");
  options.size = c.shape(1);
  return options;
}

// NAME.out(x, size, …, out)
Run resize(InterpolateMode mode, bool antialias = false) {
  return into([=](const Call& c, const Tensor& out) {
    const std::size_t factors = c.size() - 1 - c.wholes(1).size();
    const Tensor y = crisol::interpolate(c.tensor(0), resize_options(c, mode, antialias, factors));
    need(y.shape() == out.shape(), "a size that differs from the factors");
    ops::copy_into(out, y);
  });
}

// NAME.grad_input(dy, size, input size, …, dx). The function is linear, so the input does not matter.
Run resize_backward(InterpolateMode mode, bool antialias = false) {
  return into([=](const Call& c, const Tensor& dx) {
    const std::size_t factors = c.size() - 1 - c.wholes(1).size();
    const InterpolateOptions options = resize_options(c, mode, antialias, factors);
    const Tensor dy = c.tensor(0), x = ops::expand(crisol::zeros({}, dy.dtype(), dy.device()), c.shape(2));
    const auto f = [&](const std::vector<Tensor>& inputs) { return crisol::interpolate(inputs[0], options); };
    ops::copy_into(dx, gradients(f, {x}, dy)[0]);
  });
}

crisol::GridSampleOptions grid_options(const Call& c, std::size_t first) {
  constexpr std::array modes{crisol::GridSampleMode::bilinear, crisol::GridSampleMode::nearest,
                             crisol::GridSampleMode::bicubic};
  constexpr std::array paddings{crisol::GridSamplePadding::zeros, crisol::GridSamplePadding::border,
                                crisol::GridSamplePadding::reflection};
  return {modes.at(static_cast<std::size_t>(c.whole(first))), paddings.at(static_cast<std::size_t>(c.whole(first + 1))),
          c.flag(first + 2)};
}

// (x, grid, mode, padding, align_corners)
Tensor grid_sample(const Call& c) { return ops::grid_sample(c.tensor(0), c.tensor(1), grid_options(c, 2)); }

// (dy, x, grid, mode, padding, align_corners, wanted)
Results grid_sample_backward(const Call& c) {
  const Tensor dy = c.tensor(0), x = c.tensor(1), grid = c.tensor(2);
  const crisol::GridSampleOptions options = grid_options(c, 3);
  const bool wants_x = c.value(6).toBoolList()[0];
  return {wrap_or_none(wants_x ? ops::grid_sample_backward(dy, grid, x.shape(), options) : Tensor()),
          wrap(ops::grid_sample_backward_grid(dy, x, grid, options))};
}

// ---- Adaptive maxima of images and volumes

// The positions of the bins of an axis. All bins get the size of the largest one, and repeat their last position.
std::vector<std::int64_t> bins_of(std::int64_t size, std::int64_t count) {
  const auto begin = [&](std::int64_t i) { return i * size / count; };
  const auto end = [&](std::int64_t i) { return ((i + 1) * size + count - 1) / count; };
  std::int64_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, end(i) - begin(i));
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = 0; k < largest; ++k) positions.push_back(std::min(begin(i) + k, end(i) - 1));
  return positions;
}

// (x, size, out, indices)
Results adaptive_max_pool(const Call& c) {
  const std::vector<std::int64_t> size = c.wholes(1);
  const Tensor given = c.tensor(0);
  const Tensor x = given.dim() == static_cast<int>(size.size()) + 1 ? ops::unsqueeze(given, 0) : given;
  need(x.numel() != 0 && std::all_of(size.begin(), size.end(), [](std::int64_t n) { return n > 0; }),
       "a pool without elements");
  const auto on_device = [&](const std::vector<std::int64_t>& list) {
    return crisol::from_vector(list, crisol::DType::i64, x.device());
  };
  Tensor spread = x;
  std::vector<std::int64_t> places{0};  // In x, for each element of a plane of `spread`.
  std::vector<int> kernel;
  for (std::size_t i = 0; i < size.size(); ++i) {
    const int axis = static_cast<int>(i) + 2;
    const std::vector<std::int64_t> positions = bins_of(x.size(axis), size[i]);
    spread = ops::index_select(spread, axis, on_device(positions));
    std::vector<std::int64_t> next;
    for (const std::int64_t place : places)
      for (const std::int64_t position : positions) next.push_back(place * x.size(axis) + position);
    places = std::move(next);
    kernel.push_back(static_cast<int>(positions.size()) / static_cast<int>(size[i]));
  }
  const crisol::ExtremeResult found =
      size.size() == 2 ? crisol::max_pool2d_with_indices(spread, {.kernel = {kernel[0], kernel[1]}})
                       : crisol::max_pool3d_with_indices(spread, {.kernel = {kernel[0], kernel[1], kernel[2]}});
  const Tensor indices = ops::index_select(on_device(places), 0, ops::reshape(found.indices, {-1}));
  const Tensor values_out = c.tensor(2), indices_out = c.tensor(3);
  ops::copy_into(values_out, ops::reshape(found.values, values_out.shape()));
  ops::copy_into(indices_out, ops::reshape(indices, indices_out.shape()));
  return {c.value(2), c.value(3)};
}

// (dy, x, indices, dx) of a pool over the last axes.
Run adaptive_max_pool_backward(int axes) {
  return into([axes](const Call& c, const Tensor& dx) {
    const Tensor dy = c.tensor(0), indices = c.tensor(2);
    need(dy.numel() != 0, "a pool without elements");
    std::int64_t plane = 1;
    for (int i = 1; i <= axes; ++i) plane *= dx.size(-i);
    const std::int64_t planes = dx.numel() / plane;
    const Tensor sums = ops::scatter_add(crisol::zeros({planes, plane}, dy.dtype(), dy.device()), 1,
                                         ops::reshape(indices, {planes, -1}), ops::reshape(dy, {planes, -1}));
    ops::copy_into(dx, ops::reshape(sums, dx.shape()));
  });
}

// (x, indices, size, …): the elements of a pool at their places, and zeros at all others.
Tensor unpooled(const Call& c) {
  const Tensor x = c.tensor(0), indices = c.tensor(1);
  const std::vector<std::int64_t> size = c.wholes(2);
  const int lead = x.dim() - static_cast<int>(size.size());
  need(lead > 0 && x.numel() != 0 && indices.shape() == x.shape(), "a pool without elements");
  std::vector<std::int64_t> sizes;
  std::int64_t planes = 1, plane = 1;
  for (int i = 0; i < lead; ++i) {
    sizes.push_back(x.size(i));
    planes *= x.size(i);
  }
  for (const std::int64_t n : size) {
    sizes.push_back(n);
    plane *= n;
  }
  const auto lists = [&](const Tensor& t) { return ops::reshape(t, {planes, -1}); };
  return ops::reshape(ops::scatter(crisol::zeros({planes, plane}, x.dtype(), x.device()), 1, lists(indices), lists(x)),
                      sizes);
}
Run unpooled_into() {
  return [](const Call& c) {
    const Tensor y = unpooled(c);
    c.torch(c.size() - 1).resize_(sizes_of(y.shape()));
    ops::copy_into(c.tensor(c.size() - 1), y);
    return Results{c.value(c.size() - 1)};
  };
}

// ---- Pools of volumes

IntTriple triple(const std::vector<std::int64_t>& sizes) {
  need(sizes.size() == 3 || sizes.size() == 1, "a list of sizes");
  const auto at = [&](std::size_t i) { return static_cast<int>(sizes[std::min(i, sizes.size() - 1)]); };
  return {at(0), at(1), at(2)};
}
IntTriple stride_or_kernel(const Call& c, std::size_t i) {
  return c.wholes(i).empty() ? IntTriple(0) : triple(c.wholes(i));
}

// A volume without a batch is a batch of one volume.
Tensor batched(const Tensor& x) { return x.dim() == 4 ? ops::unsqueeze(x, 0) : x; }
Tensor like_input(const Tensor& y, const Tensor& x) { return x.dim() == 4 ? ops::select(y, 0, 0) : y; }

// (kernel, stride, padding, dilation, ceil_mode) from an argument on.
crisol::MaxPool3dOptions max_options(const Call& c, std::size_t first) {
  return {triple(c.wholes(first)), stride_or_kernel(c, first + 1), triple(c.wholes(first + 2)),
          triple(c.wholes(first + 3)), c.flag(first + 4)};
}
// (kernel, stride, padding, ceil_mode, count_include_pad, divisor) from an argument on.
crisol::AvgPool3dOptions mean_options(const Call& c, std::size_t first) {
  return {triple(c.wholes(first)),     stride_or_kernel(c, first + 1),
          triple(c.wholes(first + 2)), c.flag(first + 3),
          c.flag(first + 4),           c.is_none(first + 5) ? 0 : static_cast<int>(c.whole(first + 5))};
}

Results max_pool(const Call& c) {
  const Tensor x = c.tensor(0);
  const crisol::ExtremeResult result = crisol::max_pool3d_with_indices(batched(x), max_options(c, 1));
  return {wrap(like_input(result.values, x)), wrap(like_input(result.indices, x))};
}

// The gradient of a pool f of x.
Tensor pool_gradient(const Tensor& dy, const Tensor& x, const std::function<Tensor(const Tensor&)>& f) {
  const auto of_list = [&](const std::vector<Tensor>& inputs) { return f(inputs[0]); };
  return like_input(gradients(of_list, {batched(x)}, batched(dy))[0], x);
}
// (dy, x, kernel, stride, padding, dilation, ceil_mode, indices)
Tensor max_pool_backward(const Call& c) {
  const auto options = max_options(c, 2);
  return pool_gradient(c.tensor(0), c.tensor(1), [&](const Tensor& x) { return crisol::max_pool3d(x, options); });
}
void avg_pool_backward(const Call& c, const Tensor& dx) {
  const auto options = mean_options(c, 2);
  ops::copy_into(
      dx, pool_gradient(c.tensor(0), c.tensor(1), [&](const Tensor& x) { return crisol::avg_pool3d(x, options); }));
}
Tensor adaptive_avg_pool(const Call& c) {
  const Tensor x = c.tensor(0);
  return like_input(crisol::adaptive_avg_pool3d(batched(x), triple(c.wholes(1))), x);
}
Tensor adaptive_avg_pool_backward(const Call& c) {
  const Tensor dy = c.tensor(0);
  const auto size = [&](int axis) { return static_cast<int>(dy.size(axis)); };
  return pool_gradient(dy, c.tensor(1), [&](const Tensor& x) {
    return crisol::adaptive_avg_pool3d(x, {size(-3), size(-2), size(-1)});
  });
}

}  // namespace

Rows vision_rows() {
  constexpr auto nearest = InterpolateMode::nearest, exact = InterpolateMode::nearest_exact,
                 linear = InterpolateMode::linear, cubic = InterpolateMode::cubic;
  return {
      {"upsample_nearest1d.out", resize(nearest)},
      {"upsample_nearest2d.out", resize(nearest)},
      {"upsample_nearest3d.out", resize(nearest)},
      {"_upsample_nearest_exact1d.out", resize(exact)},
      {"_upsample_nearest_exact2d.out", resize(exact)},
      {"_upsample_nearest_exact3d.out", resize(exact)},
      {"upsample_linear1d.out", resize(linear)},
      {"upsample_bilinear2d.out", resize(linear)},
      {"upsample_trilinear3d.out", resize(linear)},
      {"upsample_bicubic2d.out", resize(cubic)},
      {"_upsample_bilinear2d_aa.out", resize(linear, true)},
      {"_upsample_bicubic2d_aa.out", resize(cubic, true)},
      {"upsample_nearest1d_backward.grad_input", resize_backward(nearest)},
      {"upsample_nearest2d_backward.grad_input", resize_backward(nearest)},
      {"upsample_nearest3d_backward.grad_input", resize_backward(nearest)},
      {"_upsample_nearest_exact1d_backward.grad_input", resize_backward(exact)},
      {"_upsample_nearest_exact2d_backward.grad_input", resize_backward(exact)},
      {"_upsample_nearest_exact3d_backward.grad_input", resize_backward(exact)},
      {"upsample_linear1d_backward.grad_input", resize_backward(linear)},
      {"upsample_bilinear2d_backward.grad_input", resize_backward(linear)},
      {"upsample_trilinear3d_backward.grad_input", resize_backward(linear)},
      {"upsample_bicubic2d_backward.grad_input", resize_backward(cubic)},
      {"_upsample_bilinear2d_aa_backward.grad_input", resize_backward(linear, true)},
      {"_upsample_bicubic2d_aa_backward.grad_input", resize_backward(cubic, true)},
      {"grid_sampler_2d", gives(grid_sample)},
      {"grid_sampler_3d", gives(grid_sample)},
      {"grid_sampler_2d_backward", grid_sample_backward},
      {"grid_sampler_3d_backward", grid_sample_backward},
      {"max_pool3d_with_indices", max_pool},
      {"max_pool3d_with_indices_backward", gives(max_pool_backward)},
      {"avg_pool3d.out", into([](const Call& c, const Tensor& out) {
         ops::copy_into(batched(out), crisol::avg_pool3d(batched(c.tensor(0)), mean_options(c, 1)));
       })},
      {"avg_pool3d_backward.grad_input", into(avg_pool_backward)},
      {"_adaptive_avg_pool3d", gives(adaptive_avg_pool)},
      {"_adaptive_avg_pool3d_backward", gives(adaptive_avg_pool_backward)},
      {"max_unpool2d", gives(unpooled)},
      {"max_unpool2d.out", unpooled_into()},
      {"max_unpool3d", gives(unpooled)},
      {"max_unpool3d.out", unpooled_into()},
      {"adaptive_max_pool2d.out", adaptive_max_pool},
      {"adaptive_max_pool2d_backward.grad_input", adaptive_max_pool_backward(2)},
      {"adaptive_max_pool3d.out", adaptive_max_pool},
      {"adaptive_max_pool3d_backward.grad_input", adaptive_max_pool_backward(3)},
  };
}

}  // namespace crisol_torch
