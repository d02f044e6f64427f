#include "crisol/nn/models/alexnet.h"

#include "crisol/nn/activation.h"
#include "crisol/nn/conv.h"
#include "crisol/nn/dropout.h"

namespace crisol::nn {

AlexNet::AlexNet(std::int64_t classes, double dropout)
    : features(Conv2d(3, 64, 11, {.stride = 4, .padding = 2}), ReLU(), MaxPool2d(3, {.stride = 2}),
               Conv2d(64, 192, 5, {.padding = 2}), ReLU(), MaxPool2d(3, {.stride = 2}),
               Conv2d(192, 384, 3, {.padding = 1}), ReLU(), Conv2d(384, 256, 3, {.padding = 1}), ReLU(),
               Conv2d(256, 256, 3, {.padding = 1}), ReLU(), MaxPool2d(3, {.stride = 2})),
      avgpool(6),
      classifier(Dropout(dropout), Linear(256 * 6 * 6, 4096), ReLU(), Dropout(dropout), Linear(4096, 4096), ReLU(),
                 Linear(4096, classes)) {
  register_module("features", features);
  register_module("avgpool", avgpool);
  register_module("classifier", classifier);
}

Tensor AlexNet::forward(const Tensor& x) { return classifier(avgpool(features(x)).flatten(1)); }

}  // namespace crisol::nn
