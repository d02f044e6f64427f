// Layers one after another.
#pragma once

#include "crisol/nn/module.h"

namespace crisol::nn {

/// Gives the output of each layer to the next layer. A Conv1d, Conv2d or Linear and a following ReLU run as one
/// kernel. After eval(), a BatchNorm2d and a following ReLU or ReLU6 run as one pass. Layers with hooks run separately.
/// Children are named "0", "1", … as in PyTorch. A layer may be a temporary or a named object. A named object and the
/// layer of the sequence are the same module.
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
  /// Replaces layer i, in all handles of this sequence.
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
