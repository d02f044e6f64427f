// Layers one after another.
#pragma once

#include "crisol/nn/module.h"

namespace crisol::nn {

/// Feeds each layer's output to the next; a Conv2d or Linear with a ReLU behind it is one kernel, a BatchNorm2d with a
/// ReLU or ReLU6 one pass after eval(), unless one of the two has hooks. Children are named "0", "1", … as in PyTorch.
/// Layers are temporaries or named objects: a named one stays the same module as the layer of the sequence.
///
///     nn::Sequential net(nn::Linear(784, 128), nn::ReLU(), nn::Linear(128, 10));
class CRISOL_API Sequential : public Module {
 public:
  template <class... Layers, class = std::enable_if_t<detail::are_layers<Sequential, Layers...>>>
  explicit Sequential(const Layers&... layers) {
    (append(layers), ...);
  }

  /// Adds a layer at the end; returns *this.
  template <class Layer>
  Sequential& append(const Layer& layer) {
    register_module(std::to_string(size()), layer);
    return *this;
  }
  /// Puts another layer in the place of layer i, in all handles of this sequence.
  template <class Layer>
  void replace(std::size_t i, const Layer& layer) {
    check_class(std::to_string(i), layer, typeid(Layer));
    replace_child(std::to_string(i), nullptr, detail::copy_module<Layer>(layer), &detail::copy_module<Layer>);
  }

  /// Number of layers.
  std::size_t size() const noexcept { return named_children().size(); }
  /// Layer i. Throws invalid_argument if there is none.
  Module& operator[](std::size_t i) const { return module(std::to_string(i)); }

  Tensor forward(const Tensor& x) override;
};

}  // namespace crisol::nn
