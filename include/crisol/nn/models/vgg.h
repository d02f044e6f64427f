// VGG networks.
#pragma once

#include <vector>

#include "crisol/nn/module.h"
#include "crisol/nn/pool.h"
#include "crisol/nn/sequential.h"

namespace crisol::nn {

/// The networks of Simonyan and Zisserman 2015 without batch norm, with torchvision's names. They have 3×3 convolutions
/// with ReLU, 2×2 max poolings, adaptive average pooling to 7×7, and two hidden layers of 4096 units with dropout. x is
/// (N, 3, H, W). With five poolings, H and W are at least 32. The result is logits (N, classes).
class CRISOL_API VGG : public Module {
 public:
  /// `layers` are the output channels of the convolutions, in order. 0 means a max pooling.
  explicit VGG(const std::vector<int>& layers, std::int64_t classes = 1000, double dropout = 0.5);
  Tensor forward(const Tensor& x) override;

  Sequential features;        ///< Convolutions and poolings.
  AdaptiveAvgPool2d avgpool;  ///< Pools to the size that the classifier takes.
  Sequential classifier;      ///< Linear layers with dropout.
};

/// torchvision's `vgg16`: 13 convolutions; 138,357,544 parameters with 1000 classes.
CRISOL_API VGG vgg16(std::int64_t classes = 1000);

}  // namespace crisol::nn
