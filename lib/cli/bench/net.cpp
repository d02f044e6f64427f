// Whole networks.
#include <memory>

#include "cli/bench/groups.h"
#include "crisol/autograd.h"
#include "crisol/functions/loss.h"
#include "crisol/nn/models/alexnet.h"
#include "crisol/nn/models/mobilenet_v2.h"
#include "crisol/nn/models/resnet.h"
#include "crisol/nn/models/simple_cnn.h"
#include "crisol/nn/models/vgg.h"
#include "crisol/optim.h"
#include "crisol/random.h"

namespace crisol::cli::bench {

namespace {

/// A network: how it is made, what it takes, and the multiply-adds of one image in convolutions and matrix products.
struct Net {
  const char* name;
  std::shared_ptr<nn::Module> (*make)();
  std::int64_t channels, size, classes;
  double multiply_adds;
};

template <class Model>
std::shared_ptr<nn::Module> share(Model&& model) {
  return std::make_shared<Model>(std::move(model));
}

const Net nets[] = {
    {"simplecnn", [] { return share(nn::SimpleCNN()); }, 1, 28, 10,
     28 * 28 * 9 * 32 + 14 * 14 * 9 * 32 * 64 + 64 * 49 * 128 + 128 * 10},
    {"alexnet", [] { return share(nn::AlexNet()); }, 3, 224, 1000, 714188480},
    {"resnet18", [] { return share(nn::resnet18()); }, 3, 224, 1000, 1814073344},
    {"vgg16", [] { return share(nn::vgg16()); }, 3, 224, 1000, 15470264320},
    {"mobilenet_v2", [] { return share(nn::MobileNetV2()); }, 3, 224, 1000, 300774272},
};

std::function<void()> inference(const std::shared_ptr<nn::Module>& model, const Tensor& images) {
  model->eval();
  return [=] {
    const NoGrad no_grad;
    model->forward(images);
  };
}

std::function<void()> training(const std::shared_ptr<nn::Module>& model, const Tensor& images, const Tensor& labels) {
  const auto adam = std::make_shared<optim::Adam>(model->parameters());
  return [=] {
    adam->zero_grad();
    cross_entropy(model->forward(images), labels).backward();
    adam->step();
  };
}

Work prepare_net(const Values& v) {
  const Net& net = entry_of(nets, v.text("net"));
  const std::int64_t batch = v.number("batch");
  const std::shared_ptr<nn::Module> model = net.make();
  const Tensor images = randn({batch, net.channels, net.size, net.size});
  Work work;
  work.items = static_cast<double>(batch);
  work.item = "images";
  work.flops = 2 * net.multiply_adds * work.items;
  if (v.is("mode", "infer")) {
    work.run = inference(model, images);
  } else {
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < batch; ++i) labels.push_back(i % net.classes);
    work.flops *= 3;
    work.run = training(model, images, from_vector(labels));
  }
  return work;
}

}  // namespace

const Case net_case{"net",
                    "whole networks; operations are those of convolutions and matrix products",
                    {{"net", "simplecnn", names_of(nets), ""},
                     {"batch", "64", ">=1", "images"},
                     {"mode", "train", "infer|train", "train: forward, loss, backward and Adam's step"}},
                    prepare_net};

}  // namespace crisol::cli::bench
