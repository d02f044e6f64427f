#include "crisol/functions/norm.h"

#include <algorithm>
#include <vector>

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/grad_mode.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/norm.h"
#include "functions/by_channel.h"
#include "functions/fuse/epilogue.h"
#include "functions/gradients.h"
#include "functions/traced/traced.h"
#include "ops/storage.h"

namespace crisol {

using autograd::call;
using autograd::Gradients;
using autograd::Needs;
using autograd::raw_or_composed;
using autograd::Saved;

namespace {

// The norms, made of differentiable functions, for gradients of gradients. `in` holds the input, the weight and the
// bias.

Tensor scaled_and_shifted(const Tensor& y, const Tensor& weight, const Tensor& bias) {
  const Tensor scaled = weight.defined() ? y * weight : y;
  return bias.defined() ? scaled + bias : scaled;
}

Tensor standardized(const Tensor& x, const Shape& axes, double epsilon) {
  const Tensor centred = x - mean(x, axes, true);
  return centred * rsqrt(mean(square(centred), axes, true) + epsilon);
}

Tensor composed_layer_norm(const std::vector<Tensor>& in, int axes, double epsilon) {
  Shape last;
  for (int i = in[0].dim() - axes; i < in[0].dim(); ++i) last.push_back(i);
  return scaled_and_shifted(standardized(in[0], last, epsilon), in[1], in[2]);
}

Tensor composed_batch_norm(const std::vector<Tensor>& in, const Tensor& mean, const Tensor& invstd,
                           const BatchNormOptions& options) {
  const int rank = in[0].dim();
  const auto of_channels = [rank](const Tensor& t) { return t.defined() ? by_channel(t, rank) : t; };
  Shape others{0};
  for (int i = 2; i < rank; ++i) others.push_back(i);
  const Tensor y = options.training ? standardized(in[0], others, options.epsilon)
                                    : (in[0] - of_channels(mean)) * of_channels(invstd);
  return scaled_and_shifted(y, of_channels(in[1]), of_channels(in[2]));
}

// The gradients of the parameters are sums in f32. They get the types of the parameters here.
Gradients in_order(const ops::NormGradients& gradients, const Tensor& weight, const Tensor& bias) {
  const auto like = [](const Tensor& gradient, const Tensor& parameter) {
    return gradient.defined() && parameter.defined() ? ops::cast(gradient, parameter.dtype()) : gradient;
  };
  return {gradients.x, like(gradients.weight, weight), like(gradients.bias, bias)};
}

/// Whether a norm is made of other functions, because its kernels compute in f32 alone.
bool is_composed(const Tensor& x) { return x.defined() && is_floating(x.dtype()) && !computes_in_f32(x.dtype()); }

/// batch_norm2d, made of differentiable functions.
Tensor composed_batch_norm2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                             const Tensor& running_var, const BatchNormOptions& options) {
  constexpr const char* op = "batch_norm2d";
  ops::require_floating(op, "the input", x);
  require(x.dim() >= 2, op, "the input must be (N, C) or (N, C, …), its shape is ", x.shape());
  ops::require_parameters(op, x, {x.size(1)},
                          {{"the weight", weight},
                           {"the bias", bias},
                           {"the running mean", running_mean},
                           {"the running variance", running_var}});
  require(running_mean.defined() == running_var.defined(), op,
          "running mean and variance must both be given, or neither");
  const Tensor wide = x.to(value_type(x.dtype()));
  const std::vector<Tensor> in{wide, weight, bias};
  if (!options.training) {
    require(running_mean.defined(), op, "inference needs running statistics");
    return composed_batch_norm(in, running_mean, rsqrt(running_var + options.epsilon), options).to(x.dtype());
  }
  const std::int64_t count = x.numel() / std::max<std::int64_t>(1, x.size(1));
  require(count > 1 || x.numel() == 0, op, "training needs more than one element per channel, the shape is ",
          x.shape());
  const Tensor y = composed_batch_norm(in, {}, {}, options).to(x.dtype());
  if (running_mean.defined()) {
    const NoGrad unrecorded;
    Shape others{0};
    for (int i = 2; i < x.dim(); ++i) others.push_back(i);
    const double kept = 1 - options.momentum;
    Tensor(running_mean).copy_from(running_mean * kept + mean(wide, others) * options.momentum);
    Tensor(running_var).copy_from(running_var * kept + var(wide, others) * options.momentum);
  }
  return y;
}

/// batch_norm2d, computed by kernels of its own.
Tensor batch_norm2d_by_kernel(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                              const Tensor& running_var, const BatchNormOptions& options) {
  const ops::BatchNormResult result = ops::batch_norm2d(x, weight, bias, running_mean, running_var, options);
  return call(
      "batch_norm2d", {x, weight, bias}, result.y,
      [&](Trace& trace) {
        traced::batch_norm(trace, x, {weight, bias, running_mean, running_var}, options.epsilon, result.y);
      },
      [&] {
        return [x = Saved(x), weight = Saved(weight), bias = Saved(bias), mean = Saved(result.mean),
                invstd = Saved(result.invstd), options](const Tensor& dy, Needs needs) {
          const Tensor &in = x.get(), &w = weight.get(), &b = bias.get(), &m = mean.get(), &s = invstd.get();
          return raw_or_composed(
              {dy, in, w, b},
              [&] { return in_order(ops::batch_norm2d_backward(dy, in, w, m, s, options.training), w, b); },
              [&] {
                const auto composed = [&](const std::vector<Tensor>& inputs) {
                  return Gradients{composed_batch_norm(inputs, m, s, options)};
                };
                return autograd::gradients_of(composed, {in, w, b}, {dy}, needs);
              });
        };
      });
}

}  // namespace

