#include "crisol/nn/models/resnet.h"

#include "crisol/functions/pool.h"
#include "nn/models/layers.h"

namespace crisol::nn {

namespace {

/// relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x)). The shortcut is a 1×1 convolution if the shape changes.
class BasicBlock : public Module {
 public:
  BasicBlock(std::int64_t inputs, std::int64_t outputs, int stride)
      : conv1_(register_module("conv1", models::conv(inputs, outputs, 3, {stride, 1}))),
        bn1_(register_module("bn1", BatchNorm2d(outputs))),
        conv2_(register_module("conv2", models::conv(outputs, outputs, 3, {1, 1}))),
        bn2_(register_module("bn2", BatchNorm2d(outputs))) {
    if (stride == 1 && inputs == outputs) return;
    downsample_ =
        register_module("downsample", Sequential(models::conv(inputs, outputs, 1, {stride}), BatchNorm2d(outputs)));
  }

  Tensor forward(const Tensor& x) override {
    static const auto add_relu = fuse([](const Expr& y, const Expr& shortcut) { return relu(y + shortcut); });
    const Tensor inner = bn1_->forward(conv1_->forward(x), relu_epilogue());
    return bn2_->forward(conv2_->forward(inner), add_relu.epilogue(downsample_ ? downsample_->forward(x) : x));
  }

 private:
  std::shared_ptr<Conv2d> conv1_;
  std::shared_ptr<BatchNorm2d> bn1_;
  std::shared_ptr<Conv2d> conv2_;
  std::shared_ptr<BatchNorm2d> bn2_;
  std::shared_ptr<Sequential> downsample_;
};

Sequential make_stage(std::int64_t inputs, std::int64_t outputs, int blocks, int stride) {
  Sequential stage;
  for (int block = 0; block < blocks; ++block)
    stage.append(block == 0 ? BasicBlock(inputs, outputs, stride) : BasicBlock(outputs, outputs, 1));
  return stage;
}

}  // namespace

ResNet::ResNet(const std::array<int, 4>& blocks, std::int64_t classes)
    : conv1_(register_module("conv1", models::conv(3, 64, 7, {2, 3}))), bn1_(register_module("bn1", BatchNorm2d(64))) {
  std::int64_t channels = 64;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const std::int64_t outputs = std::int64_t{64} << i;
    layers_[i] =
        register_module("layer" + std::to_string(i + 1), make_stage(channels, outputs, blocks[i], i == 0 ? 1 : 2));
    channels = outputs;
  }
  fc_ = register_module("fc", Linear(channels, classes));
}

Tensor ResNet::forward(const Tensor& x) {
  Tensor y = max_pool2d(bn1_->forward(conv1_->forward(x), relu_epilogue()), {3, 2, 1});
  for (const std::shared_ptr<Sequential>& layer : layers_) y = layer->forward(y);
  return fc_->forward(adaptive_avg_pool2d(y, 1).flatten(1));
}

ResNet resnet18(std::int64_t classes) { return ResNet({2, 2, 2, 2}, classes); }

}  // namespace crisol::nn
