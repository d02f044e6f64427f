// Convolutions, pools, norms, softmax, dropout, embeddings and recurrent cells.
#include "call.h"
#include "generator.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::DType;
using crisol::IntPair;
using crisol::IntTriple;
using crisol::Shape;
using crisol::Tensor;

// ---- Convolutions

IntPair pair(const std::vector<std::int64_t>& sizes) {
  need(sizes.size() == 2 || sizes.size() == 1, "a list of sizes");
  return {static_cast<int>(sizes.front()), static_cast<int>(sizes.back())};
}
IntTriple triple(const std::vector<std::int64_t>& sizes) {
  need(sizes.size() == 3 || sizes.size() == 1, "a list of sizes");
  const auto at = [&](std::size_t i) { return static_cast<int>(sizes[std::min(i, sizes.size() - 1)]); };
  return {at(0), at(1), at(2)};
}

struct Images {
  using Options = crisol::Conv2dOptions;
  static constexpr auto size = pair;
  static constexpr auto forward =
      static_cast<Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Options&)>(ops::conv2d);
  static constexpr auto data = ops::conv2d_backward_data;
  static constexpr auto weight = ops::conv2d_backward_weight;
};
struct Volumes {
  using Options = crisol::Conv3dOptions;
  static constexpr auto size = triple;
  static constexpr auto forward =
      static_cast<Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Options&)>(ops::conv3d);
  static constexpr auto data = ops::conv3d_backward_data;
  static constexpr auto weight = ops::conv3d_backward_weight;
};

// The settings of a convolution, which follow each other in the arguments.
template <class Space>
struct Convolution {
  typename Space::Options options;
  bool transposed;
  std::vector<std::int64_t> stride, padding, dilation, output_padding;

  Convolution(const Call& c, std::size_t first)
      : transposed(c.flag(first + 3)),
        stride(c.wholes(first)),
        padding(c.wholes(first + 1)),
        dilation(c.wholes(first + 2)),
        output_padding(c.wholes(first + 4)) {
    options.stride = Space::size(stride);
    options.padding = Space::size(padding);
    options.dilation = Space::size(dilation);
    options.groups = static_cast<int>(c.whole(first + 5));
  }

  // The shape of the result of a transposed convolution.
  Shape transposed_shape(const Shape& x, const Shape& weight) const {
    Shape y{x[0], weight[1] * options.groups};
    for (int i = 2; i < x.rank(); ++i) {
      const auto k = static_cast<std::size_t>(i - 2);
      const auto at = [k](const std::vector<std::int64_t>& sizes) { return sizes[std::min(k, sizes.size() - 1)]; };
      y.push_back((x[i] - 1) * at(stride) - 2 * at(padding) + at(dilation) * (weight[i] - 1) + at(output_padding) + 1);
    }
    return y;
  }
};

// One element for each channel.
Tensor along_channels(const Tensor& bias, int rank) {
  Shape shape = Shape::filled(rank, 1);
  shape[1] = bias.size(0);
  return ops::reshape(bias, shape);
}

template <class Space>
Tensor convolve(const Call& c) {
  const Convolution<Space> settings(c, 3);
  const Tensor x = c.tensor(0), weight = c.tensor(1), bias = c.tensor(2);
  if (!settings.transposed) return Space::forward(x, weight, bias, settings.options);
  const Tensor y = Space::data(x, weight, settings.transposed_shape(x.shape(), weight.shape()), settings.options);
  return bias.defined() ? ops::add(y, along_channels(bias, y.dim())) : y;
}

bool is_volume(const Call& c, std::size_t weight) { return c.torch(weight).dim() == 5; }

Results convolution(const Call& c) { return {wrap(is_volume(c, 1) ? convolve<Volumes>(c) : convolve<Images>(c))}; }

template <class Space>
Results convolve_backward(const Call& c) {
  const Convolution<Space> settings(c, 3);
  const Tensor dy = c.tensor(0), x = c.tensor(1), weight = c.tensor(2);
  const auto wanted = c.value(9).toBoolList();
  Tensor dx, dw, db;
  if (wanted[0])
    dx = settings.transposed ? Space::forward(dy, weight, Tensor(), settings.options)
                             : Space::data(dy, weight, x.shape(), settings.options);
  if (wanted[1])
    dw = settings.transposed ? Space::weight(x, dy, weight.shape(), settings.options)
                             : Space::weight(dy, x, weight.shape(), settings.options);
  if (wanted[2]) db = ops::sum(dy, dy.dim() == 5 ? Shape{0, 2, 3, 4} : Shape{0, 2, 3});
  return {wrap_or_none(dx), wrap_or_none(dw), wrap_or_none(db)};
}

