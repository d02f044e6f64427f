// Whole networks.
#include <memory>

#include "cli/bench/groups.h"
#include "crisol/autograd.h"
#include "crisol/capture.h"
#include "crisol/compile.h"
#include "crisol/functions/loss.h"
#include "crisol/nn/models/alexnet.h"
#include "crisol/nn/models/mobilenet_v2.h"
#include "crisol/nn/models/resnet.h"
#include "crisol/nn/models/simple_cnn.h"
#include "crisol/nn/models/vgg.h"
#include "crisol/onnx.h"
#include "crisol/optim.h"

namespace crisol::cli::bench {

namespace {

/// A network: its constructor, the sizes of its input, and two numbers for one image. `multiply_adds` counts the
/// multiply-adds of convolutions and matrix products. `activations` counts the elements of activations that
/// convolutions, products and poolings read and write.
struct Net {
  const char* name;
  std::shared_ptr<nn::Module> (*make)();
  std::int64_t channels, size, classes;
  double multiply_adds, activations;
};

template <class Model>
std::shared_ptr<nn::Module> share(Model&& model) {
  return std::make_shared<Model>(std::forward<Model>(model));
}

const Net nets[] = {
    {"simplecnn", [] { return share(nn::SimpleCNN()); }, 1, 28, 10,
     28 * 28 * 9 * 32 + 14 * 14 * 9 * 32 * 64 + 64 * 49 * 128 + 128 * 10,
     28 * 28 * (1 + 32 + 32) + 14 * 14 * (32 + 32 + 64 + 64) + 49 * (64 + 64) + 128 + 128 + 10},
    {"alexnet", [] { return share(nn::AlexNet()); }, 3, 224, 1000, 714188480, 1314536},
    {"resnet18", [] { return share(nn::resnet18()); }, 3, 224, 1000, 1814073344, 5697000},
    {"vgg16", [] { return share(nn::vgg16()); }, 3, 224, 1000, 15470264320, 30323688},
    {"mobilenet_v2", [] { return share(nn::MobileNetV2()); }, 3, 224, 1000, 300774272, 13510312},
};

/// Runs the module's graph, or the module itself.
std::function<void()> inference(std::shared_ptr<nn::Module> model, const Tensor& images, bool compiled) {
  model->eval();
  if (compiled) model = share(compile(model, images));
  return [=] {
    const NoGrad no_grad;
    (*model)(images);
  };
}

std::function<void()> training(const std::shared_ptr<nn::Module>& model, const Tensor& images, const Tensor& labels) {
  const auto adam = std::make_shared<optim::Adam>(model->parameters());
  return [=] {
    adam->zero_grad();
    cross_entropy((*model)(images), labels).backward();
    adam->step();
  };
}

/// The least number of bytes to move. Inference counts every parameter once, and every activation each time it is read
/// or written. A training step counts the activations three times: forward, gradients of inputs, gradients of weights.
/// It also counts two reads of the parameters by products and one write of their gradients. Adam reads parameters,
/// gradients and two moments, and writes all of these except the gradient. Of parameters of halves it keeps values of
/// f32, reads and writes those, and writes the halves.
double bytes_of(const Net& net, const nn::Module& model, double images, bool training, double element) {
  double parameters = 0;
  for (const Tensor& parameter : model.parameters()) parameters += static_cast<double>(parameter.numel());
  const double activations = net.activations * images;
  if (!training) return element * (activations + parameters);
  constexpr double f32 = sizeof(float);
  const double adam = element + 6 * f32 + (element < f32 ? element : 0);
  return element * (3 * activations + (2 + 1) * parameters) + adam * parameters;
}

Work prepare_net(const Values& v) {
  const Net& net = entry_of(nets, v.text("net"));
  const std::int64_t batch = v.number("batch");
  const std::shared_ptr<nn::Module> model = net.make();
  const bool trains = v.is("mode", "train");
  model->to(dtype_of(v));
  const Tensor images = numbers(v, {batch, net.channels, net.size, net.size});
  Work work;
  work.items = static_cast<double>(batch);
  work.item = "images";
  work.flops = 2 * net.multiply_adds * work.items;
  work.bytes = bytes_of(net, *model, work.items, trains, element_bytes(v));
  work.save_onnx = [=](const std::string& path) { onnx::save(path, *model, {images}); };
  if (!trains) {
    work.run = inference(model, images, v.is("mode", "infer"));
  } else {
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < batch; ++i) labels.push_back(i % net.classes);
    work.flops *= 3;
    work.run = training(model, images, from_vector(labels));
  }
  work.run = in_precision(precision_of(v), work.run);
  if (v.on("replay")) {
    for (int i = 0; i < 3; ++i) work.run();  // Packed weights exist from the third use on.
    work.run = [graph = capture(work.run)] { graph.replay(); };
  }
  return work;
}

}  // namespace

const Case net_case{
    "net",
    "whole networks; operations are those of convolutions and matrix products",
    {{"net", "simplecnn", names_of(nets), ""},
     {"batch", "64", ">=1", "images"},
     {"mode", "train", "infer|eager|train",
      "infer: a compiled module; eager: the module itself; train: forward, loss, backward and Adam's step"},
     {"replay", "0", "0|1", "1: a capture of it is replayed"},
     precision_key(),
     dtype_key()},
    prepare_net};

}  // namespace crisol::cli::bench
