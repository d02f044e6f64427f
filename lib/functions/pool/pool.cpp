#include "crisol/functions/pool.h"

#include "autograd/call.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/ops/pool.h"
#include "functions/single_image.h"
#include "functions/traced/traced.h"
#include "ops/numbers.h"
#include "ops/pool/pool_geometry.h"

namespace crisol {

using autograd::call;
using autograd::Saved;
using autograd::unnoted;

namespace {

/// The gradients of the pools, which have gradients themselves. They are linear in dy, so their gradients are pools
/// again.
Tensor max_pool_gradient(const Tensor& dy, const Tensor& indices, const Shape& shape, const MaxPool2dOptions& options) {
  return call("max_pool2d_backward", {dy}, ops::max_pool2d_backward(dy, indices, shape, options), unnoted, [&] {
    return [indices = Saved(indices), to = dy.shape()](const Tensor& ddx) {
      const Tensor places = indices.get().to(DType::i64).flatten(2);
      return gather(ddx.flatten(2), 2, places).reshape(to);
    };
  });
}

Tensor avg_pool_gradient(const Tensor& dy, const Shape& shape, const AvgPool2dOptions& options) {
  return call("avg_pool2d_backward", {dy}, ops::avg_pool2d_backward(dy, shape, options), unnoted,
              [&] { return [options](const Tensor& ddx) { return avg_pool2d(ddx, options); }; });
}

Tensor adaptive_gradient(const Tensor& dy, const Shape& shape) {
  return call("adaptive_avg_pool2d_backward", {dy}, ops::adaptive_avg_pool2d_backward(dy, shape), unnoted, [&] {
    const IntPair output{static_cast<int>(dy.size(2)), static_cast<int>(dy.size(3))};
    return [output](const Tensor& ddx) { return adaptive_avg_pool2d(ddx, output); };
  });
}

/// The largest elements and their indices, in the smallest type that takes all of them.
ops::MaxPool2dResult max_pooled(const Tensor& x, const MaxPool2dOptions& options) {
  const bool fits = x.dim() == 4 && x.size(2) * x.size(3) <= 65536 && computes_in_f32(x.dtype());
  return ops::max_pool2d(x, options, fits ? DType::u16 : DType::i32);
}

/// The values of a pool, recorded with their gradient.
Tensor recorded(const Tensor& x, const ops::MaxPool2dResult& result, const MaxPool2dOptions& options) {
  return call(
      "max_pool2d", {x}, result.values, [&](Trace& trace) { traced::max_pool(trace, x, options, result.values); },
      [&] {
        return [indices = Saved(result.indices), shape = x.shape(), options](const Tensor& dy) {
          return max_pool_gradient(dy, indices.get(), shape, options);
        };
      });
}

}  // namespace

Tensor max_pool2d(const Tensor& x, const MaxPool2dOptions& options) {
  if (is_single(x)) return max_pool2d(x.unsqueeze(0), options).squeeze(0);
  ops::require_numbers("max_pool2d", x.dtype());
  return recorded(x, max_pooled(x, options), options);
}

ExtremeResult max_pool2d_with_indices(const Tensor& x, const MaxPool2dOptions& options) {
  if (is_single(x)) {
    const ExtremeResult batch = max_pool2d_with_indices(x.unsqueeze(0), options);
    return {batch.values.squeeze(0), batch.indices.squeeze(0)};
  }
  ops::require_numbers("max_pool2d", x.dtype());
  const ops::MaxPool2dResult result = max_pooled(x, options);
  return {recorded(x, result, options), result.indices.to(DType::i64)};
}

Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options) {
  if (is_single(x)) return avg_pool2d(x.unsqueeze(0), options).squeeze(0);
  ops::require_numbers("avg_pool2d", x.dtype());
  return call(
      "avg_pool2d", {x}, ops::avg_pool2d(x, options),
      [&](Trace& trace, const Tensor& y) { traced::avg_pool(trace, x, options, y); },
      [&] { return [shape = x.shape(), options](const Tensor& dy) { return avg_pool_gradient(dy, shape, options); }; });
}

