// AlexNet.
#pragma once

#include "crisol/nn/linear.h"
#include "crisol/nn/module.h"
#include "crisol/nn/pool.h"
#include "crisol/nn/sequential.h"

namespace crisol::nn {

/// AlexNet in the form of Krizhevsky 2014, with the names of torchvision's `alexnet`. It has five convolutions with
/// three max poolings, adaptive average pooling to 6×6, and two hidden layers of 4096 units with dropout. x is (N, 3,
/// H, W), where H and W are at least 63 (224 in the publication). The result is logits (N, classes). With 1000 classes
/// it has 61,100,840 parameters.
class CRISOL_API AlexNet : public Module {
 public:
  explicit AlexNet(std::int64_t classes = 1000, double dropout = 0.5);
  Tensor forward(const Tensor& x) override;

  Sequential features;        ///< Convolutions and poolings.
  AdaptiveAvgPool2d avgpool;  ///< Pools to the size that the classifier takes.
  Sequential classifier;      ///< Linear layers with dropout.
};

}  // namespace crisol::nn
