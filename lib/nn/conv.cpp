#include "crisol/nn/conv.h"

#include <cmath>

#include "base/text.h"
#include "crisol/functions/conv.h"
#include "crisol/nn/init.h"

namespace crisol::nn {

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, IntPair kernel, const Conv2dOptions& options,
               bool with_bias)
    : options_(options) {
  require(in_channels > 0 && out_channels > 0, "Conv2d", "in_channels ", in_channels, " and out_channels ",
          out_channels, " must be positive");
  require(kernel.h > 0 && kernel.w > 0, "Conv2d", "kernel ", kernel, " must be positive");
  require(options.groups > 0 && in_channels % options.groups == 0 && out_channels % options.groups == 0, "Conv2d",
          in_channels, " input and ", out_channels, " output channels cannot be divided into ", options.groups,
          " groups");
  const Shape shape{out_channels, in_channels / options.groups, kernel.h, kernel.w};
  weight = register_parameter("weight", init::kaiming_uniform_(empty(shape), std::sqrt(5.0)));
  if (!with_bias) return;
  const double bound = 1 / std::sqrt(static_cast<double>(init::fans_of(shape).in));
  bias = register_parameter("bias", init::uniform_(empty({out_channels}), -bound, bound));
}

Tensor Conv2d::forward(const Tensor& x) { return conv2d(x, weight, bias, options_); }

Tensor Conv2d::forward(const Tensor& x, const Epilogue& epilogue) {
  return conv2d(x, weight, bias, options_, epilogue);
}

}  // namespace crisol::nn
