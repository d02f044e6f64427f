#include "crisol/nn/models/alexnet.h"

#include "crisol/nn/activation.h"
#include "crisol/nn/conv.h"
#include "crisol/nn/dropout.h"

namespace crisol::nn {

AlexNet::AlexNet(std::int64_t classes, double dropout)
    : features_(register_module(
          "features",
          Sequential(Conv2d(3, 64, 11, {4, 2}), ReLU(), MaxPool2d({3, 2}), Conv2d(64, 192, 5, {1, 2}), ReLU(),
                     MaxPool2d({3, 2}), Conv2d(192, 384, 3, {1, 1}), ReLU(), Conv2d(384, 256, 3, {1, 1}), ReLU(),
                     Conv2d(256, 256, 3, {1, 1}), ReLU(), MaxPool2d({3, 2})))),
      avgpool_(register_module("avgpool", AdaptiveAvgPool2d(6))),
      classifier_(register_module("classifier",
                                  Sequential(Dropout(dropout), Linear(256 * 6 * 6, 4096), ReLU(), Dropout(dropout),
                                             Linear(4096, 4096), ReLU(), Linear(4096, classes)))) {}

Tensor AlexNet::forward(const Tensor& x) {
  return classifier_->forward(avgpool_->forward(features_->forward(x)).flatten(1));
}

}  // namespace crisol::nn
