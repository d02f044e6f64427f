#include "crisol/nn/models/resnet.h"

#include "crisol/functions/pool.h"
#include "nn/models/layers.h"

namespace crisol::nn {

namespace {

/// relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x)). The shortcut is a 1×1 convolution if the shape changes.
class BasicBlock : public Module {
 public:
  BasicBlock(std::int64_t inputs, std::int64_t outputs, int stride)
      : conv1_(models::conv(inputs, outputs, 3, {.stride = stride, .padding = 1, .bias = false})),
        bn1_(outputs),
        conv2_(models::conv(outputs, outputs, 3, {.padding = 1, .bias = false})),
        bn2_(outputs) {
    register_module("conv1", conv1_);
    register_module("bn1", bn1_);
    register_module("conv2", conv2_);
    register_module("bn2", bn2_);
    if (stride == 1 && inputs == outputs) return;
    downsample_.append(models::conv(inputs, outputs, 1, {.stride = stride, .bias = false}))
        .append(BatchNorm2d(outputs));
    register_module("downsample", downsample_);
  }

  Tensor forward(const Tensor& x) override {
    static const auto add_relu = fuse([](const Expr& y, const Expr& shortcut) { return relu(y + shortcut); });
    const Tensor inner = bn1_(conv1_(x), relu_epilogue());
    return bn2_(conv2_(inner), add_relu.epilogue(downsample_(x)));
  }

 private:
  Conv2d conv1_;
  BatchNorm2d bn1_;
  Conv2d conv2_;
  BatchNorm2d bn2_;
  Sequential downsample_;  // Empty if the shape does not change. It then returns its input.
};

Sequential make_stage(std::int64_t inputs, std::int64_t outputs, int blocks, int stride) {
  Sequential stage;
  for (int block = 0; block < blocks; ++block)
    stage.append(block == 0 ? BasicBlock(inputs, outputs, stride) : BasicBlock(outputs, outputs, 1));
  return stage;
}

}  // namespace

ResNet::ResNet(const std::array<int, 4>& blocks, std::int64_t classes)
    : conv1(models::conv(3, 64, 7, {.stride = 2, .padding = 3, .bias = false})),
      bn1(64),
      layer1(make_stage(64, 64, blocks[0], 1)),
      layer2(make_stage(64, 128, blocks[1], 2)),
      layer3(make_stage(128, 256, blocks[2], 2)),
      layer4(make_stage(256, 512, blocks[3], 2)),
      fc(512, classes) {
  register_module("conv1", conv1);
  register_module("bn1", bn1);
  register_module("layer1", layer1);
  register_module("layer2", layer2);
  register_module("layer3", layer3);
  register_module("layer4", layer4);
  register_module("fc", fc);
}

Tensor ResNet::forward(const Tensor& x) {
  const Tensor y = max_pool2d(bn1(conv1(x), relu_epilogue()), {3, 2, 1});
  return fc(adaptive_avg_pool2d(layer4(layer3(layer2(layer1(y)))), 1).flatten(1));
}

ResNet resnet18(std::int64_t classes) { return ResNet({2, 2, 2, 2}, classes); }

}  // namespace crisol::nn
