// Transposed convolutions. A transposed convolution is the gradient of a convolution with respect to its input.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "base/text.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/pad.h"
#include "functions/by_channel.h"
#include "functions/conv/conv_gradients.h"
#include "functions/single_image.h"
#include "functions/traced/traced.h"
#include "ops/numbers.h"
#include "ops/storage.h"

namespace crisol {

namespace {

/// The name of an axis for messages, and the options along this axis.
struct TransposedAxis {
  const char* name;
  int stride, padding, output_padding, dilation;
};

/// The size of the result along an axis.
std::int64_t transposed_size(const char* op, const TransposedAxis& axis, std::int64_t size, std::int64_t kernel) {
  require(axis.stride > 0, op, "the stride's ", axis.name, " is ", axis.stride, ", it must be positive");
  require(axis.dilation > 0, op, "the dilation's ", axis.name, " is ", axis.dilation, ", it must be positive");
  require(axis.padding >= 0, op, "the padding's ", axis.name, " is ", axis.padding, ", it must not be negative");
  require(axis.output_padding >= 0 && axis.output_padding < std::max(axis.stride, axis.dilation), op,
          "the output padding's ", axis.name, " is ", axis.output_padding,
          ", it must not be negative and must be below the stride ", axis.stride, " or the dilation ", axis.dilation);
  require(kernel > 0 && kernel < (1 << 30), op, "the kernel's ", axis.name, " is ", kernel,
          ", it must be positive and below 2^30");
  const std::int64_t result = (size - 1) * axis.stride - 2 * std::int64_t{axis.padding} +
                              std::int64_t{axis.dilation} * (kernel - 1) + axis.output_padding + 1;
  require(size > 0 && result > 0, op, "an input of ", axis.name, ' ', size, " gives an output of ", axis.name, ' ',
          result);
  return result;
}

struct Operands {
  const Tensor &x, &weight, &bias;
};

/// The shape of the result. Checks all operands. The op that computes the result would check them too, but its messages
/// name another function. `input_axes` and `weight_axes` are for messages.
Shape transposed_shape(const char* op, const Operands& operands, int groups, std::span<const TransposedAxis> axes,
                       const char* input_axes, const char* weight_axes) {
  const auto& [x, weight, bias] = operands;
  const int rank = static_cast<int>(axes.size()) + 2;
  require(x.defined() && weight.defined(), op, "a tensor is undefined");
  require(x.dim() == rank, op, "the input must have ", rank, " axes ", input_axes, ", its shape is ", x.shape());
  require(weight.dim() == rank, op, "the weight must have ", rank, " axes ", weight_axes, ", its shape is ",
          weight.shape());
  ops::require_numbers(op, x.dtype());
  ops::require_dtype(op, "the weight", weight, x.dtype());
  ops::require_device(op, "the input", x, "the weight", weight);
  require(weight.size(0) == x.size(1), op, "the weight is for ", weight.size(0), " channels, the input has ",
          x.size(1));
  require(groups > 0 && x.size(1) % groups == 0, op, x.size(1), " input channels cannot be divided into ", groups,
          " groups");
  Shape shape{x.size(0), weight.size(1) * groups};
  if (bias.defined()) ops::require_operand(op, "the input", x, "the bias", bias, {shape[1]}, x.dtype());
  for (int i = 2; i < rank; ++i)
    shape.push_back(transposed_size(op, axes[static_cast<std::size_t>(i - 2)], x.size(i), weight.size(i)));
  return shape;
}

/// Whether an output padding is at least the stride. Then no convolution turns the result's size into the input's size.
/// So the result is computed without any padding, and cut.
bool is_cut(std::span<const TransposedAxis> axes) {
  return std::any_of(axes.begin(), axes.end(), [](const TransposedAxis& a) { return a.output_padding >= a.stride; });
}

/// The shape that the result has without any padding.
Shape whole_shape(Shape shape, std::span<const TransposedAxis> axes) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    shape[static_cast<int>(i) + 2] += 2 * std::int64_t{axes[i].padding} - axes[i].output_padding;
  return shape;
}

/// Cuts the result out of the result without any padding.
Tensor cut(const Tensor& whole, std::span<const TransposedAxis> axes) {
  std::vector<AxisPadding> paddings;
  for (std::size_t i = axes.size(); i-- > 0;)
    paddings.push_back({-axes[i].padding, std::int64_t{axes[i].output_padding} - axes[i].padding});
  return pad(whole, paddings);
}

/// The transposed convolution: the gradient of a convolution with respect to its input.
template <class Convolution, class Options>
Tensor transposed(const char* op, const Operands& operands, const Shape& shape, const Options& o,
                  std::span<const TransposedAxis> axes) {
  const Tensor &x = operands.x, &weight = operands.weight, &bias = operands.bias;
  const bool cuts = is_cut(axes);
  Convolution convolution{.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups};
  if (cuts) convolution.padding = 0;
  const auto compute = [&] {
    Tensor y = autograd::conv_gradient_of_input(op, x, weight, cuts ? whole_shape(shape, axes) : shape, convolution);
    if (cuts) y = cut(y, axes);
    return bias.defined() ? y + by_channel(bias, y.dim()) : y;
  };
  return autograd::noted_as_one(compute,
                                [&](Trace& trace, const Tensor& y) { traced::conv(trace, x, weight, bias, o, y); });
}

}  // namespace

Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvTranspose1dOptions& o) {
  constexpr const char* op = "conv_transpose1d";
  if (const autograd::Autocasts casts(op); casts) return conv_transpose1d(casts(x), casts(weight), casts(bias), o);
  if (is_single_sequence(x)) return conv_transpose1d(x.unsqueeze(0), weight, bias, o).squeeze(0);
  const std::array<TransposedAxis, 1> axes{{{"length", o.stride, o.padding, o.output_padding, o.dilation}}};
  transposed_shape(op, {x, weight, bias}, o.groups, axes, "(N, C, L)", "(C, K/groups, S)");
  const ConvTranspose2dOptions of_images{.stride = {1, o.stride},
                                         .padding = {0, o.padding},
                                         .output_padding = {0, o.output_padding},
                                         .dilation = {1, o.dilation},
                                         .groups = o.groups};
  return autograd::noted_as_one(
      [&] { return conv_transpose2d(x.unsqueeze(2), weight.unsqueeze(2), bias, of_images).squeeze(2); },
      [&](Trace& trace, const Tensor& y) { traced::conv(trace, x, weight, bias, o, y); });
}

Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvTranspose2dOptions& o) {
  constexpr const char* op = "conv_transpose2d";
  if (const autograd::Autocasts casts(op); casts) return conv_transpose2d(casts(x), casts(weight), casts(bias), o);
  if (is_single(x)) return conv_transpose2d(x.unsqueeze(0), weight, bias, o).squeeze(0);
  const std::array<TransposedAxis, 2> axes{{{"height", o.stride.h, o.padding.h, o.output_padding.h, o.dilation.h},
                                            {"width", o.stride.w, o.padding.w, o.output_padding.w, o.dilation.w}}};
  const Operands operands{x, weight, bias};
  const Shape shape = transposed_shape(op, operands, o.groups, axes, "(N, C, H, W)", "(C, K/groups, R, S)");
  return transposed<Conv2dOptions>(op, operands, shape, o, axes);
}

Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvTranspose3dOptions& o) {
  constexpr const char* op = "conv_transpose3d";
  if (const autograd::Autocasts casts(op); casts) return conv_transpose3d(casts(x), casts(weight), casts(bias), o);
  if (is_single_volume(x)) return conv_transpose3d(x.unsqueeze(0), weight, bias, o).squeeze(0);
  const std::array<TransposedAxis, 3> axes{{{"depth", o.stride.d, o.padding.d, o.output_padding.d, o.dilation.d},
                                            {"height", o.stride.h, o.padding.h, o.output_padding.h, o.dilation.h},
                                            {"width", o.stride.w, o.padding.w, o.output_padding.w, o.dilation.w}}};
  const Operands operands{x, weight, bias};
  const Shape shape = transposed_shape(op, operands, o.groups, axes, "(N, C, D, H, W)", "(C, K/groups, Q, R, S)");
  return transposed<Conv3dOptions>(op, operands, shape, o, axes);
}

}  // namespace crisol
