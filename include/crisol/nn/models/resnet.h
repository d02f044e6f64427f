// Residual networks.
#pragma once

#include <array>

#include "crisol/nn/conv.h"
#include "crisol/nn/linear.h"
#include "crisol/nn/module.h"
#include "crisol/nn/norm.h"
#include "crisol/nn/sequential.h"

namespace crisol::nn {

/// The networks of He et al. 2016 with blocks of two 3×3 convolutions, with torchvision's names. They have a 7×7
/// convolution of stride 2, max pooling, and four stages of 64, 128, 256 and 512 channels. The last three stages start
/// with stride 2. Global average pooling and one linear layer follow. x is (N, 3, H, W), 224×224 in the publication.
/// The result is logits (N, classes).
class CRISOL_API ResNet : public Module {
 public:
  /// `blocks` are the numbers of blocks of the stages.
  explicit ResNet(const std::array<int, 4>& blocks, std::int64_t classes = 1000);
  Tensor forward(const Tensor& x) override;

  Conv2d conv1;       ///< 7×7.
  BatchNorm2d bn1;    ///< After conv1.
  Sequential layer1;  ///< The first stage.
  Sequential layer2;  ///< The second stage.
  Sequential layer3;  ///< The third stage.
  Sequential layer4;  ///< The last stage.
  Linear fc;          ///< Gives the logits. replace_module changes the number of classes.
};

/// torchvision's `resnet18`, with two blocks per stage. With 1000 classes it has 11,689,512 parameters.
CRISOL_API ResNet resnet18(std::int64_t classes = 1000);

}  // namespace crisol::nn
