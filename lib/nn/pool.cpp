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

MaxPool2d::MaxPool2d(IntPair kernel, const MaxPool2dOptions& options)
    : options_(with_kernel("MaxPool2d", kernel, options)) {}
Tensor MaxPool2d::forward(const Tensor& x) { return max_pool2d(x, options_); }
std::string MaxPool2d::extra_repr() const { return max_pool_text(options_); }

AvgPool2d::AvgPool2d(IntPair kernel, const AvgPool2dOptions& options)
    : options_(with_kernel("AvgPool2d", kernel, options)) {}
Tensor AvgPool2d::forward(const Tensor& x) { return avg_pool2d(x, options_); }
std::string AvgPool2d::extra_repr() const { return window_text(options_); }

Tensor AdaptiveAvgPool2d::forward(const Tensor& x) { return adaptive_avg_pool2d(x, output_); }
std::string AdaptiveAvgPool2d::extra_repr() const { return concat("output_size=", output_); }

MaxPool3d::MaxPool3d(IntTriple kernel, const MaxPool3dOptions& options)
    : options_(with_kernel("MaxPool3d", kernel, options)) {}
Tensor MaxPool3d::forward(const Tensor& x) { return max_pool3d(x, options_); }
std::string MaxPool3d::extra_repr() const { return max_pool_text(options_); }

AvgPool3d::AvgPool3d(IntTriple kernel, const AvgPool3dOptions& options)
    : options_(with_kernel("AvgPool3d", kernel, options)) {}
Tensor AvgPool3d::forward(const Tensor& x) { return avg_pool3d(x, options_); }
std::string AvgPool3d::extra_repr() const { return window_text(options_); }

Tensor AdaptiveAvgPool3d::forward(const Tensor& x) { return adaptive_avg_pool3d(x, output_); }
std::string AdaptiveAvgPool3d::extra_repr() const { return concat("output_size=", output_); }

}  // namespace crisol::nn