Tensor adaptive_avg_pool2d(const Tensor& x, IntPair output) {
  if (is_single(x)) return adaptive_avg_pool2d(x.unsqueeze(0), output).squeeze(0);
  ops::require_floating("adaptive_avg_pool2d", "the input", x);
  return call(
      "adaptive_avg_pool2d", {x}, ops::adaptive_avg_pool2d(x, output),
      [&](Trace& trace, const Tensor& y) { traced::adaptive_avg_pool(trace, x, y); },
      [&] { return [shape = x.shape()](const Tensor& dy) { return adaptive_gradient(dy, shape); }; });
}

namespace {

/// Checks that x is volumes (N, C, D, H, W), and that positions in a volume fit into 32 bits.
void require_volumes(const char* op, const Tensor& x) {
  require(x.dim() == 5, op, "the input has shape ", x.shape(), ", it must have rank 5: (N, C, D, H, W)");
  const Shape volume{x.size(2), x.size(3), x.size(4)};
  require(volume.numel() <= std::numeric_limits<std::int32_t>::max(), op, "the volumes of input shape ", x.shape(),
          " have more than 2^31 - 1 elements");
}

/// The same for a pool with windows. `step` is the stride.
template <class Options>
void require_windows(const char* op, const Tensor& x, const Options& o, IntTriple step, IntTriple dilation) {
  require_volumes(op, x);
  ops::pool_count(op, "depth", {x.size(2), o.kernel.d, step.d, o.padding.d, dilation.d}, o.ceil_mode);
  ops::pool_count(op, "height", {x.size(3), o.kernel.h, step.h, o.padding.h, dilation.h}, o.ceil_mode);
  ops::pool_count(op, "width", {x.size(4), o.kernel.w, step.w, o.padding.w, dilation.w}, o.ceil_mode);
}

IntTriple step_of(IntTriple stride, IntTriple kernel) { return stride == IntTriple(0) ? kernel : stride; }

/// slices_of: volumes as images. Each slice of each channel becomes a channel of an image. slices_as_rows: the same
/// with each slice as one row.
Tensor slices_of(const Tensor& x) { return x.reshape({x.size(0), x.size(1) * x.size(2), x.size(3), x.size(4)}); }
Tensor slices_as_rows(const Tensor& slices, const Tensor& x) {
  return slices.reshape({x.size(0), x.size(1), x.size(2), slices.size(2) * slices.size(3)});
}

/// Whether a pool's result is its input.
bool is_trivial(const MaxPool2dOptions& o) { return o.kernel == IntPair(1) && o.stride == IntPair(1); }
bool is_trivial(const AvgPool2dOptions& o) {
  return o.kernel == IntPair(1) && o.stride == IntPair(1) && (o.divisor == 0 || o.divisor == 1);
}

/// A pool of volumes: a pool of slices, then one along the depth.
template <class Pool, class Options>
Tensor pooled_in_turn(const Tensor& x, Pool pool, const Options& of_slices, const Options& along_depth) {
  const bool has_depth = !is_trivial(along_depth);
  // At least one pool runs, so that the result is a new tensor.
  const Tensor slices = has_depth && is_trivial(of_slices) ? slices_of(x) : pool(slices_of(x), of_slices);
  const Tensor rows = slices_as_rows(slices, x), y = has_depth ? pool(rows, along_depth) : rows;
  return y.reshape({x.size(0), x.size(1), y.size(2), slices.size(2), slices.size(3)});
}

/// The two pools that make a pool of volumes.
struct MaxPools {
  MaxPool2dOptions slices, depth;

  MaxPools(const Tensor& x, const MaxPool3dOptions& o, const char* op) {
    ops::require_numbers(op, x.dtype());
    const IntTriple step = step_of(o.stride, o.kernel);
    require_windows(op, x, o, step, o.dilation);
    slices = {{o.kernel.h, o.kernel.w},
              {step.h, step.w},
              {o.padding.h, o.padding.w},
              {o.dilation.h, o.dilation.w},
              o.ceil_mode};
    depth = {{o.kernel.d, 1}, {step.d, 1}, {o.padding.d, 0}, {o.dilation.d, 1}, o.ceil_mode};
  }
};

}  // namespace

