#include "train.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "common/check_output.h"
#include "common/json_output.h"
#include "crisol/device.h"
#include "crisol/training.h"
#include "trainer.h"

namespace text_lstm {

namespace {

constexpr std::int64_t default_steps = 1300, default_steps_of_embedded_text = 300;

using Json = nlohmann::ordered_json;

/// A training with its reports and files.
class Run {
 public:
  Run(const TrainOptions& options, const Text& text, const Settings& settings, samples::JsonOutput& json,
      const samples::Ranks& ranks)
      : options_(options),
        text_(text),
        json_(json),
        ranks_(ranks),
        trainer_(text, settings, ranks),
        validate_every_(options.validate_every > 0 ? options.validate_every : (settings.steps + 4) / 5) {}

  const CharModel& model() const { return trainer_.model(); }
  bool done() const { return trainer_.steps_done() == trainer_.settings().steps; }

  void resume() {
    metrics_ = Json::parse(trainer_.load(options_.checkpoint));
    std::printf("resumed after step %lld\n", static_cast<long long>(trainer_.steps_done()));
  }

  /// Trains up to the next validation and reports it.
  void segment() {
    const Settings& settings = trainer_.settings();
    const std::int64_t begin = trainer_.steps_done();
    const std::int64_t end = std::min((begin / validate_every_ + 1) * validate_every_, settings.steps);
    crisol::training::Progress progress(std::to_string(end) + "/" + std::to_string(settings.steps), end - begin,
                                        "chars");
    for (std::int64_t step = begin + 1; step <= end; ++step) {
      trainer_.step();
      if (progress.step(trainer_.streams() * settings.window)) progress.show({{"loss", trainer_.loss()}});
      if (step < end && step % options_.checkpoint_every == 0) save_checkpoint();
    }
    const double seconds = progress.seconds();
    progress.finish();
    report(ranks_.sum(static_cast<double>(progress.units())) / seconds, seconds);
    // The checkpoint is saved after the validation, so that it includes the validation's figures.
    if (end % options_.checkpoint_every == 0 || done()) save_checkpoint();
  }

  void write_json() {
    if (!json_) return;
    Json json;
    json["device"] = crisol::Device().name();
    json["text"] = text_.name;
    json["characters"] = text_.characters.size();
    json["vocabulary"] = text_.vocabulary.size();
    json["parameters"] = trainer_.model().parameter_count();
    json["validations"] = metrics_;
    json_.write(json.dump(2));
  }

 private:
  void report(double characters_per_second, double seconds) {
    const double train_loss = trainer_.take_loss(), validation_loss = trainer_.validate();
    const auto step = static_cast<long long>(trainer_.steps_done());
    metrics_.push_back({{"step", step},
                        {"train_loss", train_loss},
                        {"validation_loss", validation_loss},
                        {"characters_per_second", characters_per_second},
                        {"seconds", seconds}});
    std::printf("step %lld/%lld: train loss %.4f, validation loss %.4f nats per character, %.0f characters/s, %.1f s\n",
                step, static_cast<long long>(trainer_.settings().steps), train_loss, validation_loss,
                characters_per_second, seconds);
    std::fflush(stdout);
    write_json();
  }

  void save_checkpoint() {
    if (!options_.checkpoint.empty()) trainer_.save(options_.checkpoint, metrics_.dump());
  }

  const TrainOptions& options_;
  const Text& text_;
  samples::JsonOutput& json_;
  const samples::Ranks& ranks_;
  Trainer trainer_;
  std::int64_t validate_every_;
  Json metrics_ = Json::array();
};

Settings settings_of(const TrainOptions& options, const Text& text) {
  Settings settings = options.settings;
  check_length(text, settings);
  if (options.epochs > 0)
    settings.steps = options.epochs * steps_of_epoch(text, settings);
  else if (options.steps > 0)
    settings.steps = options.steps;
  else
    settings.steps = options.text.empty() ? default_steps_of_embedded_text : default_steps;
  return settings;
}

}  // namespace

int train(const TrainOptions& given, const samples::Ranks& ranks) {
  TrainOptions options = given;
  if (!ranks.is_first()) options.weights = options.json = "";  // Rank 0 writes the files.
  samples::JsonOutput json(options.json);
  samples::check_output(options.weights, true);
  if (ranks.is_first()) samples::check_output(options.checkpoint, true);
  const Text text = load_text(options.text);
  const Settings settings = settings_of(options, text);
  std::printf("device: %s%s\n", crisol::Device().name().c_str(), ranks.description().c_str());
  std::printf("text: %zu characters to train on, %zu to validate, %lld different ones: %s\n", text.train_end,
              text.validation_count(), static_cast<long long>(text.vocabulary.size()), text.name.c_str());
  Run run(options, text, settings, json, ranks);
  std::printf("model: %lld parameters\n", static_cast<long long>(run.model().parameter_count()));
  if (options.resume) {
    if (std::filesystem::exists(options.checkpoint))
      run.resume();
    else
      std::printf("no checkpoint at %s: from the beginning\n", options.checkpoint.c_str());
  }
  std::fflush(stdout);
  while (!run.done()) run.segment();
  run.write_json();  // Also when the checkpoint held a finished training.
  if (!options.weights.empty()) {
    save_weights(options.weights, run.model(), text.vocabulary, settings);
    std::printf("weights saved to %s\n", options.weights.c_str());
  }
  json.finish();
  return 0;
}

}  // namespace text_lstm
