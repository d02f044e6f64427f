// The mnist program: training and its files, the command line, the comparison.
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "crisol/io/safetensors.h"
#include "crisol/nn/models/row_lstm.h"
#include "crisol/nn/models/simple_cnn.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/skip.h"

namespace crisol {

namespace {

using testing::check_fails;
using testing::contains;
using testing::few_images_only;
using testing::operator+;
using testing::ProcessResult;
using testing::read_file;
using testing::TemporaryFolder;

ProcessResult run_mnist(const std::vector<std::string>& arguments, const testing::Environment& environment = {}) {
  return testing::run_built("mnist", arguments, environment);
}

std::vector<std::string> short_training(const std::string& seed) {
  const bool few = few_images_only();
  return {"train", "--digits", few ? "20" : "640", "--epochs", "1", "--batch", few ? "10" : "32", "--seed", seed};
}

std::set<std::string> keys_of(const nlohmann::json& object) {
  std::set<std::string> keys;
  for (const auto& entry : object.items()) keys.insert(entry.key());
  return keys;
}

void check_metrics(const nlohmann::json& json) {
  CHECK(keys_of(json) == std::set<std::string>{"device", "epochs", "model"});
  CHECK(json["model"] == "cnn");
  CHECK(json["device"] == Device().name());
  REQUIRE(json["epochs"].size() == 1);
  const nlohmann::json& epoch = json["epochs"][0];
  CHECK(keys_of(epoch) ==
        std::set<std::string>{"epoch", "images_per_second", "seconds", "test_accuracy", "train_loss"});
  CHECK(epoch["epoch"] == 1);
  const double images = epoch["images_per_second"].get<double>() * epoch["seconds"].get<double>();
  CHECK(images == doctest::Approx(few_images_only() ? 20 : 640).epsilon(0.01));
  CHECK(epoch["train_loss"] > 0.0);
  CHECK(epoch["test_accuracy"] >= 0.0);
  CHECK(epoch["test_accuracy"] <= 1.0);
  if (few_images_only()) return;
  CHECK(epoch["train_loss"] < std::log(10.0));  // The loss of equal probabilities.
  // Guessing gives 0.1 with a deviation of 0.03 over 106 images. Measured: 0.65.
  CHECK(epoch["test_accuracy"] > 0.35);
}

}  // namespace

TEST_CASE("mnist train writes metrics and weights, and the seed fixes every bit of them") {
  NEEDS_SAMPLE("mnist");
  const TemporaryFolder folder;
  const std::string json = folder.path() + "/metrics.json", first = folder.path() + "/first",
                    again = folder.path() + "/again", other = folder.path() + "/other";
  const ProcessResult result =
      run_mnist(short_training("3") + std::vector<std::string>{"--json", json, "--weights", first});
  REQUIRE_MESSAGE(result.status == 0, result.output);
  CHECK(contains(result.output, "device: " + Device().name()));
  CHECK(contains(result.output, "421642 parameters"));
  CHECK(contains(result.output, "epoch 1/1: train loss "));
  CHECK(contains(result.output, "true \\ predicted"));
  CHECK_FALSE(contains(result.output, "\r"));  // A pipe is no terminal.
  check_metrics(nlohmann::json::parse(read_file(json)));
  nn::SimpleCNN model;
  model.load_state_dict(io::load_safetensors(first));

  CHECK(run_mnist(short_training("3") + std::vector<std::string>{"--weights", again}).status == 0);
  CHECK(read_file(again) == read_file(first));
  CHECK(run_mnist(short_training("4") + std::vector<std::string>{"--weights", other}).status == 0);
  CHECK(read_file(other).size() == read_file(first).size());
  CHECK(read_file(other) != read_file(first));
  // The folder contains nothing else.
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.insert(entry.path().filename().string());
  CHECK(names == std::set<std::string>{"again", "first", "metrics.json", "other"});
}

TEST_CASE("mnist trains the network that --model names, and classify finds it by the weights") {
  NEEDS_SAMPLE("mnist");
  const TemporaryFolder folder;
  const std::string weights = folder.path() + "/weights";
  const ProcessResult result =
      run_mnist(short_training("0") +
                std::vector<std::string>{"--model", "lstm", "--dtype", "f16", "--weights", weights, "--json", "-"});
  REQUIRE_MESSAGE(result.status == 0, result.output);
  CHECK(contains(result.errors, "model: lstm, 82186 parameters"));
  CHECK(nlohmann::json::parse(result.out)["model"] == "lstm");  // Standard output holds nothing else.
  nn::RowLSTM model;
  io::Metadata metadata;
  const NamedTensors state = io::load_safetensors(weights, Device(), &metadata);
  model.load_state_dict(state);
  CHECK(metadata == io::Metadata{{"model", "lstm"}});
  // The weights are valid; only the picture is missing.
  const std::vector<std::string> classify{"classify", "--weights", weights, "missing.png"};
  check_fails(run_mnist(classify), {"missing.png: No such file"});
  io::save_safetensors(weights, state, {{"model", "cnn"}});
  check_fails(run_mnist(classify), {weights, "unexpected: lstm.weight_hh_l0"});
  io::save_safetensors(weights, state, {{"model", "mlp"}});
  check_fails(run_mnist(classify), {weights, "no model mlp"});
}

TEST_CASE("mnist train refuses outputs and data that cannot be, before it trains") {
  NEEDS_SAMPLE("mnist");
  const TemporaryFolder folder;
  const std::string missing = folder.path() + "/missing/file";
  for (const char* option : {"--json", "--weights"}) {
    for (const std::string& path : {missing, folder.path()}) {
      const ProcessResult result = run_mnist(short_training("0") + std::vector<std::string>{option, path});
      check_fails(result, {"cannot write " + path});
      CHECK_FALSE(contains(result.output, "loss"));
    }
  }
  check_fails(run_mnist({"train", "--data", folder.path()}), {"[load_mnist]", "train-images", folder.path()});
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("mnist explains wrong command lines") {
  NEEDS_SAMPLE("mnist");
  const struct {
    std::vector<std::string> arguments;
    std::string says;
  } wrong[] = {
      {{}, "subcommand is required"},
      {{"learn"}, "subcommand is required"},
      {{"train", "--epoch", "1"}, "--epoch"},
      {{"train", "--epochs", "0"}, "--epochs"},
      {{"train", "--epochs", "two"}, "two"},
      {{"train", "--batch", "-1"}, "--batch"},
      {{"train", "--digits", "5"}, "--digits"},
      {{"train", "--lr", "nan"}, "nan is not a positive number"},
      {{"train", "--lr", "0"}, "0 is not a positive number"},
      {{"train", "--seed", "-1"}, "-1 is negative"},
      {{"train", "--optimizer", "newton"}, "newton not in {adam,adamw,sgd,rmsprop}"},
      {{"train", "--model", "mlp"}, "mlp not in {cnn,lstm}"},
      {{"train", "--json"}, "--json"},
      {{"classify", "digit.png"}, "--weights is required"},
      {{"classify", "--weights", "file"}, "picture is required"},
      {{"compare", "--steps", "0"}, "--steps"},
  };
  for (const auto& [arguments, says] : wrong) check_fails(run_mnist(arguments), {says, "--help"});
  check_fails(run_mnist({"compare", "--device", "cpu"}), {"leave --device out"});

  ProcessResult result = run_mnist({"--help"});
  CHECK(result.status == 0);
  for (const char* part : {"train", "classify", "compare", "--device", "CRISOL_DEVICE"})
    CHECK(contains(result.output, part));
  result = run_mnist({"train", "--help"});
  CHECK(result.status == 0);
  for (const char* part :
       {"--data", "--digits", "--model", "--epochs", "--batch", "--lr", "--optimizer", "--seed", "--weights", "--json"})
    CHECK(contains(result.output, part));
}

TEST_CASE("mnist: --device wins over CRISOL_DEVICE") {
  NEEDS_SAMPLE("mnist");
  const std::vector<std::string> training{"train", "--digits", "10", "--epochs", "1", "--batch", "10"};
  const std::string here = Device().info().platform, nowhere = "no-such-device";
  ProcessResult result = run_mnist(training + std::vector<std::string>{"--device", here}, {{"CRISOL_DEVICE", nowhere}});
  CHECK_MESSAGE(result.status == 0, result.output);
  CHECK(contains(result.output, "device: " + Device().name()));
  result = run_mnist(training + std::vector<std::string>{"--device", nowhere}, {{"CRISOL_DEVICE", here}});
  check_fails(result, {"'no-such-device'", Device().name(), "gpu, cpu or accelerator"});
  result = run_mnist(training, {{"CRISOL_DEVICE", nowhere}});
  check_fails(result, {"CRISOL_DEVICE 'no-such-device'", Device().name()});
}

TEST_CASE("mnist compare prints a line for every device") {
  NEEDS_SAMPLE("mnist");
  const ProcessResult result = run_mnist({"compare", "--steps", "2", "--batch", "8"});
  CHECK_MESSAGE(result.status == 0, result.output);
  for (const char* part : {"images/s", "speed-up", "first step", "loss"}) CHECK(contains(result.output, part));
  for (const Device device : devices())
    if (device.info().has_compiler)
      CHECK_MESSAGE(contains(result.out, "\n" + device.name() + " / " + device.info().platform + " "), result.output);
  if (Device().info().type == DeviceType::cpu) CHECK(contains(result.output, "1.00x"));  // The slowest device.
  CHECK_FALSE(contains(result.output, "nan"));
}

}  // namespace crisol