Tensor batch_norm2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                    const Tensor& running_var, const BatchNormOptions& options) {
  const auto composed = [&] { return composed_batch_norm2d(x, weight, bias, running_mean, running_var, options); };
  if (is_composed(x)) return composed();
  const auto kernel = [&] { return batch_norm2d_by_kernel(x, weight, bias, running_mean, running_var, options); };
  // A node of a graph has no statistics of the batch.
  return options.training ? autograd::noted_in_parts(kernel, composed) : kernel();
}

Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                  double epsilon) {
  if (const autograd::Autocasts casts("layer_norm"); casts)
    return layer_norm(casts(x), normalized_shape, casts(weight), casts(bias), epsilon);
  if (is_composed(x)) {
    const int outer = x.dim() - normalized_shape.rank();
    bool fits = normalized_shape.rank() > 0 && outer >= 0;
    for (int i = 0; fits && i < normalized_shape.rank(); ++i) fits = x.size(outer + i) == normalized_shape[i];
    require(fits, "layer_norm", "the last sizes of the input, whose shape is ", x.shape(), ", must be ",
            "normalized_shape ", normalized_shape);
    for (const auto& [name, t] : {std::pair("the weight", weight), std::pair("the bias", bias)})
      if (t.defined()) ops::require_operand("layer_norm", "the input", x, name, t, normalized_shape, x.dtype());
    return composed_layer_norm({x, weight, bias}, normalized_shape.rank(), epsilon);
  }
  const ops::LayerNormResult result = ops::layer_norm(x, normalized_shape, weight, bias, epsilon);
  return call(
      "layer_norm", {x, weight, bias}, result.y,
      [&](Trace& trace) { traced::layer_norm(trace, x, normalized_shape, weight, bias, epsilon, result.y); },
      [&] {
        return [x = Saved(x), weight = Saved(weight), bias = Saved(bias), mean = Saved(result.mean),
                rstd = Saved(result.rstd), normalized_shape, epsilon](const Tensor& dy, Needs needs) {
          const Tensor &in = x.get(), &w = weight.get(), &b = bias.get();
          return raw_or_composed(
              {dy, in, w, b},
              [&] {
                return in_order(
                    ops::layer_norm_backward(dy, in, normalized_shape, w, mean.get(), rstd.get(), needs[1] || needs[2]),
                    w, b);
              },
              [&] {
                const auto composed = [&](const std::vector<Tensor>& inputs) {
                  return Gradients{composed_layer_norm(inputs, normalized_shape.rank(), epsilon)};
                };
                return autograd::gradients_of(composed, {in, w, b}, {dy}, needs);
              });
        };
      });
}

namespace {

const auto& inverse_deviation() {
  static const auto f = fuse([](const Expr& variance, const Expr& epsilon) { return rsqrt(variance + epsilon); });
  return f;
}

// The norm of elements of a type whose statistics and parameters may be f32.
template <DType type>
Expr normalized(const Expr* e) {
  return ((e[0] - e[1]) * (e[2] * e[3]) + e[4]).to(type);
}

// Whether this is inference with statistics and parameters of one type and of the right shape. Then no other check can
// fail.
bool is_plain_inference(const Tensor& x, const std::vector<Tensor>& of_channels, const BatchNormOptions& options) {
  if (options.training || options.epsilon < 0 || !x.defined() || x.dim() < 2) return false;
  if (value_type(x.dtype()) != DType::f32) return false;
  const DType type = of_channels[0].defined() ? of_channels[0].dtype() : DType::f32;
  if (type != x.dtype() && type != DType::f32) return false;
  return std::all_of(of_channels.begin(), of_channels.end(), [&](const Tensor& t) {
    return t.defined() && t.dtype() == type && t.shape() == Shape{x.size(1)} && t.device() == x.device();
  });
}

}  // namespace

Tensor batch_norm2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                    const Tensor& running_var, const BatchNormOptions& options, const Epilogue& epilogue) {
  if (!is_plain_inference(x, {weight, bias, running_mean, running_var}, options) ||
      autograd::observed({x, weight, bias}))
    return epilogue(batch_norm2d(x, weight, bias, running_mean, running_var, options));
  const Tensor scale = inverse_deviation()(running_var.to(DType::f32), options.epsilon);
  const auto body = with_host_type(
      x.dtype(), [](auto element) -> Expr (*)(const Expr*) { return normalized<dtype_of<decltype(element)>()>; });
  return detail::run_behind(body,
                            {x, by_channel(running_mean, x.dim()), by_channel(scale, x.dim()),
                             by_channel(weight, x.dim()), by_channel(bias, x.dim())},
                            epilogue);
}

Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                  double epsilon, const Epilogue& epilogue) {
  return epilogue(layer_norm(x, normalized_shape, weight, bias, epsilon));
}

}  // namespace crisol
