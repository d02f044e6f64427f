// Image classifiers from ONNX files: names pictures, and trains a layer further on pictures of one's own.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/check_output.h"
#include "common/options.h"
#include "crisol/crisol.h"

namespace {

namespace io = crisol::io;
using crisol::Tensor;

struct Options {
  std::string model, labels, data, layer, weights;
  std::vector<std::string> pictures;
  int epochs = 5;
  double lr = 1e-3;
};

/// A model that takes pictures as (N, channels, height, width), and how its input is scaled.
class Classifier {
 public:
  explicit Classifier(const std::string& path) : model(crisol::onnx::load(path)) {
    const auto& inputs = model.inputs();
    if (inputs.size() != 1 || inputs[0].type != "f32" || inputs[0].shape.size() != 4)
      throw std::runtime_error(path + ": a model with one input of f32 (N, channels, height, width) is expected");
    const auto size = [&](std::size_t axis, std::int64_t open) {
      const std::int64_t fixed = inputs[0].shape[axis].size;
      return fixed < 0 ? open : fixed;
    };
    form = {.height = size(2, 224), .width = size(3, 224), .channels = size(1, 3)};
    if (form.channels != 1 && form.channels != 3)
      throw std::runtime_error(path + ": the model takes pictures with " + std::to_string(form.channels) + " channels");
    // The usual numbers for ImageNet. Grey pictures use their averages.
    mean =
        form.channels == 3 ? crisol::from_vector<float>({0.485f, 0.456f, 0.406f}, {3, 1, 1}) : crisol::full({1}, 0.449);
    deviation =
        form.channels == 3 ? crisol::from_vector<float>({0.229f, 0.224f, 0.225f}, {3, 1, 1}) : crisol::full({1}, 0.226);
  }

  /// (N, classes), for pixels from 0 to 1.
  Tensor operator()(const Tensor& pixels) { return model((pixels - mean) / deviation); }

  crisol::onnx::Model model;
  io::ImageFolderOptions form;

 private:
  Tensor mean, deviation;
};

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  if (path.empty()) return lines;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Prints the five most likely classes of each picture.
void classify(const Options& options) {
  Classifier classifier(options.model);
  if (!options.weights.empty()) classifier.model.load_state_dict(io::load_safetensors(options.weights));
  const std::vector<std::string> labels = lines_of(options.labels);
  const crisol::NoGrad no_grad;
  for (const std::string& path : options.pictures) {
    const io::ImageFolderOptions& form = classifier.form;
    const io::Image image = io::resize(io::read_image(path, form.channels), form.height, form.width);
    const Tensor bytes = crisol::from_vector(image.pixels, {1, image.height, image.width, image.channels});
    const Tensor scores = softmax(classifier(bytes.permute({0, 3, 1, 2}).to(crisol::DType::f32) / 255)[0], 0);
    const auto best = topk(scores, std::min<std::int64_t>(5, scores.numel()));
    const auto classes = best.indices.to_vector<std::int64_t>();
    const auto shares = best.values.to_vector<float>();
    std::printf("%s:", path.c_str());
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const auto at = static_cast<std::size_t>(classes[i]);
      std::printf("%s %s %.1f %%", i == 0 ? "" : ",",
                  at < labels.size() ? labels[at].c_str() : std::to_string(at).c_str(),
                  100 * static_cast<double>(shares[i]));
    }
    std::printf("\n");
  }
}

/// The share of pictures that are named right.
double accuracy(Classifier& classifier, io::DataLoader& loader) {
  const crisol::NoGrad no_grad;
  Tensor right = crisol::zeros({});
  std::int64_t all = 0;
  for (const io::Batch& batch : loader) {
    right = right + classifier(batch.input).argmax(1).eq(batch.target).to(crisol::DType::f32).sum();
    all += batch.size();
  }
  return right.item<double>() / static_cast<double>(all);
}

/// The parameters of the layer want a gradient, and no others.
std::vector<Tensor> choose_layer(crisol::onnx::Model& model, const std::string& layer) {
  std::vector<Tensor> chosen;
  std::string names;
  for (auto [name, parameter] : model.named_parameters()) {
    const bool is_own = name == layer || name.rfind(layer + '.', 0) == 0;
    parameter.requires_grad_(is_own);
    if (is_own) chosen.push_back(parameter);
    names += ' ' + name;
  }
  if (chosen.empty()) throw std::runtime_error("the model has no parameter " + layer + "; it has" + names);
  return chosen;
}

/// Trains on four fifths of the pictures, and tests on the others.
void train(const Options& options) {
  samples::check_output(options.weights, true);
  Classifier classifier(options.model);
  crisol::manual_seed(0);
  crisol::optim::Adam optimizer(choose_layer(classifier.model, options.layer), options.lr);
  const io::ImageFolder pictures(options.data, classifier.form);
  const std::int64_t tested = pictures.size() / 5;
  const std::vector<io::Subset> parts = io::random_split(pictures, {pictures.size() - tested, tested});
  io::DataLoader training(parts[0], {.batch_size = 32, .shuffle = true}), test(parts[1], {.batch_size = 32});
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    Tensor sum = crisol::zeros({});
    for (const io::Batch& batch : training) {
      const Tensor loss = cross_entropy(classifier(batch.input), batch.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum = sum + loss.detach();
    }
    std::printf("epoch %d/%d: train loss %.4f", epoch, options.epochs,
                sum.item<double>() / static_cast<double>(training.batches()));
    if (tested > 0) std::printf(", test accuracy %.1f %%", 100 * accuracy(classifier, test));
    std::printf("\n");
    std::fflush(stdout);
  }
  if (options.weights.empty()) return;
  io::save_safetensors(options.weights, classifier.model.state_dict());
  std::printf("weights saved to %s\n", options.weights.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Image classifiers from ONNX files");
  app.allow_windows_style_options(false);  // A path may begin with "/".
  app.require_subcommand(1);
  std::string device;
  samples::add_device(app, device);
  Options options;
  const auto add = [&](const char* name, const char* help) {
    CLI::App* command = app.add_subcommand(name, help);
    command->fallthrough();
    command->add_option("MODEL", options.model, "An ONNX file with an input (N, channels, height, width)")->required();
    return command;
  };
  CLI::App* classify_ = add("classify", "Name what is in PNG or JPEG pictures");
  classify_->add_option("picture", options.pictures, "Pictures of any size; their middle is used")->required();
  classify_->add_option("--labels", options.labels, "A text file with the name of a class in each line");
  classify_->add_option("--weights", options.weights, "What `onnx_classifier train --weights` saved");
  CLI::App* train_ = add("train", "Train one layer on pictures in a folder for each class");
  train_->add_option("--data", options.data, "The folder: DIR/cat/1.png, DIR/dog/2.jpg")->required();
  train_->add_option("--layer", options.layer, "The layer to train, by the start of its parameters' names: fc")
      ->required();
  train_->add_option("--epochs", options.epochs, "Passes over the pictures")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  train_->add_option("--lr", options.lr, "Learning rate of Adam")->capture_default_str()->check(samples::check_rate);
  train_->add_option("--weights", options.weights, "Save all weights here (safetensors)");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!device.empty()) crisol::set_default_device(crisol::Device(device));
    if (app.got_subcommand(train_))
      train(options);
    else
      classify(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "onnx_classifier: %s\n", error.what());
    return 1;
  }
}
