#include "reference/images/conv2d.h"

#include "reference/images/volumes.h"

namespace crisol::reference {

namespace {

Conv3dOptions volume_of(const Conv2dOptions& o) {
  return {.stride = {1, o.stride.h, o.stride.w},
          .padding = {0, o.padding.h, o.padding.w},
          .dilation = {1, o.dilation.h, o.dilation.w},
          .groups = o.groups};
}

// Along an axis: calls visit(position of the window, tap, element of x) for the taps that are inside of x.
template <class Visit>
void for_taps(std::int64_t outputs, std::int64_t taps, std::int64_t size, int stride, int padding, int dilation,
              Visit&& visit) {
  for (std::int64_t i = 0; i < outputs; ++i)
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::int64_t at = i * stride - padding + tap * dilation;
      if (at >= 0 && at < size) visit(i, tap, at);
    }
}

// Calls visit(index in x, index in weight, index in y) for every product that a convolution sums.
template <class Visit>
void for_products(const Shape& x, const Shape& weight, const Conv3dOptions& o, Visit&& visit) {
  const Shape y = conv3d_shape(x, weight, o);
  const std::int64_t outputs = weight[0], channels = weight[1];
  const auto index = [](const Shape& s, std::int64_t a, std::int64_t b, std::int64_t d, std::int64_t h,
                        std::int64_t w) {
    return static_cast<std::size_t>((((a * s[1] + b) * s[2] + d) * s[3] + h) * s[4] + w);
  };
  const auto for_volume = [&](std::int64_t n, std::int64_t k, std::int64_t c) {
    const std::int64_t channel = k / (outputs / o.groups) * channels + c;
    for_taps(y[2], weight[2], x[2], o.stride.d, o.padding.d, o.dilation.d, [&](auto l, auto q, auto d) {
      for_taps(y[3], weight[3], x[3], o.stride.h, o.padding.h, o.dilation.h, [&](auto i, auto r, auto h) {
        for_taps(y[4], weight[4], x[4], o.stride.w, o.padding.w, o.dilation.w, [&](auto j, auto s, auto w) {
          visit(index(x, n, channel, d, h, w), index(weight, k, c, q, r, s), index(y, n, k, l, i, j));
        });
      });
    });
  };
  for (std::int64_t n = 0; n < x[0]; ++n)
    for (std::int64_t k = 0; k < outputs; ++k)
      for (std::int64_t c = 0; c < channels; ++c) for_volume(n, k, c);
}

std::int64_t outputs_along(std::int64_t size, std::int64_t kernel, int stride, int padding, int dilation) {
  return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}

std::vector<double> zero_values(const Shape& shape) {
  return std::vector<double>(static_cast<std::size_t>(shape.numel()));
}

}  // namespace

Shape conv3d_shape(const Shape& x, const Shape& weight, const Conv3dOptions& o) {
  return {x[0], weight[0], outputs_along(x[2], weight[2], o.stride.d, o.padding.d, o.dilation.d),
          outputs_along(x[3], weight[3], o.stride.h, o.padding.h, o.dilation.h),
          outputs_along(x[4], weight[4], o.stride.w, o.padding.w, o.dilation.w)};
}

std::vector<double> conv3d(const std::vector<double>& x, const Shape& x_shape, const std::vector<double>& weight,
                           const Shape& weight_shape, const std::vector<double>& bias, const Conv3dOptions& options) {
  const Shape shape = conv3d_shape(x_shape, weight_shape, options);
  std::vector<double> y = zero_values(shape);
  if (!bias.empty())
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto volume = static_cast<std::int64_t>(i) / (shape[2] * shape[3] * shape[4]);
      y[i] = bias[static_cast<std::size_t>(volume % shape[1])];
    }
  for_products(x_shape, weight_shape, options,
               [&](std::size_t at_x, std::size_t at_w, std::size_t at_y) { y[at_y] += x[at_x] * weight[at_w]; });
  return y;
}

std::vector<double> conv3d_backward_data(const std::vector<double>& dy, const std::vector<double>& weight,
                                         const Shape& weight_shape, const Shape& x_shape,
                                         const Conv3dOptions& options) {
  std::vector<double> dx = zero_values(x_shape);
  for_products(x_shape, weight_shape, options,
               [&](std::size_t at_x, std::size_t at_w, std::size_t at_y) { dx[at_x] += dy[at_y] * weight[at_w]; });
  return dx;
}

std::vector<double> conv3d_backward_weight(const std::vector<double>& dy, const std::vector<double>& x,
                                           const Shape& x_shape, const Shape& weight_shape,
                                           const Conv3dOptions& options) {
  std::vector<double> dw = zero_values(weight_shape);
  for_products(x_shape, weight_shape, options,
               [&](std::size_t at_x, std::size_t at_w, std::size_t at_y) { dw[at_w] += dy[at_y] * x[at_x]; });
  return dw;
}

Shape conv2d_shape(const Shape& x, const Shape& weight, const Conv2dOptions& o) {
  return images_of(conv3d_shape(volume_of(x), volume_of(weight), volume_of(o)));
}

std::vector<double> conv2d(const std::vector<double>& x, const Shape& x_shape, const std::vector<double>& weight,
                           const Shape& weight_shape, const std::vector<double>& bias, const Conv2dOptions& options) {
  return conv3d(x, volume_of(x_shape), weight, volume_of(weight_shape), bias, volume_of(options));
}

std::vector<double> conv2d_backward_data(const std::vector<double>& dy, const std::vector<double>& weight,
                                         const Shape& weight_shape, const Shape& x_shape,
                                         const Conv2dOptions& options) {
  return conv3d_backward_data(dy, weight, volume_of(weight_shape), volume_of(x_shape), volume_of(options));
}

std::vector<double> conv2d_backward_weight(const std::vector<double>& dy, const std::vector<double>& x,
                                           const Shape& x_shape, const Shape& weight_shape,
                                           const Conv2dOptions& options) {
  return conv3d_backward_weight(dy, x, volume_of(x_shape), volume_of(weight_shape), volume_of(options));
}

}  // namespace crisol::reference
