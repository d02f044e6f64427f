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
      features.append(MaxPool2d({2}));
      continue;
    }
    features.append(models::conv(channels, outputs, 3, {1, 1}, true)).append(ReLU());
    channels = outputs;
  }
  return features;
}

}  // namespace

VGG::VGG(const std::vector<int>& layers, std::int64_t classes, double dropout)
    : features_(register_module("features", make_features(layers))),
      avgpool_(register_module("avgpool", AdaptiveAvgPool2d(7))),
      classifier_(register_module("classifier", Sequential(models::linear(512 * 7 * 7, 4096), ReLU(), Dropout(dropout),
                                                           models::linear(4096, 4096), ReLU(), Dropout(dropout),
                                                           models::linear(4096, classes)))) {}

Tensor VGG::forward(const Tensor& x) {
  return classifier_->forward(avgpool_->forward(features_->forward(x)).flatten(1));
}

VGG vgg16(std::int64_t classes) {
  return VGG({64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0}, classes);
}

}  // namespace crisol::nn
