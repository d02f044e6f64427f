// AlexNet.
#pragma once

#include "crisol/nn/linear.h"
#include "crisol/nn/module.h"
#include "crisol/nn/pool.h"
#include "crisol/nn/sequential.h"

namespace crisol::nn {

/// AlexNet in the form of Krizhevsky 2014, under torchvision's names (`alexnet`): five convolutions with three max
/// poolings, adaptive average pooling to 6×6, two hidden layers of 4096 with dropout. x (N, 3, H, W), H and W at least
/// 63, 224 as published; logits (N, classes). 61,100,840 parameters with 1000 classes.
class CRISOL_API AlexNet : public Module {
 public:
  explicit AlexNet(std::int64_t classes = 1000, double dropout = 0.5);
  Tensor forward(const Tensor& x) override;

  Sequential features;        ///< Convolutions and poolings.
  AdaptiveAvgPool2d avgpool;  ///< To the size that the classifier takes.
  Sequential classifier;      ///< Linear layers with dropout.
};

}  // namespace crisol::nn
