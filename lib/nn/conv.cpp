#include "crisol/nn/conv.h"

#include <cmath>

#include "base/text.h"
#include "crisol/functions/conv.h"
#include "crisol/nn/init.h"

namespace crisol::nn {

namespace {

void check_sizes(const char* op, std::int64_t in_channels, std::int64_t out_channels, IntPair kernel, int groups) {
  require(in_channels > 0 && out_channels > 0, op, "in_channels ", in_channels, " and out_channels ", out_channels,
          " must be positive");
  require(kernel.h > 0 && kernel.w > 0, op, "kernel ", kernel, " must be positive");
  require(groups > 0 && in_channels % groups == 0 && out_channels % groups == 0, op, in_channels, " input and ",
          out_channels, " output channels cannot be divided into ", groups, " groups");
}

/// A new weight, and a new bias if there is one.
void initialize(Parameter& weight, Parameter& bias, const Shape& shape, std::int64_t out_channels, bool has_bias) {
  weight = init::kaiming_uniform_(empty(shape), std::sqrt(5.0));
  const double bound = 1 / std::sqrt(static_cast<double>(init::fans_of(shape).in));
  if (has_bias) bias = init::uniform_(empty({out_channels}), -bound, bound);
}

}  // namespace

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, IntPair kernel, const Conv2dOptions& options)
    : options_(options) {
  check_sizes("Conv2d", in_channels, out_channels, kernel, options.groups);
  initialize(weight, bias, {out_channels, in_channels / options.groups, kernel.h, kernel.w}, out_channels,
             options.bias);
  register_parameter("weight", weight);
  register_parameter("bias", bias);
}

Tensor Conv2d::forward(const Tensor& x) { return conv2d(x, weight, bias, options_); }

Tensor Conv2d::operator()(const Tensor& x, const Epilogue& epilogue) {
  return has_hooks() ? epilogue((*this)(x)) : conv2d(x, weight, bias, options_, epilogue);
}

std::string Conv2d::extra_repr() const {
  const Shape& shape = weight.shape();
  std::string text = concat(shape[1] * options_.groups, ", ", shape[0], ", kernel_size=(", shape[2], ", ", shape[3],
                            "), stride=", options_.stride);
  if (options_.padding != IntPair(0)) text += concat(", padding=", options_.padding);
  if (options_.dilation != IntPair(1)) text += concat(", dilation=", options_.dilation);
  if (options_.groups != 1) text += concat(", groups=", options_.groups);
  return bias.defined() ? text : text + ", bias=false";
}

ConvTranspose2d::ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels, IntPair kernel,
                                 const ConvTranspose2dOptions& options)
    : options_(options) {
  check_sizes("ConvTranspose2d", in_channels, out_channels, kernel, options.groups);
  initialize(weight, bias, {in_channels, out_channels / options.groups, kernel.h, kernel.w}, out_channels,
             options.bias);
  register_parameter("weight", weight);
  register_parameter("bias", bias);
}

Tensor ConvTranspose2d::forward(const Tensor& x) { return conv_transpose2d(x, weight, bias, options_); }

std::string ConvTranspose2d::extra_repr() const {
  const Shape& shape = weight.shape();
  std::string text = concat(shape[0], ", ", shape[1] * options_.groups, ", kernel_size=(", shape[2], ", ", shape[3],
                            "), stride=", options_.stride);
  if (options_.padding != IntPair(0)) text += concat(", padding=", options_.padding);
  if (options_.output_padding != IntPair(0)) text += concat(", output_padding=", options_.output_padding);
  if (options_.dilation != IntPair(1)) text += concat(", dilation=", options_.dilation);
  if (options_.groups != 1) text += concat(", groups=", options_.groups);
  return bias.defined() ? text : text + ", bias=false";
}

}  // namespace crisol::nn
