// A character model: it learns a text and then writes text like it.
#include <CLI/CLI.hpp>
#include <cmath>
#include <stdexcept>
#include <string>

#include "common/json_output.h"
#include "common/mixed_precision.h"
#include "common/options.h"
#include "common/ranks.h"
#include "common/system.h"
#include "sample.h"
#include "train.h"

namespace {

std::string check_temperature(const std::string& text) {
  double value = 0;
  if (CLI::detail::lexical_cast(text, value) && value >= 0 && std::isfinite(value)) return {};
  return text + " is not a number from 0 up";
}

std::string check_dropout(const std::string& text) {
  double value = 0;
  if (CLI::detail::lexical_cast(text, value) && value >= 0 && value < 1) return {};
  return text + " is not in [0, 1)";
}

CLI::Option* add_count(CLI::App* app, const char* name, std::int64_t& value, std::int64_t most, const char* text) {
  return app->add_option(name, value, text)->capture_default_str()->check(CLI::Range(std::int64_t{1}, most));
}

void add_train(CLI::App& app, text_lstm::TrainOptions& options) {
  CLI::App* train = app.add_subcommand("train", "Learn a text");
  train->fallthrough();
  text_lstm::Settings& s = options.settings;
  train->add_option("--text", options.text, "Text file, UTF-8; without it, crisol's own README and docs");
  CLI::Option* steps =
      train->add_option("--steps", options.steps, "Steps of the optimiser (default: 1300; 300 without --text)")
          ->check(CLI::Range(1, 1000000000));
  train->add_option("--epochs", options.epochs, "Passes over the text, instead of --steps")
      ->check(CLI::Range(1, 1000000))
      ->excludes(steps);
  add_count(train, "--layers", s.layers, 100, "LSTM layers");
  add_count(train, "--hidden", s.hidden, 65536, "Width of a layer");
  add_count(train, "--embedding", s.embedding, 65536, "Numbers that stand for a character");
  train->add_option("--dropout", s.dropout, "Share of each layer's outputs that a step leaves out")
      ->capture_default_str()
      ->check(check_dropout);
  add_count(train, "--batch", s.batch, 1000000, "Places of the text that are read side by side");
  add_count(train, "--window", s.window, 1000000, "Characters that gradients go back over");
  train->add_option("--lr", s.lr, "Highest learning rate of the one-cycle schedule")
      ->capture_default_str()
      ->check(samples::check_rate);
  train->add_option("--clip", s.clip, "Largest norm of all gradients together")
      ->capture_default_str()
      ->check(samples::check_rate);
  samples::add_dtype(*train, s.dtype);
  train->add_option("--seed", s.seed, "Determines the initial weights and dropout")
      ->capture_default_str()
      ->check(samples::check_seed);
  train->add_option("--validate-every", options.validate_every, "Steps between two validations (default: a fifth)")
      ->check(CLI::Range(1, 1000000000));
  train->add_option("--weights", options.weights, "Save the trained weights and the vocabulary here (safetensors)");
  train->add_option("--json", options.json, samples::json_help);
  CLI::Option* checkpoint = train->add_option("--checkpoint", options.checkpoint, "File for all that --resume needs");
  add_count(train, "--checkpoint-every", options.checkpoint_every, 1000000000, "Steps between two checkpoints");
  train->add_flag("--resume", options.resume, "Go on from the checkpoint, bit for bit, where there is one")
      ->needs(checkpoint);
}

void add_sample(CLI::App& app, text_lstm::SampleOptions& options) {
  CLI::App* sample = app.add_subcommand("sample", "Write text");
  sample->fallthrough();
  sample->add_option("--weights", options.weights, "What `text_lstm train --weights` saved")->required();
  sample->add_option("--prompt", options.prompt, "Text to go on from (default: the beginning of a line)");
  add_count(sample, "--length", options.length, 1000000000, "Characters to write");
  sample
      ->add_option("--temperature", options.temperature,
                   "Below 1: more likely characters more often; 0: only the likeliest")
      ->capture_default_str()
      ->check(check_temperature);
  sample->add_option("--top-k", options.top_k, "Choose among this many of the likeliest characters; 0: all")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  sample->add_option("--seed", options.seed, "Fixes the choices")->capture_default_str()->check(samples::check_seed);
}

}  // namespace

int main(int argc, char** argv) {
  samples::use_utf8();
  CLI::App app("Character model on any OpenCL device");
  app.require_subcommand(1);
  std::string device;
  samples::add_device(app, device);
  text_lstm::TrainOptions train_options;
  add_train(app, train_options);
  text_lstm::SampleOptions sample_options;
  add_sample(app, sample_options);

  CLI11_PARSE(app, argc, argv);
  return samples::run_on_ranks("text_lstm", device, [&](const samples::Ranks& ranks) {
    if (app.got_subcommand("train")) return text_lstm::train(train_options, ranks);
    if (ranks.world() > 1) throw std::invalid_argument("only train runs on several ranks");
    return text_lstm::sample(sample_options);
  });
}
