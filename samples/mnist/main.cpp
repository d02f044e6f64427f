// The MNIST digit classifier: trains on real or rendered digits, reads pictures, compares devices.
#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

#include "classify.h"
#include "common/json_output.h"
#include "common/mixed_precision.h"
#include "common/options.h"
#include "common/ranks.h"
#include "compare.h"
#include "train.h"

namespace {

void add_train(CLI::App& app, mnist::TrainOptions& options) {
  CLI::App* train = app.add_subcommand("train", "Train the classifier and show how well it does");
  train->fallthrough();
  train->add_option("--data", options.data,
                    "Folder with the four MNIST files, gzipped or not; without it, digits are rendered");
  train->add_option("--digits", options.digits, "Rendered training digits")
      ->capture_default_str()
      ->check(CLI::Range(10, 10000000));
  train->add_option("--model", options.model, "cnn, or lstm, which reads an image row by row")
      ->capture_default_str()
      ->check(CLI::IsMember({"cnn", "lstm"}));
  train->add_option("--epochs", options.epochs, "Passes over the training images")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  train->add_option("--batch", options.batch, "Images in a step")->capture_default_str()->check(CLI::Range(1, 100000));
  train
      ->add_option("--lr", options.lr,
                   "Highest learning rate of the one-cycle schedule (default: depends on model and optimizer)")
      ->check(samples::check_rate);
  train->add_option("--optimizer", options.optimizer, "adam, adamw, sgd (Nesterov momentum 0.9) or rmsprop")
      ->capture_default_str()
      ->check(CLI::IsMember({"adam", "adamw", "sgd", "rmsprop"}));
  samples::add_dtype(*train, options.dtype);
  train
      ->add_option("--seed", options.seed,
                   "Determines the initial weights, the order of the images and the rendered digits")
      ->capture_default_str()
      ->check(samples::check_seed);
  train->add_option("--weights", options.weights, "Save the trained weights here (safetensors)");
  train->add_option("--json", options.json, samples::json_help);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("MNIST digit classifier on any OpenCL device");
  app.allow_windows_style_options(false);  // A path may begin with "/".
  app.require_subcommand(1);
  std::string device;
  samples::add_device(app, device);

  mnist::TrainOptions train_options;
  add_train(app, train_options);

  std::string weights;
  std::vector<std::string> pictures;
  CLI::App* classify = app.add_subcommand("classify", "Name the digit in PNG or JPEG pictures");
  classify->fallthrough();
  classify->add_option("--weights", weights, "What `mnist train --weights` saved")->required();
  classify->add_option("picture", pictures, "Pictures with one digit each, of any size, dark on light or light on dark")
      ->required();

  mnist::CompareOptions compare_options;
  CLI::App* compare =
      app.add_subcommand("compare", "Run the same training steps on every device and compare the speed");
  compare->fallthrough();
  compare->add_option("--steps", compare_options.steps, "Steps that are timed on each device")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  compare->add_option("--batch", compare_options.batch, "Images in a step")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));

  CLI11_PARSE(app, argc, argv);
  return samples::run_on_ranks("mnist", app.got_subcommand(compare) ? "" : device, [&](const samples::Ranks& ranks) {
    if (app.got_subcommand(compare) && !device.empty())
      throw std::invalid_argument("compare runs on every device: leave --device out");
    if (app.got_subcommand("train")) return mnist::train(train_options, ranks);
    if (ranks.world() > 1) throw std::invalid_argument("only train runs on several ranks");
    if (app.got_subcommand("classify")) return mnist::classify(weights, pictures);
    return mnist::compare(compare_options, ranks);
  });
}
