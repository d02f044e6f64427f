#include "reference/conv2d.h"

namespace crisol::reference {

namespace {

// Calls visit(index in x, index in weight, index in y) for every product that a convolution sums.
template <class Visit>
void for_products(const Shape& x, const Shape& weight, const Conv2dOptions& o, Visit&& visit) {
  const Shape y = conv2d_shape(x, weight, o);
  const std::int64_t outputs = weight[0], channels = weight[1], kernel_h = weight[2], kernel_w = weight[3];
  for (std::int64_t n = 0; n < x[0]; ++n)
    for (std::int64_t k = 0; k < outputs; ++k)
      for (std::int64_t i = 0; i < y[2]; ++i)
        for (std::int64_t j = 0; j < y[3]; ++j)
          for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t r = 0; r < kernel_h; ++r)
              for (std::int64_t s = 0; s < kernel_w; ++s) {
                const std::int64_t h = i * o.stride.h - o.padding.h + r * o.dilation.h;
                const std::int64_t w = j * o.stride.w - o.padding.w + s * o.dilation.w;
                if (h < 0 || h >= x[2] || w < 0 || w >= x[3]) continue;
                const std::int64_t channel = k / (outputs / o.groups) * channels + c;
                visit(static_cast<std::size_t>(((n * x[1] + channel) * x[2] + h) * x[3] + w),
                      static_cast<std::size_t>(((k * channels + c) * kernel_h + r) * kernel_w + s),
                      static_cast<std::size_t>(((n * outputs + k) * y[2] + i) * y[3] + j));
              }
}

std::int64_t outputs_along(std::int64_t size, std::int64_t kernel, int stride, int padding, int dilation) {
  return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}

std::vector<double> zero_values(const Shape& shape) {
  return std::vector<double>(static_cast<std::size_t>(shape.numel()));
}

}  // namespace

Shape conv2d_shape(const Shape& x, const Shape& weight, const Conv2dOptions& o) {
  return {x[0], weight[0], outputs_along(x[2], weight[2], o.stride.h, o.padding.h, o.dilation.h),
          outputs_along(x[3], weight[3], o.stride.w, o.padding.w, o.dilation.w)};
}

std::vector<double> conv2d(const std::vector<double>& x, const Shape& x_shape, const std::vector<double>& weight,
                           const Shape& weight_shape, const std::vector<double>& bias, const Conv2dOptions& options) {
  const Shape shape = conv2d_shape(x_shape, weight_shape, options);
  std::vector<double> y = zero_values(shape);
  if (!bias.empty())
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto plane = static_cast<std::int64_t>(i) / (shape[2] * shape[3]);
      y[i] = bias[static_cast<std::size_t>(plane % shape[1])];
    }
  for_products(x_shape, weight_shape, options,
               [&](std::size_t at_x, std::size_t at_w, std::size_t at_y) { y[at_y] += x[at_x] * weight[at_w]; });
  return y;
}

std::vector<double> conv2d_backward_data(const std::vector<double>& dy, const std::vector<double>& weight,
                                         const Shape& weight_shape, const Shape& x_shape,
                                         const Conv2dOptions& options) {
  std::vector<double> dx = zero_values(x_shape);
  for_products(x_shape, weight_shape, options,
               [&](std::size_t at_x, std::size_t at_w, std::size_t at_y) { dx[at_x] += dy[at_y] * weight[at_w]; });
  return dx;
}

std::vector<double> conv2d_backward_weight(const std::vector<double>& dy, const std::vector<double>& x,
                                           const Shape& x_shape, const Shape& weight_shape,
                                           const Conv2dOptions& options) {
  std::vector<double> dw = zero_values(weight_shape);
  for_products(x_shape, weight_shape, options,
               [&](std::size_t at_x, std::size_t at_w, std::size_t at_y) { dw[at_w] += dy[at_y] * x[at_x]; });
  return dw;
}

}  // namespace crisol::reference