Results convolution_backward(const Call& c) {
  return is_volume(c, 2) ? convolve_backward<Volumes>(c) : convolve_backward<Images>(c);
}

at::Tensor on_cpu(const at::Tensor& x) { return x.defined() ? x.cpu() : x; }

// PyTorch's CPU does not have the overrideable convolutions.
Results convolution_on_cpu(const Call& c) {
  const at::Tensor y = at::convolution(on_cpu(c.torch(0)), on_cpu(c.torch(1)), on_cpu(c.torch(2)), c.wholes(3),
                                       c.wholes(4), c.wholes(5), c.flag(6), c.wholes(7), c.whole(8));
  return {y.to(c.torch(0).device())};
}

Results convolution_backward_on_cpu(const Call& c) {
  const auto list = c.value(9).toBoolList();
  const std::array<bool, 3> wanted{list[0], list[1], list[2]};
  const at::Tensor dy = c.torch(0);
  const std::vector<std::int64_t> bias{dy.size(1)};
  const auto [dx, dw, db] =
      at::convolution_backward(on_cpu(dy), on_cpu(c.torch(1)), on_cpu(c.torch(2)), bias, c.wholes(3), c.wholes(4),
                               c.wholes(5), c.flag(6), c.wholes(7), c.whole(8), wanted);
  const auto back = [&](const at::Tensor& x) { return c10::IValue(x.defined() ? x.to(dy.device()) : x); };
  return {back(dx), back(dw), back(db)};
}

// ---- Pools

// Images without a batch are a batch of one image.
Tensor batched(const Tensor& x) { return x.dim() == 3 ? ops::unsqueeze(x, 0) : x; }

IntPair stride_or_kernel(const Call& c, std::size_t i) {
  const std::vector<std::int64_t> stride = c.wholes(i);
  return stride.empty() ? IntPair(0) : pair(stride);
}

// (kernel, stride, padding, dilation, ceil_mode) from an argument on.
crisol::MaxPool2dOptions max_options(const Call& c, std::size_t first) {
  return {pair(c.wholes(first)), stride_or_kernel(c, first + 1), pair(c.wholes(first + 2)), pair(c.wholes(first + 3)),
          c.flag(first + 4)};
}
// (kernel, stride, padding, ceil_mode, count_include_pad, divisor) from an argument on.
crisol::AvgPool2dOptions mean_options(const Call& c, std::size_t first) {
  return {pair(c.wholes(first)),     stride_or_kernel(c, first + 1),
          pair(c.wholes(first + 2)), c.flag(first + 3),
          c.flag(first + 4),         c.is_none(first + 5) ? 0 : c.axis(first + 5)};
}

Results max_pool(const Call& c) {
  const Tensor values = c.tensor(6), indices = c.tensor(7);
  const Tensor positions = crisol::empty(batched(indices).shape(), DType::i32, indices.device());
  ops::max_pool2d_into(batched(values), positions, batched(c.tensor(0)), max_options(c, 1));
  ops::copy_into(batched(indices), positions);
  return {c.value(6), c.value(7)};
}

void max_pool_backward(const Call& c, const Tensor& dx) {
  const Tensor positions = ops::cast(batched(c.tensor(7)), DType::i32), x = batched(c.tensor(1));
  ops::max_pool2d_backward_into(batched(dx), batched(c.tensor(0)), positions, x.shape(), max_options(c, 2));
}

Tensor like_input(const Tensor& y, const Tensor& x) { return x.dim() == 3 ? ops::select(y, 0, 0) : y; }

// ---- Norms

// One element for each channel, in the way that PyTorch's CPU returns it.
Results batch_norm(const Call& c, const Tensor& mean, const Tensor& variance, std::size_t training) {
  const crisol::BatchNormOptions options{c.flag(training), c.number(training + 1), c.number(training + 2)};
  const crisol::ops::BatchNormResult result =
      ops::batch_norm2d(c.tensor(0), c.tensor(1), c.tensor(2), mean, variance, options);
  if (options.training) return {wrap(result.y), wrap(result.mean), wrap(result.invstd)};
  const at::Tensor none = at::empty({0}, c.torch(0).options().dtype(at::kFloat));
  return {wrap(result.y), none, none};
}

