#include "crisol/functions/conv.h"

#include "autograd/node.h"
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/ops/reduce.h"
#include "functions/fuse/epilogue.h"
#include "functions/single_image.h"
#include "functions/traced/traced.h"
#include "ops/check.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/product/with_epilogue.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

namespace {

auto conv2d_backward(const Tensor& input, const Tensor& filter, const Conv2dOptions& options) {
  return [x = Saved(input), weight = Saved(filter), options](const Tensor& dy, Needs needs) {
    Gradients gradients(3);
    if (needs[0]) gradients[0] = ops::conv2d_backward_data(dy, weight.get(), x.get().shape(), options);
    if (needs[1]) gradients[1] = ops::conv2d_backward_weight(dy, x.get(), weight.get().shape(), options);
    if (needs[2]) gradients[2] = ops::sum(dy, {0, 2, 3});
    return gradients;
  };
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  if (is_single(x)) return conv2d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  const Tensor y = ops::conv2d(x, weight, bias, options);
  if (Recorder* r = recorder()) traced::conv2d(*r, x, weight, bias, options, y);
  if (!autograd::recording(x, weight, bias)) return y;
  return autograd::record("conv2d", y, {x, weight, bias}, conv2d_backward(x, weight, options));
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options,
              const Epilogue& epilogue) {
  if (is_single(x)) return conv2d(x.unsqueeze(0), weight, bias, options, epilogue).squeeze(0);
  const ops::Conv2dSizes sizes = ops::conv2d_sizes("conv2d", x.shape(), weight.shape(), options);
  return detail::run_with_epilogue(
      {.name = "conv2d",
       .layout = {.shape = sizes.output_shape(), .by_channel = true},
       .inputs = {x, weight, bias},
       .plain = [&] { return conv2d(x, weight, bias, options); },
       .raw = [&](const ops::ProductEpilogue& f,
                  bool& applied) { return ops::conv2d(x, weight, bias, options, f, applied); },
       .backward = [&] { return conv2d_backward(x, weight, options); }},
      epilogue);
}

namespace {

/// The size of the result of a transposed convolution along an axis.
std::int64_t transposed_size(const char* axis, std::int64_t size, std::int64_t kernel, int stride, int padding,
                             int output_padding, int dilation) {
  constexpr const char* op = "conv_transpose2d";
  require(stride > 0, op, "the stride's ", axis, " is ", stride, ", it must be positive");
  require(dilation > 0, op, "the dilation's ", axis, " is ", dilation, ", it must be positive");
  require(padding >= 0, op, "the padding's ", axis, " is ", padding, ", it must not be negative");
  require(output_padding >= 0 && output_padding < stride, op, "the output padding's ", axis, " is ", output_padding,
          ", it must not be negative and must be below the stride ", stride);
  require(kernel > 0 && kernel < (1 << 30), op, "the kernel's ", axis, " is ", kernel,
          ", it must be positive and below 2^30");
  const std::int64_t result =
      (size - 1) * stride - 2 * std::int64_t{padding} + std::int64_t{dilation} * (kernel - 1) + output_padding + 1;
  require(size > 0 && result > 0, op, "an input of ", axis, ' ', size, " gives an output of ", axis, ' ', result);
  return result;
}

/// The shape of the result. Checks everything that the convolution's gradient would refuse in its own words.
Shape transposed_shape(const Tensor& x, const Tensor& weight, const Tensor& bias,
                       const ConvTranspose2dOptions& options) {
  constexpr const char* op = "conv_transpose2d";
  require(x.defined() && weight.defined(), op, "a tensor is undefined");
  require(x.dim() == 4, op, "the input must have 4 axes (N, C, H, W), its shape is ", x.shape());
  require(weight.dim() == 4, op, "the weight must have 4 axes (C, K/groups, R, S), its shape is ", weight.shape());
  ops::require_dtype(op, "the input", x, DType::f32);
  ops::require_dtype(op, "the weight", weight, DType::f32);
  ops::require_device(op, "the input", x, "the weight", weight);
  require(weight.size(0) == x.size(1), op, "the weight is for ", weight.size(0), " channels, the input has ",
          x.size(1));
  require(options.groups > 0 && x.size(1) % options.groups == 0, op, x.size(1),
          " input channels cannot be divided into ", options.groups, " groups");
  const std::int64_t channels = weight.size(1) * options.groups;
  if (bias.defined()) ops::require_operand(op, "the input", x, "the bias", bias, {channels});
  return {x.size(0), channels,
          transposed_size("height", x.size(2), weight.size(2), options.stride.h, options.padding.h,
                          options.output_padding.h, options.dilation.h),
          transposed_size("width", x.size(3), weight.size(3), options.stride.w, options.padding.w,
                          options.output_padding.w, options.dilation.w)};
}

}  // namespace

Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose2dOptions& options) {
  if (is_single(x)) return conv_transpose2d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  const Shape shape = transposed_shape(x, weight, bias, options);
  const Conv2dOptions convolution{
      .stride = options.stride, .padding = options.padding, .dilation = options.dilation, .groups = options.groups};
  Tensor y = ops::conv2d_backward_data(x, weight, shape, convolution);
  if (autograd::recording(x, weight))
    y = autograd::record("conv_transpose2d", y, {x, weight},
                         [x = Saved(x), weight = Saved(weight), convolution](const Tensor& dy, Needs needs) {
                           Gradients gradients(2);
                           if (needs[0]) gradients[0] = ops::conv2d(dy, weight.get(), Tensor(), convolution);
                           if (needs[1])
                             gradients[1] = ops::conv2d_backward_weight(x.get(), dy, weight.get().shape(), convolution);
                           return gradients;
                         });
  return bias.defined() ? y + bias.reshape({bias.size(0), 1, 1}) : y;
}

}  // namespace crisol
