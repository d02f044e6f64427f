#include "crisol/nn/conv.h"

#include <cmath>

#include "base/text.h"
#include "crisol/functions/conv.h"
#include "crisol/nn/init.h"
#include "tensor/set_option.h"

namespace crisol::nn {

namespace {

Shape window_of(int kernel) { return {kernel}; }
Shape window_of(IntPair kernel) { return {kernel.h, kernel.w}; }
Shape window_of(IntTriple kernel) { return {kernel.d, kernel.h, kernel.w}; }

void check_sizes(const char* op, std::int64_t in_channels, std::int64_t out_channels, const Shape& kernel, int groups) {
  require(in_channels > 0 && out_channels > 0, op, "in_channels ", in_channels, " and out_channels ", out_channels,
          " must be positive");
  for (const std::int64_t size : kernel) require(size > 0, op, "kernel ", kernel, " must be positive");
  require(groups > 0 && in_channels % groups == 0 && out_channels % groups == 0, op, in_channels, " input and ",
          out_channels, " output channels cannot be divided into ", groups, " groups");
}

template <class Options>
constexpr bool is_transposed = requires(Options o) {
  o.output_padding;
};

/// Makes the weight, and the bias if the options have one. `op` is for messages.
template <class Options>
void initialize(const char* op, Parameter& weight, Parameter& bias, std::int64_t in_channels, std::int64_t out_channels,
                const Shape& kernel, const Options& options) {
  check_sizes(op, in_channels, out_channels, kernel, options.groups);
  Shape shape = is_transposed<Options> ? Shape{in_channels, out_channels / options.groups}
                                       : Shape{out_channels, in_channels / options.groups};
  for (const std::int64_t size : kernel) shape.push_back(size);
  weight = init::kaiming_uniform_(empty(shape), std::sqrt(5.0));
  const double bound = 1 / std::sqrt(static_cast<double>(init::fans_of(shape).in));
  if (options.bias) bias = init::uniform_(empty({out_channels}), -bound, bound);
}

template <class Options>
std::string text_of(const Tensor& weight, const Tensor& bias, const Options& options) {
  using Extent = decltype(options.stride);
  const std::int64_t first = weight.size(0), second = weight.size(1) * options.groups;
  const Shape kernel(weight.shape().begin() + 2, static_cast<std::size_t>(weight.dim() - 2));
  std::string text = is_transposed<Options> ? concat(first, ", ", second) : concat(second, ", ", first);
  text += concat(", kernel_size=", kernel, ", stride=", window_of(options.stride));
  if (options.padding != Extent(0)) text += concat(", padding=", window_of(options.padding));
  if constexpr (is_transposed<Options>)
    if (options.output_padding != Extent(0)) text += concat(", output_padding=", window_of(options.output_padding));
  if (options.dilation != Extent(1)) text += concat(", dilation=", window_of(options.dilation));
  if (options.groups != 1) text += concat(", groups=", options.groups);
  return bias.defined() ? text : text + ", bias=false";
}

/// The options with the output_padding that gives an output of this size.
template <class Options>
Options with_output_size(const char* op, const Tensor& x, const Tensor& weight, Options options, const Shape& size) {
  const int axes = weight.dim() - 2, ahead = x.dim() - axes;
  require(ahead == 1 || ahead == 2, op, "the input of shape ", x.shape(), " has rank ", x.dim(), ", it must be ",
          axes + 1, " or ", axes + 2);
  require(size.rank() == axes || size.rank() == x.dim(), op, "output_size ", size, " must have ", axes, " or ", x.dim(),
          " numbers");
  const Shape stride = window_of(options.stride), padding = window_of(options.padding);
  const Shape dilation = window_of(options.dilation);
  Shape added;
  for (int i = 0; i < axes; ++i) {
    const std::int64_t wanted = size[size.rank() - axes + i];
    const std::int64_t least =
        (x.size(ahead + i) - 1) * stride[i] - 2 * padding[i] + dilation[i] * (weight.size(2 + i) - 1) + 1;
    require(least <= wanted && wanted < least + stride[i], op, "output_size ", size, " has ", wanted, " for axis ", i,
            ", allowed are ", least, " to ", least + stride[i] - 1);
    added.push_back(wanted - least);
  }
  set_option(options.output_padding, added);
  return options;
}

}  // namespace

// Defines the members of a convolution layer `Layer`, which calls `function`. Its kernel size has the type
// Kernel.
#define CONVOLUTION_LAYER(Layer, Kernel, function)                                                                \
  Layer::Layer(std::int64_t in_channels, std::int64_t out_channels, Kernel kernel, const Layer##Options& options) \
      : options_(options) {                                                                                       \
    initialize(#Layer, weight, bias, in_channels, out_channels, window_of(kernel), options);                      \
    register_parameter("weight", weight);                                                                         \
    register_parameter("bias", bias);                                                                             \
  }                                                                                                               \
  Tensor Layer::forward(const Tensor& x) { return function(x, weight, bias, options_); }                          \
  std::string Layer::extra_repr() const { return text_of(weight, bias, options_); }

CONVOLUTION_LAYER(Conv1d, int, conv1d)
CONVOLUTION_LAYER(Conv2d, IntPair, conv2d)
CONVOLUTION_LAYER(Conv3d, IntTriple, conv3d)
CONVOLUTION_LAYER(ConvTranspose1d, int, conv_transpose1d)
CONVOLUTION_LAYER(ConvTranspose2d, IntPair, conv_transpose2d)
CONVOLUTION_LAYER(ConvTranspose3d, IntTriple, conv_transpose3d)
#undef CONVOLUTION_LAYER

Tensor ConvTranspose1d::forward(const Tensor& x, const Shape& output_size) {
  return conv_transpose1d(x, weight, bias, with_output_size("ConvTranspose1d", x, weight, options_, output_size));
}

Tensor ConvTranspose2d::forward(const Tensor& x, const Shape& output_size) {
  return conv_transpose2d(x, weight, bias, with_output_size("ConvTranspose2d", x, weight, options_, output_size));
}

Tensor ConvTranspose3d::forward(const Tensor& x, const Shape& output_size) {
  return conv_transpose3d(x, weight, bias, with_output_size("ConvTranspose3d", x, weight, options_, output_size));
}

Tensor Conv1d::operator()(const Tensor& x, const Epilogue& epilogue) {
  return has_hooks() ? epilogue((*this)(x)) : conv1d(x, weight, bias, options_, epilogue);
}

Tensor Conv2d::operator()(const Tensor& x, const Epilogue& epilogue) {
  return has_hooks() ? epilogue((*this)(x)) : conv2d(x, weight, bias, options_, epilogue);
}

}  // namespace crisol::nn
