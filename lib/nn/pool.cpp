#include "crisol/nn/pool.h"

#include "base/text.h"
#include "crisol/functions/pool.h"
#include "nn/repr.h"

namespace crisol::nn {

namespace {

template <class Extent, class Options>
Options with_kernel(const char* layer, Extent kernel, Options options) {
  require(options.kernel == Extent(0) || options.kernel == kernel, layer, "the kernel is ", kernel,
          ", the options name another one: ", options.kernel);
  options.kernel = kernel;
  return options;
}

/// Prints one number if all are equal, as in PyTorch's MaxPool2d(2).
template <class Extent>
std::string short_text(Extent extent) {
  return extent == Extent(extent.w) ? concat(extent.w) : concat(extent);
}

template <class Options>
std::string window_text(const Options& o) {
  const auto stride = o.stride == decltype(o.stride)(0) ? o.kernel : o.stride;
  return concat("kernel_size=", short_text(o.kernel), ", stride=", short_text(stride),
                ", padding=", short_text(o.padding));
}

template <class Options>
std::string max_pool_text(const Options& o) {
  return concat(window_text(o), ", dilation=", short_text(o.dilation), ", ceil_mode=", word(o.ceil_mode));
}

}  // namespace

// Defines the members of a pooling layer `Layer`, which calls `function`. `text` shows its
// options.
#define POOLING_LAYER(Layer, Kernel, function, text)                                                             \
  Layer::Layer(Kernel kernel, const Layer##Options& options) : options_(with_kernel(#Layer, kernel, options)) {} \
  Tensor Layer::forward(const Tensor& x) { return function(x, options_); }                                       \
  std::string Layer::extra_repr() const { return text(options_); }

POOLING_LAYER(MaxPool2d, IntPair, max_pool2d, max_pool_text)
POOLING_LAYER(MaxPool3d, IntTriple, max_pool3d, max_pool_text)
POOLING_LAYER(AvgPool2d, IntPair, avg_pool2d, window_text)
POOLING_LAYER(AvgPool3d, IntTriple, avg_pool3d, window_text)
#undef POOLING_LAYER

Tensor AdaptiveAvgPool2d::forward(const Tensor& x) { return adaptive_avg_pool2d(x, output_); }
std::string AdaptiveAvgPool2d::extra_repr() const { return concat("output_size=", output_); }

Tensor AdaptiveAvgPool3d::forward(const Tensor& x) { return adaptive_avg_pool3d(x, output_); }
std::string AdaptiveAvgPool3d::extra_repr() const { return concat("output_size=", output_); }

}  // namespace crisol::nn
