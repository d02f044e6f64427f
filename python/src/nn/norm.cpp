// Normalisation layers, and initial values.
#include "arguments.h"
#include "nn/module.h"

namespace crisol::python {

namespace {

/// Binds a layer with BatchNorm2dOptions or InstanceNormOptions, and their defaults.
template <class Options, class L, class Base>
LayerClass<L, Base> bind_channel_norm(nb::module_& m, const char* name, const char* text) {
  constexpr Options defaults;
  auto layer = bind_layer<L, Base>(m, name, text);
  layer.def(
      "__init__",
      [](nb::pointer_and_handle<L> self, std::int64_t features, double eps, std::optional<double> momentum,
         Truth affine, Truth track, nb::handle, nb::handle, Truth bias) {
        construct(self, features, Options{eps, momentum, affine, track, bias});
      },
      "num_features"_a, "eps"_a = defaults.eps, "momentum"_a.none() = defaults.momentum,
      "affine"_a.none() = defaults.affine, "track_running_stats"_a.none() = defaults.track_running_stats,
      "device"_a = nb::none(), "dtype"_a = nb::none(), nb::kw_only(), "bias"_a.none() = true, kept_and_moved<5>);
  layer.def("_made_with", [](const L& self) {
    const nn::BatchNorm2dOptions& o = self.options();
    return nb::make_tuple(self.num_features(), o.eps, o.momentum, o.affine, o.track_running_stats, o.bias);
  });
  if constexpr (std::is_same_v<Base, nn::Module>) {
    bind_parameter<&L::weight>(layer, "weight", "(num_features), or None.");
    bind_parameter<&L::bias>(layer, "bias", "(num_features), or None.");
  }
  return layer;
}

/// Binds a function that fills a tensor with random numbers. It takes the Python object, and returns the same object.
template <auto fill>
void bind_fill(nb::module_& m, const char* name, const char* first, const char* second) {
  m.def(
      name,
      [](Tensor& x, double a, double b) -> Tensor& {
        const NoGrad no_grad;
        return fill(x, a, b), x;
      },
      "tensor"_a, nb::arg(first), nb::arg(second), Unlocked(), itself);
}

}  // namespace

void bind_norm_layers(nb::module_& m) {
  using nn::BatchNorm2d, nn::InstanceNorm2d, nn::BatchNorm2dOptions, nn::InstanceNormOptions;
  bind_channel_norm<BatchNorm2dOptions, BatchNorm2d, nn::Module>(
      m, "BatchNorm2d",
      "(x - mean) / sqrt(var + eps) · weight + bias for each channel of x (N, num_features, H, W). In training, mean "
      "and var are those of the batch, otherwise the running statistics.");
  bind_channel_norm<BatchNorm2dOptions, nn::BatchNorm1d, BatchNorm2d>(
      m, "BatchNorm1d", "BatchNorm2d for x (N, num_features) or sequences x (N, num_features, L).");
  bind_channel_norm<BatchNorm2dOptions, nn::BatchNorm3d, BatchNorm2d>(
      m, "BatchNorm3d", "BatchNorm2d for volumes x (N, num_features, D, H, W).");
  bind_channel_norm<InstanceNormOptions, InstanceNorm2d, nn::Module>(
      m, "InstanceNorm2d",
      "(x - mean) / sqrt(var + eps) · weight + bias for each channel of each image of x (N, num_features, H, W), or of "
      "one image (num_features, H, W).");
  bind_channel_norm<InstanceNormOptions, nn::InstanceNorm1d, InstanceNorm2d>(
      m, "InstanceNorm1d", "InstanceNorm2d for sequences x (N, num_features, L) or (num_features, L).");
  bind_channel_norm<InstanceNormOptions, nn::InstanceNorm3d, InstanceNorm2d>(
      m, "InstanceNorm3d", "InstanceNorm2d for volumes x (N, num_features, D, H, W) or (num_features, D, H, W).");
  auto group = bind_layer<nn::GroupNorm>(m, "GroupNorm",
                                         "(x - mean) / sqrt(var + eps) · weight + bias with the statistics of "
                                         "num_groups groups of the channels of x (N, num_channels, …).");
  group.def(
      "__init__",
      [](nb::pointer_and_handle<nn::GroupNorm> self, std::int64_t groups, std::int64_t channels, double eps,
         Truth affine, nb::handle, nb::handle, Truth bias) {
        construct(self, groups, channels, nn::LayerNormOptions{eps, affine, bias});
      },
      "num_groups"_a, "num_channels"_a, "eps"_a = 1e-5, "affine"_a.none() = true, "device"_a = nb::none(),
      "dtype"_a = nb::none(), nb::kw_only(), "bias"_a.none() = true, kept_and_moved<4>);
  group.def("_made_with", [](const nn::GroupNorm& self) {
    return nb::make_tuple(self.num_groups(), self.num_channels(), self.eps(), self.weight.defined(),
                          self.bias.defined() || !self.weight.defined());
  });
  bind_parameter<&nn::GroupNorm::weight>(group, "weight", "(num_channels), or None.");
  bind_parameter<&nn::GroupNorm::bias>(group, "bias", "(num_channels), or None.");
  auto layer = bind_layer<nn::LayerNorm>(m, "LayerNorm",
                                         "(x - mean) / sqrt(var + eps) · weight + bias over the last axes of x, which "
                                         "have the sizes normalized_shape.");
  layer.def(
      "__init__",
      [](nb::pointer_and_handle<nn::LayerNorm> self, const Shape& shape, double eps, Truth affine, Truth bias,
         nb::handle, nb::handle) {
        construct(self, shape, nn::LayerNormOptions{eps, affine, bias});
      },
      "normalized_shape"_a, "eps"_a = 1e-5, "elementwise_affine"_a.none() = true, "bias"_a.none() = true,
      "device"_a = nb::none(), "dtype"_a = nb::none(), kept_and_moved<4>);
  layer.def("_made_with", [](const nn::LayerNorm& self) {
    return nb::make_tuple(self.normalized_shape(), self.eps(), self.weight.defined(),
                          self.bias.defined() || !self.weight.defined());
  });
  bind_parameter<&nn::LayerNorm::weight>(layer, "weight", "normalized_shape, or None.");
  bind_parameter<&nn::LayerNorm::bias>(layer, "bias", "normalized_shape, or None.");
}

void bind_init(nb::module_& m) {
  m.def(
      "_fans",
      [](const Shape& shape) {
        const nn::init::Fans fans = nn::init::fans_of(shape);
        return std::make_pair(fans.in, fans.out);
      },
      "shape"_a);
  bind_fill<&nn::init::uniform_>(m, "_uniform_", "a", "b");
  bind_fill<&nn::init::normal_>(m, "_normal_", "mean", "std");
}

}  // namespace crisol::python
