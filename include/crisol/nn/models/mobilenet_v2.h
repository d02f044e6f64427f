// MobileNetV2.
#pragma once

#include "crisol/nn/module.h"
#include "crisol/nn/sequential.h"

namespace crisol::nn {

/// The network of Sandler et al. 2018 with width 1, with the names of torchvision's `mobilenet_v2`. It has a 3×3
/// convolution of stride 2, 17 inverted residual blocks (1×1 expansion, 3×3 depthwise, 1×1 projection), and a 1×1
/// convolution. Global average pooling, dropout and one linear layer follow. x is (N, 3, H, W), 224×224 in the
/// publication. The result is logits (N, classes). With 1000 classes it has 3,504,872 parameters.
class CRISOL_API MobileNetV2 : public Module {
 public:
  explicit MobileNetV2(std::int64_t classes = 1000, double dropout = 0.2);
  Tensor forward(const Tensor& x) override;

  Sequential features;    ///< All convolutions.
  Sequential classifier;  ///< Dropout and the linear layer.
};

}  // namespace crisol::nn
