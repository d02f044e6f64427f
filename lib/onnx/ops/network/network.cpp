// Products, convolutions, normalisations and softmax.
#include <limits>

#include "base/text.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/einsum.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/softmax.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/half.h"
#include "onnx/ops/network/convolution.h"
#include "onnx/ops/table.h"
#include "onnx/ops/vision/windows.h"
#include "tensor/set_option.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;
using graph::with_epilogue;

/// Products of f16 are computed in f32. The library's matmul() does not take whole numbers. linear() keeps a packed
/// copy of a right factor that stays the same from run to run.
Tensor product_of_matrices(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::f32) return b.dim() == 2 ? linear(a, b.t()) : matmul(a, b);
  if (a.dtype() == DType::f64) return matmul(a, b);
  if (!is_floating(a.dtype())) return einsum("...ij,...jk->...ik", {a, b});
  return matmul(a.to(DType::f32), b.to(DType::f32)).to(a.dtype());
}

/// A factor may be a vector: on the left it is a row, and on the right it is a column.
Tensor product(const Tensor& a, const Tensor& b) {
  require(a.dim() > 0 && b.dim() > 0, "onnx", "a factor of a product has no axes: ", a.shape(), " times ", b.shape());
  require(a.dtype() == b.dtype(), "onnx", "a product of ", a.dtype(), " and ", b.dtype());
  Tensor y = product_of_matrices(a.dim() == 1 ? a.unsqueeze(0) : a, b.dim() == 1 ? b.unsqueeze(1) : b);
  if (b.dim() == 1) y = y.squeeze(-1);
  if (a.dim() == 1) y = y.squeeze(b.dim() == 1 ? -1 : -2);
  return y;
}

/// Whether the inputs are known to be whole numbers. Throws if the inputs have different types.
bool multiplies_whole_numbers(const Call& call) {
  const auto a = call.dtype_of(0), b = call.dtype_of(1);
  require(!a || !b || *a == *b, "onnx", "factors of ", a.value_or(DType::f32), " and ", b.value_or(DType::f32));
  return a && !is_floating(*a);
}

Run mat_mul(Call& call) {
  call.check_counts(2, 2);
  for (const std::size_t i : {0, 1}) call.require_rank(i, 1, Shape::max_rank);
  const auto a = call.rank_of(0), b = call.rank_of(1);
  call.gives_type_of(0, a && b && *a > 1 && *b > 1 ? std::max(a, b) : std::nullopt);
  if (multiplies_whole_numbers(call))
    return [](const Data& in, Device device) { return Data{product(in[0].tensor(device), in[1].tensor(device))}; };
  return in_f32(call, with_epilogue([](const Data& in, Device device, const Epilogue* epilogue) {
                  const Tensor left = in[0].tensor(device), right = in[1].tensor(device);
                  if (epilogue == nullptr) return product(left, right);
                  if (left.dim() < 2 || right.dim() < 2) return (*epilogue)(product(left, right));
                  return right.dim() == 2 ? linear(left, right.t(), Tensor(), *epilogue)
                                          : matmul(left, right, *epilogue);
                }));
}

Run gemm(Call& call) {
  call.check_counts(call.version() < 11 ? 3 : 2, 3);
  const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  if (call.version() < 7) call.integer("broadcast", 0);  // A bias is always broadcast.
  const bool turn_a = call.integer("transA", 0) != 0, turn_b = call.integer("transB", 0) != 0;
  for (const std::size_t i : {0, 1}) call.require_rank(i, 2, 2);
  call.gives_type_of(0, 2);
  const auto compute = [=](const Data& in, Device device, const Epilogue* epilogue) {
    Tensor a = in[0].tensor(device);
    const Tensor b = in[1].tensor(device);
    const Tensor c = input_of(in, 2, device);
    require(a.dim() == 2 && b.dim() == 2, "onnx", "factors of shapes ", a.shape(), " and ", b.shape(),
            ", matrices expected");
    if (turn_a) a = a.t();
    const bool adds = c.defined() && beta != 0;
    if (a.dtype() == DType::f32 && alpha == 1 && (!adds || (beta == 1 && c.shape() == Shape(b.size(turn_b ? 0 : 1))))) {
      const Tensor weight = turn_b ? b : b.t(), bias = adds ? c : Tensor();
      return epilogue == nullptr ? linear(a, weight, bias) : linear(a, weight, bias, *epilogue);
    }
    Tensor y = product(a, turn_b ? b.t() : b);
    if (alpha != 1) y = y * alpha;
    if (adds) y = y + (beta == 1 ? c : c * beta);
    return epilogue == nullptr ? y.to(a.dtype()) : (*epilogue)(y);
  };
  return multiplies_whole_numbers(call) ? with_epilogue(compute) : in_f32(call, with_epilogue(compute));
}

/// The options of a convolution. If the padding differs at the two ends, the input is padded before, so the options
/// have no padding.
template <class Options>
Options convolution_options(const Windows& w, int groups) {
  Options options{.groups = groups};
  set_option(options.stride, w.strides);
  set_option(options.dilation, w.dilations);
  if (w.is_symmetric()) set_option(options.padding, w.pads);
  return options;
}

}  // namespace

