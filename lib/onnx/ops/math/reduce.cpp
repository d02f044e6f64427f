// Reductions, and normalisations made of them.
#include "crisol/functions/reduce.h"

#include <limits>

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/norm.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/half.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

template <Tensor (*f)(const Tensor&, const Shape&, bool), std::int64_t axes_input_since>
Run reduce(Call& call) {
  const Axes axes(call, axes_input_since);
  const bool keeps = call.integer("keepdims", 1) != 0;
  const bool does_nothing = axes.is_input && call.integer("noop_with_empty_axes", 0) != 0;
  for (const std::int64_t axis : axes.numbers) check_axis(axis, call.rank_of(0));
  call.gives_type_of(0, keeps ? call.rank_of(0) : std::nullopt);
  const graph::Datum stored = axes.is_input ? call.stored(1) : graph::Datum();
  call.describe({{"axes", stored.defined() ? stored.numbers() : axes.numbers}});
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const Numbers given = axes.of(in);
    // No axis is reduced then. But the op still applies its function, before or after the sum, to each number.
    if (given.empty() && does_nothing) return Data{f(x.unsqueeze(0), 0, false).to(x.dtype())};
    return Data{f(x, Shape(given), keeps).to(x.dtype())};
  };
}

/// Whether a reduction over these axes reduces no elements.
bool reduces_nothing(const Tensor& x, const Shape& axes) {
  if (axes.rank() == 0) return x.numel() == 0;
  for (const std::int64_t axis : axes)
    if (x.size(axis_of(axis, x.dim())) == 0) return true;
  return false;
}

/// The largest or the smallest number of a type.
Scalar bound_of(DType dtype, bool is_largest) {
  return with_host_type(dtype, [&](auto element) -> Scalar {
    using T = decltype(element);
    using Number = std::conditional_t<std::is_integral_v<T>, T, double>;
    using Limits = std::numeric_limits<Number>;
    if constexpr (std::is_integral_v<T>) return is_largest ? Limits::max() : Limits::min();
    return is_largest ? Limits::infinity() : -Limits::infinity();
  });
}

/// The maximum of no elements is the smallest number of the type, and their minimum is the largest number.
Tensor largest(const Tensor& x, const Shape& axes, bool keeps) {
  if (!reduces_nothing(x, axes)) return max(x, axes, keeps);
  return full(sum(x, axes, keeps).shape(), bound_of(x.dtype(), false), x.dtype(), x.device());
}
Tensor least(const Tensor& x, const Shape& axes, bool keeps) {
  if (!reduces_nothing(x, axes)) return min(x, axes, keeps);
  return full(sum(x, axes, keeps).shape(), bound_of(x.dtype(), true), x.dtype(), x.device());
}

/// Widens x for sums that its type cannot hold: in f16, numbers above 65504 are infinite, and in i32, numbers above
/// 2^31 become negative.
Tensor wide(const Tensor& x) { return x.to(is_floating(x.dtype()) ? value_type(x.dtype()) : DType::i64); }

Tensor sum_of_absolutes(const Tensor& x, const Shape& axes, bool keeps) { return sum(abs(x), axes, keeps); }
Tensor sum_of_squares(const Tensor& x, const Shape& axes, bool keeps) { return sum(wide(x).square(), axes, keeps); }
Tensor root_of_squares(const Tensor& x, const Shape& axes, bool keeps) { return sqrt(sum_of_squares(x, axes, keeps)); }
Tensor log_of_sum(const Tensor& x, const Shape& axes, bool keeps) { return log(sum(wide(x), axes, keeps)); }

/// For whole numbers the fraction of the result is dropped.
Tensor log_of_sum_of_exp(const Tensor& x, const Shape& axes, bool keeps) {
  return logsumexp(is_floating(x.dtype()) ? x : x.to(DType::f32), axes, keeps);
}

/// The position of the maximum or minimum: the first one, or the last one.
template <Tensor (Tensor::*f)(const Shape&, bool) const>
Run place_of(Call& call) {
  call.check_counts(1, 1);
  const std::int64_t axis = call.integer("axis", 0);
  const bool keeps = call.integer("keepdims", 1) != 0;
  const bool takes_last = call.version() >= 12 && call.integer("select_last_index", 0) != 0;
  check_axis(axis, call.rank_of(0));
  call.gives(0, value_of(DType::i64, keeps ? call.rank_of(0) : std::nullopt));
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const int along = axis_of(axis, x.dim());
    const Tensor place = ((takes_last ? x.flip(along) : x).*f)(along, keeps).to(DType::i64);
    return Data{takes_last ? x.size(along) - 1 - place : place};
  };
}

/// CumSum and CumProd. With `exclusive`, the result begins with the identity and leaves out the last element.
/// Subtracting the element would turn infinities into NaN.
template <Tensor (*f)(const Tensor&, int), int identity>
Run cumulative(Call& call) {
  call.check_counts(2, 2);
  const bool excludes = call.integer("exclusive", 0) != 0, reverses = call.integer("reverse", 0) != 0;
  call.gives_same();
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const int axis = axis_of(number_of(in[1], "axis"), x.dim());
    Tensor y = f(reverses ? x.flip(axis) : x, axis).to(x.dtype());
    if (excludes && y.size(axis) > 0) {
      Shape one = y.shape();
      one[axis] = 1;
      y = cat({full(one, identity, y.dtype(), device), y.narrow(axis, 0, y.size(axis) - 1)}, axis);
    }
    return Data{reverses ? y.flip(axis) : y};
  };
}

