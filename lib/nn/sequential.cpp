#include "crisol/nn/sequential.h"

#include <typeinfo>

#include "crisol/nn/activation.h"
#include "crisol/nn/conv.h"
#include "crisol/nn/linear.h"
#include "crisol/nn/norm.h"

namespace crisol::nn {

namespace {

// The layer if its class is exactly `Layer`, or null. A derived class may have its own forward.
template <class Layer>
Layer* as(Module& module) {
  return typeid(module) == typeid(Layer) ? static_cast<Layer*>(&module) : nullptr;
}

// If the layer's class is `Layer`, replaces x by epilogue(layer(x)).
template <class Layer>
bool pass_through(Module& module, Tensor& x, const Epilogue& epilogue) {
  Layer* layer = as<Layer>(module);
  if (layer != nullptr) x = (*layer)(x, epilogue);
  return layer != nullptr;
}

// Replaces x by activation(layer(x)), if one call for both is less work than two calls.
bool pass_both(Module& layer, Module& activation, Tensor& x) {
  static const Epilogue to_six = fuse([](const Expr& y) { return relu6(y); }, "relu6").epilogue();
  if (layer.has_hooks() || activation.has_hooks()) return false;
  if (as<ReLU>(activation) != nullptr)
    return pass_through<Conv2d>(layer, x, relu_epilogue()) || pass_through<Linear>(layer, x, relu_epilogue()) ||
           pass_through<Conv1d>(layer, x, relu_epilogue()) || pass_through<BatchNorm2d>(layer, x, relu_epilogue());
  return as<ReLU6>(activation) != nullptr && pass_through<BatchNorm2d>(layer, x, to_six);
}

}  // namespace

Tensor Sequential::forward(const Tensor& x) {
  const auto& layers = named_children();
  Tensor y = x;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Module& layer = *layers[i].second;
    if (i + 1 < layers.size() && pass_both(layer, *layers[i + 1].second, y))
      ++i;
    else
      y = layer(y);
  }
  return y;
}

}  // namespace crisol::nn
