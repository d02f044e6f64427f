#include "crisol/nn/models/mobilenet_v2.h"

#include "crisol/functions/pool.h"
#include "crisol/nn/activation.h"
#include "crisol/nn/dropout.h"
#include "crisol/nn/norm.h"
#include "nn/models/layers.h"

namespace crisol::nn {

namespace {

/// A convolution, then batch norm and ReLU6. With stride 1 it keeps the image size.
Sequential conv_norm_relu(std::int64_t inputs, std::int64_t outputs, int kernel, int stride = 1, int groups = 1) {
  return Sequential(models::conv(inputs, outputs, kernel,
                                 {.stride = stride, .padding = (kernel - 1) / 2, .groups = groups, .bias = false}),
                    BatchNorm2d(outputs), ReLU6());
}

/// Runs the layers of a block. Adds x to the result if the shapes agree.
class InvertedResidual : public Module {
 public:
  InvertedResidual(std::int64_t inputs, std::int64_t outputs, int stride, int expansion)
      : with_shortcut_(stride == 1 && inputs == outputs) {
    const std::int64_t hidden = inputs * expansion;
    if (expansion != 1) conv_.append(conv_norm_relu(inputs, hidden, 1));
    conv_.append(conv_norm_relu(hidden, hidden, 3, stride, static_cast<int>(hidden)))
        .append(models::conv(hidden, outputs, 1, {.bias = false}))
        .append(BatchNorm2d(outputs));
    register_module("conv", conv_);
  }

  Tensor forward(const Tensor& x) override {
    const Tensor y = conv_(x);
    return with_shortcut_ ? x + y : y;
  }

 private:
  bool with_shortcut_;
  Sequential conv_;
};

struct Stage {
  int expansion, outputs, blocks, stride;
};

// Table 2 of the MobileNetV2 paper.
constexpr Stage stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                            {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
constexpr std::int64_t first_channels = 32, last_channels = 1280;

Sequential make_features() {
  Sequential features;
  features.append(conv_norm_relu(3, first_channels, 3, 2));
  std::int64_t channels = first_channels;
  for (const Stage& stage : stages)
    for (int block = 0; block < stage.blocks; ++block) {
      features.append(InvertedResidual(channels, stage.outputs, block == 0 ? stage.stride : 1, stage.expansion));
      channels = stage.outputs;
    }
  features.append(conv_norm_relu(channels, last_channels, 1));
  return features;
}

}  // namespace

MobileNetV2::MobileNetV2(std::int64_t classes, double dropout)
    : features(make_features()), classifier(Dropout(dropout), models::linear(last_channels, classes)) {
  register_module("features", features);
  register_module("classifier", classifier);
}

Tensor MobileNetV2::forward(const Tensor& x) { return classifier(adaptive_avg_pool2d(features(x), 1).flatten(1)); }

}  // namespace crisol::nn