Run convolution_of_f32(Call& call) {
  const Windows given(call, 3);
  const std::int64_t groups = call.integer("group", 1);
  require(groups >= 1 && groups <= std::numeric_limits<int>::max(), "onnx", "group is ", groups);
  Attributes attributes = given.attributes();
  attributes.erase("kernel");
  attributes.emplace("groups", groups);
  call.describe(std::move(attributes));
  const auto compute = [given, groups = static_cast<int>(groups)](const Data& in, Device device,
                                                                  const Epilogue* epilogue) {
    Tensor x = in[0].tensor(device);
    const Tensor weight = in[1].tensor(device), bias = input_of(in, 2, device);
    const Windows w = given.for_input(spatial_of(x), spatial_of(weight));
    if (!w.is_symmetric()) x = padded(x, w, 0);
    if (w.over_volumes()) {
      const Tensor y = conv3d(x, weight, bias, convolution_options<Conv3dOptions>(w, groups));
      return epilogue == nullptr ? y : (*epilogue)(y);
    }
    if (w.axes() == 1) {
      const auto options = convolution_options<Conv1dOptions>(w, groups);
      return epilogue == nullptr ? conv1d(x, weight, bias, options) : conv1d(x, weight, bias, options, *epilogue);
    }
    const auto options = convolution_options<Conv2dOptions>(w, groups);
    return epilogue == nullptr ? conv2d(x, weight, bias, options) : conv2d(x, weight, bias, options, *epilogue);
  };
  return with_epilogue(compute);
}

Run convolution(Call& call) {
  call.gives_type_of(0, call.rank_of(0));
  return in_f32(call, convolution_of_f32(call));
}

namespace {

Run conv(Call& call) {
  call.check_counts(2, 3);
  return convolution(call);
}

/// Without training_mode, the running statistics are used. With training_mode, the statistics of the batch are used.
/// Outputs 1 and 2 are then the new running statistics, with the biased variance.
Run batch_normalization(Call& call) {
  const bool trains = call.version() >= 14 && call.integer("training_mode", 0) != 0;
  call.check_counts(5, 5, trains ? 3 : 1);
  const double epsilon = call.real("epsilon", 1e-5f), momentum = call.real("momentum", 0.9f);
  require(call.version() >= 9 || call.integer("spatial", 1) == 1, "onnx", "spatial 0 is not supported");
  require(call.version() >= 7 || call.integer("is_test", 0) != 0, "onnx", "is_test 0 is not supported");
  call.require_rank(0, 2, Shape::max_rank);
  if (trains)
    for (std::size_t i = 0; i < 5; ++i) call.require_dtype(i, DType::f32);
  call.gives_same();
  call.describe({{"epsilon", epsilon}});
  if (trains) call.differs();
  for (const std::size_t i : {1, 2}) call.gives(i, call.input(2 + i));
  return in_f32(call, [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    std::vector<Tensor> p;
    for (std::size_t i = 1; i < 5; ++i) p.push_back(in[i].tensor(device));
    if (!trains) return Data{batch_norm2d(x, p[0], p[1], p[2], p[3], {.training = false, .epsilon = epsilon})};
    Shape axes{0};
    for (int i = 2; i < x.dim(); ++i) axes.push_back(i);
    const auto moved = [&](const Tensor& old, const Tensor& now) { return old * momentum + now * (1 - momentum); };
    return Data{batch_norm2d(x, p[0], p[1], Tensor(), Tensor(), {.training = true, .epsilon = epsilon}),
                moved(p[2], mean(x.detach(), axes)), moved(p[3], var(x.detach(), axes, false, 0))};
  });
}

/// Before version 13, softmax runs over all axes from `axis` on.
template <Tensor (*f)(const Tensor&, int)>
Run softmax_(Call& call) {
  call.check_counts(1, 1);
  const bool merges = call.version() < 13;
  const std::int64_t axis = call.integer("axis", merges ? 1 : -1);
  call.require_floating(0);
  check_axis(axis, call.rank_of(0));
  call.gives_same();
  call.describe({{"axis", axis}});
  // If the rank is not known, passes compare the axis with the last one.
  if (merges && axis != -1 && axis + 1 != call.rank_of(0).value_or(static_cast<int>(axis) + 1)) call.differs();
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    require(axis >= -x.dim() && axis < x.dim(), "onnx", "axis ", axis, " of an input of shape ", x.shape());
    return Data{over_axes(x, axis_of(axis, x.dim()), merges, f)};
  };
}

/// 1 at the first maximum along an axis, and 0 elsewhere.
Tensor hardmax(const Tensor& x, int axis) {
  if (x.numel() == 0) return x;
  Shape along = Shape::filled(x.dim(), 1);
  along[axis] = x.size(axis);
  const Tensor place = arange(0, static_cast<double>(x.size(axis)), 1, DType::i64, x.device()).reshape(along);
  return place.eq(x.argmax(axis, true)).to(x.dtype());
}

}  // namespace

std::vector<Row> network_rows() {
  constexpr std::int64_t newest = newest_version;
  return {{"BatchNormalization", 1, newest, batch_normalization}, {"Conv", 1, newest, conv}};
}

std::vector<Row> product_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Gemm", 1, newest, gemm},
      {"Hardmax", 1, newest, softmax_<hardmax>},
      {"LogSoftmax", 1, newest, softmax_<log_softmax>},
      {"MatMul", 1, newest, mat_mul},
      {"Softmax", 1, newest, softmax_<softmax>},
  };
}

}  // namespace crisol::onnx
