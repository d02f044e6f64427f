// Products, convolutions, pools, normalisations and softmax.
#include <limits>

#include "base/text.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/einsum.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/pool.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/softmax.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/table.h"
#include "onnx/ops/windows.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

/// Products of f16 are computed in f32. The library's matmul() takes no whole numbers.
Tensor product_of_matrices(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::f32) return matmul(a, b);
  if (!is_floating(a.dtype())) return einsum("...ij,...jk->...ik", {a, b});
  return matmul(a.to(DType::f32), b.to(DType::f32)).to(a.dtype());
}

/// Factors may be vectors: a row on the left, a column on the right.
Tensor product(const Tensor& a, const Tensor& b) {
  require(a.dim() > 0 && b.dim() > 0, "onnx", "a factor of a product has no axes: ", a.shape(), " times ", b.shape());
  require(a.dtype() == b.dtype(), "onnx", "a product of ", a.dtype(), " and ", b.dtype());
  Tensor y = product_of_matrices(a.dim() == 1 ? a.unsqueeze(0) : a, b.dim() == 1 ? b.unsqueeze(1) : b);
  if (b.dim() == 1) y = y.squeeze(-1);
  if (a.dim() == 1) y = y.squeeze(b.dim() == 1 ? -1 : -2);
  return y;
}

Run mat_mul(Call& call) {
  call.check_counts(2, 2);
  return [](const Data& in, Device device) { return Data{product(in[0].tensor(device), in[1].tensor(device))}; };
}

Run gemm(Call& call) {
  call.check_counts(call.version() < 11 ? 3 : 2, 3);
  const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  if (call.version() < 7) call.integer("broadcast", 0);  // A bias is broadcast in any case.
  const bool turn_a = call.integer("transA", 0) != 0, turn_b = call.integer("transB", 0) != 0;
  return [=](const Data& in, Device device) {
    Tensor a = in[0].tensor(device);
    const Tensor b = in[1].tensor(device);
    const Tensor c = in.size() > 2 ? in[2].tensor(device) : Tensor();
    require(a.dim() == 2 && b.dim() == 2, "onnx", "factors of shapes ", a.shape(), " and ", b.shape(),
            ", matrices expected");
    if (turn_a) a = a.t();
    if (alpha == 1 && beta == 1 && turn_b && a.dtype() == DType::f32 && c.defined() && c.shape() == Shape(b.size(0)))
      return Data{linear(a, b, c)};
    Tensor y = product(a, turn_b ? b.t() : b);
    if (alpha != 1) y = y * alpha;
    if (c.defined() && beta != 0) y = y + (beta == 1 ? c : c * beta);
    return Data{y.to(a.dtype())};
  };
}

Run conv(Call& call) {
  call.check_counts(2, 3);
  const Windows given(call);
  const std::int64_t groups = call.integer("group", 1);
  require(groups >= 1 && groups <= std::numeric_limits<int>::max(), "onnx", "group is ", groups);
  return [=](const Data& in, Device device) {
    Tensor x = in[0].tensor(device), weight = in[1].tensor(device);
    const Tensor bias = in.size() > 2 ? in[2].tensor(device) : Tensor();
    const bool one_axis = spatial_of(x).rank() == 1;
    const Windows w = given.for_input(spatial_of(x), spatial_of(weight)).as_image();
    if (one_axis) {
      x = x.unsqueeze(2);
      weight = weight.unsqueeze(2);
    }
    Conv2dOptions options{
        .stride = Windows::pair(w.strides), .dilation = Windows::pair(w.dilations), .groups = static_cast<int>(groups)};
    if (w.is_symmetric())
      options.padding = Windows::pair(w.pads);
    else
      x = padded(x, w, 0);
    const Tensor y = conv2d(x, weight, bias, options);
    return Data{one_axis ? y.squeeze(2) : y};
  };
}

/// Runs a pool of images over images, or over rows.
template <class Pool>
Run pool(Call& call, Pool pool_image) {
  call.check_counts(1, 1);
  const Windows given(call);
  require(!given.kernel.empty(), "onnx", "attribute kernel_shape is missing");
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const bool one_axis = spatial_of(x).rank() == 1;
    const Windows w = given.for_input(spatial_of(x), {}).as_image();
    const Tensor y = pool_image(one_axis ? x.unsqueeze(2) : x, w);
    return Data{one_axis ? y.squeeze(2) : y};
  };
}

/// The library takes the same padding at both ends, and at most half of the kernel.
bool fits(const Windows& w) { return w.is_symmetric() && 2 * w.pads[0] <= w.kernel[0] && 2 * w.pads[1] <= w.kernel[1]; }

Run max_pool(Call& call) {
  const bool ceil_mode = call.integer("ceil_mode", 0) != 0;
  call.integer("storage_order", 0);  // Of the second output, which is refused.
  return pool(call, [=](const Tensor& x, const Windows& w) {
    MaxPool2dOptions options{.kernel = Windows::pair(w.kernel),
                             .stride = Windows::pair(w.strides),
                             .dilation = Windows::pair(w.dilations),
                             .ceil_mode = ceil_mode};
    if (fits(w)) {
      options.padding = Windows::pair(w.pads);
      return max_pool2d(x, options);
    }
    return max_pool2d(padded(x, w, -std::numeric_limits<double>::infinity()), options);
  });
}

