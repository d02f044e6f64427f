#include "crisol/nn/pool.h"

#include "base/text.h"
#include "crisol/functions/pool.h"
#include "nn/repr.h"

namespace crisol::nn {

namespace {

template <class Options>
Options with_kernel(const char* layer, IntPair kernel, Options options) {
  require(options.kernel == IntPair(0) || options.kernel == kernel, layer, "the kernel is ", kernel,
          ", the options name another one: ", options.kernel);
  options.kernel = kernel;
  return options;
}

template <class Options>
std::string window_text(const Options& o) {
  return concat("kernel_size=", o.kernel, ", stride=", o.stride == IntPair(0) ? o.kernel : o.stride,
                ", padding=", o.padding);
}

}  // namespace

MaxPool2d::MaxPool2d(IntPair kernel, const MaxPool2dOptions& options)
    : options_(with_kernel("MaxPool2d", kernel, options)) {}
Tensor MaxPool2d::forward(const Tensor& x) { return max_pool2d(x, options_); }
std::string MaxPool2d::extra_repr() const {
  return concat(window_text(options_), ", dilation=", options_.dilation, ", ceil_mode=", word(options_.ceil_mode));
}

AvgPool2d::AvgPool2d(IntPair kernel, const AvgPool2dOptions& options)
    : options_(with_kernel("AvgPool2d", kernel, options)) {}
Tensor AvgPool2d::forward(const Tensor& x) { return avg_pool2d(x, options_); }
std::string AvgPool2d::extra_repr() const { return window_text(options_); }

Tensor AdaptiveAvgPool2d::forward(const Tensor& x) { return adaptive_avg_pool2d(x, output_); }
std::string AdaptiveAvgPool2d::extra_repr() const { return concat("output_size=", output_); }

}  // namespace crisol::nn
