// The small CNN of the MNIST sample.
#pragma once

#include "crisol/nn/conv.h"
#include "crisol/nn/linear.h"
#include "crisol/nn/module.h"

namespace crisol::nn {

/// A small network for images x (N, in_channels, 28, 28). Its result is logits (N, classes). The layers are:
/// Conv2d(in_channels → 32, 3×3, padding 1), ReLU, MaxPool 2×2,
/// Conv2d(32 → 64, 3×3, padding 1), ReLU, MaxPool 2×2,
/// flatten to 64·7·7, Linear(128), ReLU, Linear(classes).
class CRISOL_API SimpleCNN : public Module {
 public:
  explicit SimpleCNN(std::int64_t in_channels = 1, std::int64_t classes = 10);
  Tensor forward(const Tensor& x) override;

  Conv2d conv1;  ///< To 32 channels.
  Conv2d conv2;  ///< To 64 channels.
  Linear fc1;    ///< To 128 units.
  Linear fc2;    ///< To the logits.
};

}  // namespace crisol::nn
