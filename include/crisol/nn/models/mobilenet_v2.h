// MobileNetV2.
#pragma once

#include "crisol/nn/module.h"
#include "crisol/nn/sequential.h"

namespace crisol::nn {

/// Sandler et al. 2018 with width 1, under torchvision's names (`mobilenet_v2`): 17 inverted residual blocks (1×1
/// expansion, 3×3 depthwise, 1×1 projection) between a 3×3 convolution of stride 2 and a 1×1 one, global average
/// pooling, dropout, one linear layer. x (N, 3, H, W), 224×224 as published; logits (N, classes). 3,504,872 parameters
/// with 1000 classes.
class CRISOL_API MobileNetV2 : public Module {
 public:
  explicit MobileNetV2(std::int64_t classes = 1000, double dropout = 0.2);
  Tensor forward(const Tensor& x) override;

  Sequential features;    ///< All convolutions.
  Sequential classifier;  ///< Dropout and the linear layer.
};

}  // namespace crisol::nn