Tensor max_pool3d(const Tensor& x, const MaxPool3dOptions& options) {
  if (is_single_volume(x)) return max_pool3d(x.unsqueeze(0), options).squeeze(0);
  const MaxPools pools(x, options, "max_pool3d");
  return autograd::noted_as_one([&] { return pooled_in_turn(x, max_pool2d, pools.slices, pools.depth); },
                                [&](Trace& trace, const Tensor& y) { traced::max_pool(trace, x, options, y); });
}

ExtremeResult max_pool3d_with_indices(const Tensor& x, const MaxPool3dOptions& options) {
  if (is_single_volume(x)) {
    const ExtremeResult batch = max_pool3d_with_indices(x.unsqueeze(0), options);
    return {batch.values.squeeze(0), batch.indices.squeeze(0)};
  }
  const MaxPools pools(x, options, "max_pool3d");
  const ExtremeResult slices = max_pool2d_with_indices(slices_of(x), pools.slices);
  const ExtremeResult y = max_pool2d_with_indices(slices_as_rows(slices.values, x), pools.depth);
  const Tensor begins = arange(0, static_cast<double>(x.size(2)), 1, DType::i64, x.device()) * (x.size(3) * x.size(4));
  const Tensor in_volume = slices_as_rows(slices.indices, x) + begins.unsqueeze(1);
  const Tensor positions = gather(in_volume.flatten(2), 2, y.indices.flatten(2));
  const Shape shape{x.size(0), x.size(1), y.values.size(2), slices.values.size(2), slices.values.size(3)};
  return {y.values.reshape(shape), positions.reshape(shape)};
}

Tensor avg_pool3d(const Tensor& x, const AvgPool3dOptions& o) {
  constexpr const char* op = "avg_pool3d";
  if (is_single_volume(x)) return avg_pool3d(x.unsqueeze(0), o).squeeze(0);
  ops::require_floating(op, "the input", x);
  const IntTriple step = step_of(o.stride, o.kernel);
  require_windows(op, x, o, step, 1);
  // The number of elements in a window is the product of the two pools' numbers. A given divisor divides sums, so the
  // first pool adds up and the second pool divides.
  const AvgPool2dOptions slices{{o.kernel.h, o.kernel.w},   {step.h, step.w},
                                {o.padding.h, o.padding.w}, o.ceil_mode,
                                o.count_include_pad,        o.divisor == 0 ? 0 : 1};
  const AvgPool2dOptions depth{{o.kernel.d, 1}, {step.d, 1},         {o.padding.d, 0},
                               o.ceil_mode,     o.count_include_pad, o.divisor};
  return autograd::noted_as_one([&] { return pooled_in_turn(x, avg_pool2d, slices, depth); },
                                [&](Trace& trace, const Tensor& y) { traced::avg_pool(trace, x, o, y); });
}

Tensor adaptive_avg_pool3d(const Tensor& x, IntTriple output) {
  constexpr const char* op = "adaptive_avg_pool3d";
  if (is_single_volume(x)) return adaptive_avg_pool3d(x.unsqueeze(0), output).squeeze(0);
  ops::require_floating(op, "the input", x);
  require_volumes(op, x);
  const bool has_elements = x.size(2) > 0 && x.size(3) > 0 && x.size(4) > 0;
  require(has_elements && output.d > 0 && output.h > 0 && output.w > 0, op, "no pooling of an input of shape ",
          x.shape(), " gives volumes of size ", output, "; volumes must have elements");
  const Tensor slices = adaptive_avg_pool2d(slices_of(x), {output.h, output.w});
  const Tensor rows = slices_as_rows(slices, x), y = adaptive_avg_pool2d(rows, {output.d, output.h * output.w});
  return y.reshape({x.size(0), x.size(1), output.d, output.h, output.w});
}

}  // namespace crisol
