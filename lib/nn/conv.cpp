#include "crisol/nn/conv.h"

#include <cmath>

#include "base/text.h"
#include "crisol/functions/conv.h"
#include "crisol/nn/init.h"

namespace crisol::nn {

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, IntPair kernel, const Conv2dOptions& options)
    : options_(options) {
  require(in_channels > 0 && out_channels > 0, "Conv2d", "in_channels ", in_channels, " and out_channels ",
          out_channels, " must be positive");
  require(kernel.h > 0 && kernel.w > 0, "Conv2d", "kernel ", kernel, " must be positive");
  require(options.groups > 0 && in_channels % options.groups == 0 && out_channels % options.groups == 0, "Conv2d",
          in_channels, " input and ", out_channels, " output channels cannot be divided into ", options.groups,
          " groups");
  const Shape shape{out_channels, in_channels / options.groups, kernel.h, kernel.w};
  weight = init::kaiming_uniform_(empty(shape), std::sqrt(5.0));
  const double bound = 1 / std::sqrt(static_cast<double>(init::fans_of(shape).in));
  if (options.bias) bias = init::uniform_(empty({out_channels}), -bound, bound);
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

}  // namespace crisol::nn