Run average_pool(Call& call) {
  const bool ceil_mode = call.integer("ceil_mode", 0) != 0;
  const bool counts_padding = call.integer("count_include_pad", 0) != 0;
  return pool(call, [=](const Tensor& x, const Windows& w) {
    require(w.dilations[0] == 1 && w.dilations[1] == 1, "onnx", "dilations are not supported here");
    AvgPool2dOptions options{.kernel = Windows::pair(w.kernel),
                             .stride = Windows::pair(w.strides),
                             .ceil_mode = ceil_mode,
                             .count_include_pad = counts_padding};
    if (fits(w)) {
      options.padding = Windows::pair(w.pads);
      return avg_pool2d(x, options);
    }
    require(!ceil_mode, "onnx", "ceil_mode with these pads is not supported");
    const Tensor sums = avg_pool2d(padded(x, w, 0), options);
    return counts_padding
               ? sums
               : sums / avg_pool2d(padded(ones({1, 1, x.size(2), x.size(3)}, x.dtype(), x.device()), w, 0), options);
  });
}

/// All axes after the channels.
Shape spatial_axes(const Tensor& x) {
  require(x.dim() >= 3, "onnx", "an input of shape ", x.shape(), ", (N, C, …) expected");
  Shape axes;
  for (int i = 2; i < x.dim(); ++i) axes.push_back(i);
  return axes;
}

Run global_average_pool(Call& call) {
  call.check_counts(1, 1);
  return [](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{x.mean(spatial_axes(x), true)};
  };
}

Run global_max_pool(Call& call) {
  call.check_counts(1, 1);
  return [](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{x.max(spatial_axes(x), true)};
  };
}

Run batch_normalization(Call& call) {
  call.check_counts(5, 5);
  const double epsilon = call.real("epsilon", 1e-5f);
  call.real("momentum", 0.9f);  // For the running statistics, which a run does not change.
  require(call.integer("training_mode", 0) == 0, "onnx", "training_mode 1 is not supported");
  require(call.version() >= 9 || call.integer("spatial", 1) == 1, "onnx", "spatial 0 is not supported");
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    std::vector<Tensor> p;
    for (std::size_t i = 1; i < 5; ++i) p.push_back(in[i].tensor(device));
    if (x.dim() == 4) return Data{batch_norm2d(x, p[0], p[1], p[2], p[3], {.training = false, .epsilon = epsilon})};
    require(x.dim() >= 2, "onnx", "an input of shape ", x.shape(), ", (N, C, …) expected");
    Shape channels = Shape::filled(x.dim() - 1, 1);
    channels[0] = x.size(1);
    for (Tensor& parameter : p) parameter = parameter.reshape(channels);
    return Data{(x - p[2]) * rsqrt(p[3] + epsilon) * p[0] + p[1]};
  };
}

/// Before version 13 softmax runs over all axes from `axis` on.
template <Tensor (*f)(const Tensor&, int)>
Run softmax_(Call& call) {
  call.check_counts(1, 1);
  const bool merges = call.version() < 13;
  const std::int64_t axis = call.integer("axis", merges ? 1 : -1);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    require(axis >= -x.dim() && axis < x.dim(), "onnx", "axis ", axis, " of an input of shape ", x.shape());
    const int first = static_cast<int>(axis < 0 ? axis + x.dim() : axis);
    if (!merges || first == x.dim() - 1) return Data{f(x, first)};
    return Data{f(x.flatten(first, -1), first).reshape(x.shape())};
  };
}

/// In evaluation. Since version 12 an input can ask for training.
Run dropout_(Call& call) {
  call.check_counts(1, call.version() < 12 ? 1 : 3);
  call.real("ratio", 0.5);
  call.integer("seed", 0);
  return [](const Data& in, Device) {
    if (in.size() > 2 && in[2].defined())
      require(number_of(in[2], "training_mode") == 0, "onnx", "training_mode is true, which is not supported");
    return Data{in[0]};
  };
}

}  // namespace

std::vector<Row> network_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"AveragePool", 7, newest, average_pool},
      {"BatchNormalization", 7, newest, batch_normalization},
      {"Conv", 1, newest, conv},
      {"Dropout", 7, newest, dropout_},
      {"Gemm", 6, newest, gemm},
      {"GlobalAveragePool", 1, newest, global_average_pool},
      {"GlobalMaxPool", 1, newest, global_max_pool},
      {"LogSoftmax", 1, newest, softmax_<log_softmax>},
      {"MatMul", 1, newest, mat_mul},
      {"MaxPool", 1, newest, max_pool},
      {"Softmax", 1, newest, softmax_<softmax>},
  };
}

}  // namespace crisol::onnx
