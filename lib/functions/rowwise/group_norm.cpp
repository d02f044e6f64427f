// Normalisation of the channels of each instance, alone or in groups.
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/reduce.h"
#include "crisol/fuse.h"
#include "crisol/grad_mode.h"
#include "crisol/ops/copy.h"
#include "functions/traced/traced.h"
#include "ops/check.h"

namespace crisol {

namespace {

void check(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  ops::require_dtype(op, "the input", x, DType::f32);
  require(x.dim() >= 2, op, "the input must be (N, C) or (N, C, …), its shape is ", x.shape());
  if (weight.defined()) ops::require_operand(op, "the input", x, "the weight", weight, {x.size(1)});
  if (bias.defined()) ops::require_operand(op, "the input", x, "the bias", bias, {x.size(1)});
}

/// The elements of a channel of an instance.
std::int64_t elements_of_channel(const Tensor& x) {
  std::int64_t count = 1;
  for (int axis = 2; axis < x.dim(); ++axis) count *= x.size(axis);
  return count;
}

/// y · weight + bias by channel, in one pass.
Tensor scaled(const Tensor& y, const Tensor& weight, const Tensor& bias) {
  static const auto scale_and_shift =
      fuse([](const Expr& x, const Expr& scale, const Expr& shift) { return x * scale + shift; });
  Shape channels = Shape::filled(y.dim() - 1, 1);
  channels[0] = y.size(1);
  if (weight.defined() && bias.defined()) return scale_and_shift(y, weight.reshape(channels), bias.reshape(channels));
  if (weight.defined()) return y * weight.reshape(channels);
  return bias.defined() ? y + bias.reshape(channels) : y;
}

/// batch_norm2d of one image with the channels of all instances. The statistics are those of the instances.
Tensor by_instance(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& var,
                   const BatchNormOptions& options) {
  const std::int64_t images = x.size(0), channels = x.size(1);
  const auto for_each_image = [&](const Tensor& t) {
    return t.defined() ? t.unsqueeze(0).expand({images, channels}).reshape({images * channels}) : t;
  };
  return batch_norm2d(x.reshape({1, images * channels, elements_of_channel(x)}), for_each_image(weight),
                      for_each_image(bias), mean, var, options)
      .reshape(x.shape());
}

}  // namespace

Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                     const Tensor& running_var, const BatchNormOptions& options) {
  constexpr const char* op = "instance_norm";
  check(op, x, weight, bias);
  const bool keeps = running_mean.defined();
  require(keeps == running_var.defined(), op, "running mean and variance must both be given, or neither");
  if (keeps)
    for (const Tensor& t : {running_mean, running_var})
      ops::require_operand(op, "the input", x, "a running statistic", t, {x.size(1)});
  require(options.epsilon >= 0, op, "epsilon must not be negative, it is ", options.epsilon);
  require(options.momentum >= 0 && options.momentum <= 1, op, "momentum must be in [0, 1], it is ", options.momentum);
  if (!options.training) {
    require(keeps, op, "inference needs running statistics");
    return batch_norm2d(x, weight, bias, running_mean, running_var, options);
  }
  require(elements_of_channel(x) != 1, op, "training needs more than one element per channel, the shape is ",
          x.shape());
  Recorder* const r = recorder();
  require(!keeps || r == nullptr, "trace", op, " that updates running statistics has no form in ONNX; call eval()");
  if (x.numel() == 0) return x.clone();
  Tensor y;
  {
    const PauseRecorder pause;
    if (!keeps) {
      y = by_instance(x, weight, bias, Tensor(), Tensor(), options);
    } else {
      const auto for_each_instance = [&](const Tensor& t) {
        return t.detach().unsqueeze(0).expand({x.size(0), x.size(1)}).clone();
      };
      const Tensor means = for_each_instance(running_mean), vars = for_each_instance(running_var);
      y = by_instance(x, weight, bias, means.flatten(), vars.flatten(), options);
      const NoGrad no_grad;
      ops::copy_into(running_mean, mean(means, {0}));
      ops::copy_into(running_var, mean(vars, {0}));
    }
  }
  if (r != nullptr)
    traced::norm_of_channels(*r, "InstanceNormalization", x, weight, bias, {{"epsilon", options.epsilon}}, y);
  return y;
}

Tensor group_norm(const Tensor& x, std::int64_t num_groups, const Tensor& weight, const Tensor& bias, double epsilon) {
  constexpr const char* op = "group_norm";
  check(op, x, weight, bias);
  require(num_groups > 0 && x.size(1) % num_groups == 0, op, x.size(1), " channels cannot be divided into ", num_groups,
          " groups");
  require(epsilon >= 0, op, "epsilon must not be negative, it is ", epsilon);
  if (x.numel() == 0) return x.clone();
  Tensor y;
  {
    const PauseRecorder pause;
    const std::int64_t elements = x.size(1) / num_groups * elements_of_channel(x);
    const Tensor rows = layer_norm(x.reshape({x.size(0), num_groups, elements}), elements, Tensor(), Tensor(), epsilon);
    y = scaled(rows.reshape(x.shape()), weight, bias);
  }
  if (Recorder* r = recorder())
    traced::norm_of_channels(*r, "GroupNormalization", x, weight, bias,
                             {{"epsilon", epsilon}, {"num_groups", num_groups}}, y);
  return y;
}

}  // namespace crisol