Results batch_norm_backward(const Call& c) {
  const bool training = c.flag(7);
  Tensor mean = c.tensor(5), invstd = c.tensor(6);
  if (!training) {
    mean = ops::cast(c.tensor(3), DType::f32);
    invstd = ops::rsqrt(ops::add(ops::cast(c.tensor(4), DType::f32), c.number(8)));
  }
  const ops::NormGradients gradients =
      ops::batch_norm2d_backward(c.tensor(0), c.tensor(1), c.tensor(2), mean, invstd, training);
  return {wrap_or_none(gradients.x), wrap_or_none(gradients.weight), wrap_or_none(gradients.bias)};
}

// PyTorch's statistics have axes of size 1 in place of the normalised axes.
Shape statistics_shape(const Tensor& x, int normalized) {
  Shape shape = x.shape();
  for (int i = x.dim() - normalized; i < x.dim(); ++i) shape[i] = 1;
  return shape;
}

Results layer_norm(const Call& c) {
  const Tensor x = c.tensor(0);
  const Shape axes = c.shape(1);
  const ops::LayerNormResult result = ops::layer_norm(x, axes, c.tensor(2), c.tensor(3), c.number(4));
  const Shape shape = statistics_shape(x, axes.rank());
  return {wrap(result.y), wrap(ops::reshape(result.mean, shape)), wrap(ops::reshape(result.rstd, shape))};
}

Results layer_norm_backward(const Call& c) {
  const Tensor x = c.tensor(1), weight = c.tensor(5);
  const Shape axes = c.shape(2);
  Shape rows = x.shape();
  for (int i = 0; i < axes.rank(); ++i) rows.erase(rows.rank() - 1);
  const auto wanted = c.value(7).toBoolList();
  const ops::NormGradients gradients =
      ops::layer_norm_backward(c.tensor(0), x, axes, weight, ops::reshape(c.tensor(3), rows),
                               ops::reshape(c.tensor(4), rows), wanted[1] || wanted[2]);
  return {wrap_or_none(gradients.x), wrap_or_none(gradients.weight), wrap_or_none(gradients.bias)};
}

// (dy, x, mean, rstd, weight, N, C, elements of a channel, groups, wanted). Each group of an instance is a row.
Results group_norm_backward(const Call& c) {
  const Tensor dy = c.tensor(0), x = c.tensor(1), mean = c.tensor(2), rstd = c.tensor(3), weight = c.tensor(4);
  const std::int64_t count = c.whole(5), channels = c.whole(6), elements = c.whole(7), groups = c.whole(8);
  const auto wanted = c.value(9).toBoolList();
  const std::int64_t width = channels / groups * elements;
  Tensor dx, dw, db;
  if (wanted[0]) {
    const Tensor g = weight.defined() ? ops::mul(dy, along_channels(weight, dy.dim())) : dy;
    const Shape rows{count * groups, width};
    dx = ops::layer_norm_backward(ops::reshape(g, rows), ops::reshape(x, rows), Shape(width), Tensor(),
                                  ops::reshape(mean, {-1}), ops::reshape(rstd, {-1}), false)
             .x;
    dx = ops::reshape(dx, x.shape());
  }
  const auto by_channel = [&](const Tensor& t) {
    return ops::sum(ops::reshape(t, {count, channels, elements}), {0, 2});
  };
  if (wanted[1]) {
    const Shape statistics{count, groups, 1}, rows{count, groups, width};
    const Tensor centred = ops::sub(ops::reshape(x, rows), ops::reshape(mean, statistics));
    const Tensor normalized = ops::mul(centred, ops::reshape(rstd, statistics));
    dw = ops::cast(by_channel(ops::mul(normalized, ops::reshape(dy, rows))), weight.dtype());
  }
  if (wanted[2]) db = by_channel(dy);
  return {wrap_or_none(dx), wrap_or_none(dw), wrap_or_none(db)};
}

// ---- Softmax, dropout, embedding

