#include "crisol/nn/models/vgg.h"

#include "crisol/nn/activation.h"
#include "crisol/nn/dropout.h"
#include "nn/models/layers.h"

namespace crisol::nn {

namespace {

Sequential make_features(const std::vector<int>& layers) {
  Sequential features;
  std::int64_t channels = 3;
  for (const int outputs : layers) {
    if (outputs == 0) {
      features.append(MaxPool2d(2));
      continue;
    }
    features.append(models::conv(channels, outputs, 3, {.padding = 1})).append(ReLU());
    channels = outputs;
  }
  return features;
}

}  // namespace

VGG::VGG(const std::vector<int>& layers, std::int64_t classes, double dropout)
    : features(make_features(layers)),
      avgpool(7),
      classifier(models::linear(512 * 7 * 7, 4096), ReLU(), Dropout(dropout), models::linear(4096, 4096), ReLU(),
                 Dropout(dropout), models::linear(4096, classes)) {
  register_module("features", features);
  register_module("avgpool", avgpool);
  register_module("classifier", classifier);
}

Tensor VGG::forward(const Tensor& x) { return classifier(avgpool(features(x)).flatten(1)); }

VGG vgg16(std::int64_t classes) {
  return VGG({64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0}, classes);
}

}  // namespace crisol::nn
