// Normalisation of the channels of each instance: each channel alone, or in groups.
#include "autograd/autocast.h"
#include "autograd/call.h"
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/reduce.h"
#include "crisol/fuse.h"
#include "functions/by_channel.h"
#include "functions/traced/traced.h"
#include "ops/storage.h"

namespace crisol {

namespace {

void check(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require(is_floating(x.dtype()), op, "the input must be ", TypesThat{is_floating}, ", it is ", x.dtype());
  require(x.dim() >= 2, op, "the input must be (N, C) or (N, C, …), its shape is ", x.shape());
  ops::require_parameters(op, x, {x.size(1)}, {{"the weight", weight}, {"the bias", bias}});
}

/// The number of elements in one channel of an instance.
std::int64_t elements_of_channel(const Tensor& x) {
  std::int64_t count = 1;
  for (int axis = 2; axis < x.dim(); ++axis) count *= x.size(axis);
  return count;
}

/// y · weight + bias in one pass, with one weight and bias for each channel.
Tensor scaled(const Tensor& y, const Tensor& weight, const Tensor& bias) {
  static const auto scale_and_shift =
      fuse([](const Expr& x, const Expr& scale, const Expr& shift) { return x * scale + shift; });
  if (weight.defined() && bias.defined())
    return scale_and_shift(y, by_channel(weight, y.dim()), by_channel(bias, y.dim()));
  if (weight.defined()) return y * by_channel(weight, y.dim());
  return bias.defined() ? y + by_channel(bias, y.dim()) : y;
}

/// Repeats the numbers of the channels (C) for each instance of x (N, C).
Tensor for_each_instance(const Tensor& numbers, const Tensor& x) {
  return numbers.defined() ? numbers.unsqueeze(0).expand({x.size(0), x.size(1)}) : numbers;
}

/// Calls batch_norm2d with one image, whose channels are the channels of all instances. So each instance has its own
/// statistics. All tensors except for x have the shape (N, C), or are undefined.
Tensor by_instance(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& var,
                   const BatchNormOptions& options) {
  const auto flat = [](const Tensor& t) { return t.defined() ? t.flatten() : t; };
  return batch_norm2d(x.reshape({1, x.size(0) * x.size(1), elements_of_channel(x)}), flat(weight), flat(bias),
                      flat(mean), flat(var), options)
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
      ops::require_parameters(op, x, {x.size(1)}, {{"a running statistic", t}});
  if (!options.training) {
    require(keeps, op, "inference needs running statistics");
    return batch_norm2d(x, weight, bias, running_mean, running_var, options);
  }
  require(elements_of_channel(x) != 1, op, "training needs more than one element per channel, the shape is ",
          x.shape());
  if (x.numel() == 0) return x.clone();
  const auto compute = [&] {
    const auto copied = [&](const Tensor& t) { return t.defined() ? for_each_instance(t.detach(), x).clone() : t; };
    const Tensor means = copied(running_mean), vars = copied(running_var);
    Tensor y = by_instance(x, for_each_instance(weight, x), for_each_instance(bias, x), means, vars, options);
    if (keeps) {
      Tensor(running_mean).copy_from(mean(means, {0}));
      Tensor(running_var).copy_from(mean(vars, {0}));
    }
    return y;
  };
  const auto note = [&](Trace& trace, const Tensor& y) {
    traced::norm_of_channels(trace, GraphOp::instance_norm, x, weight, bias, {{"epsilon", options.epsilon}}, y);
  };
  return autograd::noted_as_one(compute, note, !keeps);  // A node of a graph writes no running statistics.
}

Tensor group_norm(const Tensor& x, std::int64_t num_groups, const Tensor& weight, const Tensor& bias, double epsilon) {
  constexpr const char* op = "group_norm";
  if (const autograd::Autocasts casts(op); casts)
    return group_norm(casts(x), num_groups, casts(weight), casts(bias), epsilon);
  check(op, x, weight, bias);
  require(num_groups > 0 && x.size(1) % num_groups == 0, op, x.size(1), " channels cannot be divided into ", num_groups,
          " groups");
  if (x.numel() == 0) return x.clone();
  const auto compute = [&] {
    const std::int64_t elements = x.size(1) / num_groups * elements_of_channel(x);
    const Tensor rows = layer_norm(x.reshape({x.size(0), num_groups, elements}), elements, Tensor(), Tensor(), epsilon);
    return scaled(rows.reshape(x.shape()), weight, bias).to(x.dtype());
  };
  return autograd::noted_as_one(compute, [&](Trace& trace, const Tensor& y) {
    traced::norm_of_channels(trace, GraphOp::group_norm, x, weight, bias,
                             {{"epsilon", epsilon}, {"groups", num_groups}}, y);
  });
}

}  // namespace crisol
