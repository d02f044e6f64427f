// Residual networks.
#pragma once

#include <array>

#include "crisol/nn/conv.h"
#include "crisol/nn/linear.h"
#include "crisol/nn/module.h"
#include "crisol/nn/norm.h"
#include "crisol/nn/sequential.h"

namespace crisol::nn {

/// He et al. 2016 with blocks of two 3×3 convolutions, under torchvision's names: a 7×7 convolution of stride 2, max
/// pooling, four stages of 64, 128, 256 and 512 channels, the last three of which begin with stride 2, global average
/// pooling, one linear layer. x (N, 3, H, W), 224×224 as published; logits (N, classes).
class CRISOL_API ResNet : public Module {
 public:
  /// Blocks of each stage.
  explicit ResNet(const std::array<int, 4>& blocks, std::int64_t classes = 1000);
  Tensor forward(const Tensor& x) override;

  Conv2d conv1;       ///< 7×7.
  BatchNorm2d bn1;    ///< Behind conv1.
  Sequential layer1;  ///< The first stage.
  Sequential layer2;  ///< The second one.
  Sequential layer3;  ///< The third one.
  Sequential layer4;  ///< The last one.
  Linear fc;          ///< Logits: see replace_module for other classes.
};

/// torchvision's `resnet18`: two blocks a stage; 11,689,512 parameters with 1000 classes.
CRISOL_API ResNet resnet18(std::int64_t classes = 1000);

}  // namespace crisol::nn