using RowsInto = void (*)(const Tensor&, const Tensor&, int);
Run row_function(RowsInto f) {
  return into([f](const Call& c, const Tensor& out) {
    need(!c.flag(2), "softmax that converts halves");
    f(out, c.tensor(0), c.axis(1));
  });
}
Run row_gradient(void (*f)(const Tensor&, const Tensor&, const Tensor&, int)) {
  return into([f](const Call& c, const Tensor& out) { f(out, c.tensor(0), c.tensor(1), c.axis(2)); });
}

Results dropout(const Call& c) {
  const Tensor x = c.tensor(0);
  if (!c.is_none(2) && !c.flag(2)) {
    const Tensor mask = crisol::full(x.shape(), true, DType::boolean, x.device());
    return {wrap(ops::clone(x)), wrap(mask)};
  }
  const ops::DropoutResult result = ops::dropout(x, c.number(1), generator_of({}, x.device()));
  const Tensor& mask = result.mask;
  return {wrap(result.y), wrap(ops::reinterpret(mask, DType::boolean, mask.shape(), mask.strides(), mask.offset()))};
}

Tensor embedding_backward(const Call& c) {
  const std::int64_t padding = c.whole(3);
  const Tensor indices = c.tensor(1);
  Tensor dy = c.tensor(0);
  if (c.flag(4)) {  // scale_grad_by_freq: each row of dy is divided by the number of its index.
    const Tensor list = ops::reshape(indices, {-1}), one = crisol::ones(list.shape(), dy.dtype(), dy.device());
    const Tensor counts = ops::index_add(crisol::zeros({c.whole(2)}, dy.dtype(), dy.device()), 0, list, one);
    dy = ops::div(dy, ops::unsqueeze(ops::reshape(ops::index_select(counts, 0, list), indices.shape()), -1));
  }
  return ops::embedding_backward(dy, indices, c.whole(2), padding < 0 ? std::nullopt : std::optional(padding));
}

}  // namespace

Rows layer_rows() {
  Rows rows{
      {"convolution_overrideable", convolution, convolution_on_cpu},
      {"convolution_backward_overrideable", convolution_backward, convolution_backward_on_cpu},
      {"max_pool2d_with_indices.out", max_pool},
      {"max_pool2d_with_indices_backward.grad_input", into(max_pool_backward)},
      {"avg_pool2d.out", into([](const Call& c, const Tensor& out) {
         ops::avg_pool2d_into(batched(out), batched(c.tensor(0)), mean_options(c, 1));
       })},
      {"avg_pool2d_backward.grad_input", into([](const Call& c, const Tensor& out) {
         ops::avg_pool2d_backward_into(batched(out), batched(c.tensor(0)), batched(c.tensor(1)).shape(),
                                       mean_options(c, 2));
       })},
      {"_adaptive_avg_pool2d", gives([](const Call& c) {
         const Tensor x = c.tensor(0);
         return like_input(ops::adaptive_avg_pool2d(batched(x), pair(c.wholes(1))), x);
       })},
      {"_adaptive_avg_pool2d_backward", gives([](const Call& c) {
         const Tensor x = c.tensor(1);
         return like_input(ops::adaptive_avg_pool2d_backward(batched(c.tensor(0)), batched(x).shape()), x);
       })},
      {"native_batch_norm", [](const Call& c) { return batch_norm(c, c.tensor(3), c.tensor(4), 5); }},
      {"_native_batch_norm_legit", [](const Call& c) { return batch_norm(c, c.tensor(3), c.tensor(4), 5); }},
      {"_native_batch_norm_legit.no_stats", [](const Call& c) { return batch_norm(c, Tensor(), Tensor(), 3); }},
      {"native_batch_norm_backward", batch_norm_backward},
      {"native_layer_norm", layer_norm},
      {"native_layer_norm_backward", layer_norm_backward},
      {"native_group_norm_backward", group_norm_backward},
      {"_softmax.out", row_function(ops::softmax_into)},
      {"_log_softmax.out", row_function(ops::log_softmax_into)},
      {"_softmax_backward_data.out", row_gradient(ops::softmax_backward_into)},
      {"_log_softmax_backward_data.out", row_gradient(ops::log_softmax_backward_into)},
      {"native_dropout", dropout},
      {"native_dropout_backward",
       gives([](const Call& c) { return ops::addcmul(0, c.tensor(0), c.tensor(1), c.number(2)); })},
      {"embedding_dense_backward", gives(embedding_backward)},
  };
  for (Row& row : cell_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace crisol_torch
