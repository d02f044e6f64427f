// Normalisation layers, and initial values.
#include "arguments.h"
#include "nn/module.h"

namespace crisol::python {

namespace {

template <class L, class Base>
LayerClass<L, Base> bind_batch_norm(nb::module_& m, const char* name, const char* text) {
  auto layer = bind_layer<L, Base>(m, name, text);
  layer.def(
      "__init__",
      [](nb::pointer_and_handle<L> self, std::int64_t features, double eps, double momentum, bool affine, bool track) {
        construct(self, features, nn::BatchNorm2dOptions{eps, momentum, affine, track});
      },
      "num_features"_a, "eps"_a = 1e-5, "momentum"_a = 0.1, "affine"_a = true, "track_running_stats"_a = true,
      kept_arguments);
  return layer;
}

/// A function that fills a tensor with random numbers. It takes the handle, so that Python gets the same object back.
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
  auto batch = bind_batch_norm<nn::BatchNorm2d, nn::Module>(
      m, "BatchNorm2d",
      "(x - mean) / sqrt(var + eps) · weight + bias for each channel of x (N, num_features, H, W). In training, mean "
      "and var are those of the batch, otherwise the running statistics.");
  bind_parameter<&nn::BatchNorm2d::weight>(batch, "weight", "(num_features), or None.");
  bind_parameter<&nn::BatchNorm2d::bias>(batch, "bias", "(num_features), or None.");
  bind_batch_norm<nn::BatchNorm3d, nn::BatchNorm2d>(m, "BatchNorm3d",
                                                    "BatchNorm2d for volumes x (N, num_features, D, H, W).");
  auto layer = bind_layer<nn::LayerNorm>(m, "LayerNorm",
                                         "(x - mean) / sqrt(var + eps) · weight + bias over the last axes of x, which "
                                         "have the sizes normalized_shape.");
  layer.def(
      "__init__",
      [](nb::pointer_and_handle<nn::LayerNorm> self, const Shape& shape, double eps, bool affine) {
        construct(self, shape, nn::LayerNormOptions{eps, affine});
      },
      "normalized_shape"_a, "eps"_a = 1e-5, "elementwise_affine"_a = true, kept_arguments);
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