/// The sizes of the axes from `axis` on.
Shape last_axes(const Tensor& x, std::int64_t axis) {
  Shape sizes;
  for (int i = axis_of(axis, x.dim()); i < x.dim(); ++i) sizes.push_back(x.size(i));
  return sizes;
}

/// Adds the mean and 1 / sqrt(variance + epsilon), which a node may ask for.
void add_statistics(Data& results, const Tensor& x, std::int64_t axis, double epsilon) {
  Shape axes;
  for (int i = axis_of(axis, x.dim()); i < x.dim(); ++i) axes.push_back(i);
  results.emplace_back(mean(x, axes, true).to(DType::f32));
  results.emplace_back(rsqrt(var(x, axes, true, 0) + epsilon).to(DType::f32));
}

Run layer_normalization(Call& call) {
  call.check_counts(2, 3, 3);
  const bool gives_statistics = call.has_output(1) || call.has_output(2);
  const std::int64_t axis = call.integer("axis", -1);
  const double epsilon = call.real("epsilon", 1e-5f);
  require(call.integer("stash_type", 1) == 1, "onnx", "stash_type other than 1 is not supported");
  check_axis(axis, call.rank_of(0));
  call.gives_same();
  for (const std::size_t output : {1, 2}) call.gives(output, value_of(DType::f32, call.rank_of(0)));
  return in_f32(call, [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), scale = in[1].tensor(device);
    const Tensor bias = input_of(in, 2, device);
    const Shape sizes = last_axes(x, axis);
    Data results;
    if (scale.shape() == sizes && (!bias.defined() || bias.shape() == sizes)) {
      results = {layer_norm(x, sizes, scale, bias.defined() ? bias : zeros_like(scale), epsilon)};
    } else {
      const Tensor y = layer_norm(x, sizes, Tensor(), Tensor(), epsilon) * scale;
      results = {bias.defined() ? y + bias : y};
    }
    if (gives_statistics) add_statistics(results, x, axis, epsilon);
    return results;
  });
}

Run rms_normalization(Call& call) {
  call.check_counts(2, 2);
  const std::int64_t axis = call.integer("axis", -1);
  const double epsilon = call.real("epsilon", 1e-5f);
  require(call.integer("stash_type", 1) == 1, "onnx", "stash_type other than 1 is not supported");
  check_axis(axis, call.rank_of(0));
  call.gives_same();
  return in_f32(call, [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), scale = in[1].tensor(device);
    Shape axes;
    for (int i = axis_of(axis, x.dim()); i < x.dim(); ++i) axes.push_back(i);
    return Data{x * rsqrt(mean(x * x, axes, true) + epsilon) * scale};
  });
}

Run instance_normalization(Call& call) {
  call.check_counts(3, 3);
  const double epsilon = call.real("epsilon", 1e-5f);
  call.require_rank(0, 3, Shape::max_rank);
  call.gives_same();
  return in_f32(call, [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    require(x.dim() >= 3, "onnx", "an input of shape ", x.shape(), ", (N, C, …) expected");
    if (x.numel() == 0) return Data{x};
    const Tensor scale = in[1].tensor(device), bias = in[2].tensor(device);
    // In training, the library refuses one element per channel, as PyTorch does. In ONNX such an element becomes the
    // bias.
    const bool single = x.numel() == x.size(0) * x.size(1);
    return Data{single ? group_norm(x, x.size(1), scale, bias, epsilon)
                       : instance_norm(x, scale, bias, Tensor(), Tensor(), {.epsilon = epsilon})};
  });
}

}  // namespace

std::vector<Row> reduce_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"ArgMax", 1, newest, place_of<&Tensor::argmax>},
      {"ArgMin", 1, newest, place_of<&Tensor::argmin>},
      {"CumProd", 26, newest, cumulative<cumprod, 1>},
      {"CumSum", 11, newest, cumulative<cumsum, 0>},
      {"InstanceNormalization", 1, newest, instance_normalization},
      {"LayerNormalization", 1, newest, layer_normalization},  // ONNX Runtime writes it into older operator sets too.
      {"RMSNormalization", 23, newest, rms_normalization},
      {"ReduceL1", 1, newest, reduce<sum_of_absolutes, 18>},
      {"ReduceL2", 1, newest, reduce<root_of_squares, 18>},
      {"ReduceLogSum", 1, newest, reduce<log_of_sum, 18>},
      {"ReduceLogSumExp", 1, newest, reduce<log_of_sum_of_exp, 18>},
      {"ReduceMax", 1, newest, reduce<largest, 18>},
      {"ReduceMean", 1, newest, reduce<mean, 18>},
      {"ReduceMin", 1, newest, reduce<least, 18>},
      {"ReduceProd", 1, newest, reduce<prod, 18>},
      {"ReduceSum", 1, newest, reduce<sum, 13>},
      {"ReduceSumSquare", 1, newest, reduce<sum_of_squares, 18>},
      {"SimplifiedLayerNormalization", 1, newest, rms_normalization},  // The name in ONNX Runtime.
  };
}

}  // namespace crisol::onnx
