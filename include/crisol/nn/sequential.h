// Layers one after another.
#pragma once

#include "crisol/nn/module.h"

namespace crisol::nn {

/// Feeds each layer's output to the next; a Conv2d or Linear with a ReLU behind it is one kernel, a BatchNorm2d with a
/// ReLU or ReLU6 one pass after eval(). Children are named "0", "1", … as in PyTorch. Takes its layers over: one that
/// has a name is given with std::move.
///
///     nn::Sequential net(nn::Linear(784, 128), nn::ReLU(), nn::Linear(128, 10));
class CRISOL_API Sequential : public Module {
 public:
  template <class... Layers, class = std::enable_if_t<(std::is_base_of_v<Module, Layers> && ...)>>
  explicit Sequential(Layers&&... layers) {
    (append(std::forward<Layers>(layers)), ...);
  }
  Sequential(Sequential&&) = default;
  Sequential& operator=(Sequential&&) = default;

  /// Adds a layer at the end; returns *this.
  template <class Layer>
  Sequential& append(Layer&& layer) {
    register_module(std::to_string(named_children().size()), std::forward<Layer>(layer));
    return *this;
  }

  Tensor forward(const Tensor& x) override;
};

}  // namespace crisol::nn
