// VGG networks.
#pragma once

#include <vector>

#include "crisol/nn/module.h"
#include "crisol/nn/pool.h"
#include "crisol/nn/sequential.h"

namespace crisol::nn {

/// Simonyan and Zisserman 2015, without batch norm, under torchvision's names: 3×3 convolutions with ReLU, max poolings
/// 2×2, adaptive average pooling to 7×7, two hidden layers of 4096 with dropout. x (N, 3, H, W), H and W at least 32
/// with five poolings; logits (N, classes).
class CRISOL_API VGG : public Module {
 public:
  /// Output channels of the convolutions in order; 0 stands for a max pooling.
  explicit VGG(const std::vector<int>& layers, std::int64_t classes = 1000, double dropout = 0.5);
  Tensor forward(const Tensor& x) override;

  Sequential features;        ///< Convolutions and poolings.
  AdaptiveAvgPool2d avgpool;  ///< To the size that the classifier takes.
  Sequential classifier;      ///< Linear layers with dropout.
};

/// torchvision's `vgg16`: 13 convolutions; 138,357,544 parameters with 1000 classes.
CRISOL_API VGG vgg16(std::int64_t classes = 1000);

}  // namespace crisol::nn
