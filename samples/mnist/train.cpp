#include "train.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/check_output.h"
#include "common/json_output.h"
#include "crisol/crisol.h"
#include "data.h"
#include "evaluate.h"
#include "model.h"

namespace mnist {

namespace {

namespace optim = crisol::optim;
using crisol::Tensor;

struct EpochMetrics {
  int epoch;
  double train_loss, test_accuracy, images_per_second, seconds;
};

std::unique_ptr<optim::Optimizer> make_optimizer(const std::string& name, const std::vector<Tensor>& parameters,
                                                 double lr) {
  if (name == "adam") return std::make_unique<optim::Adam>(parameters, lr);
  if (name == "adamw") return std::make_unique<optim::AdamW>(parameters, lr);
  if (name == "rmsprop") return std::make_unique<optim::RMSprop>(parameters, lr);
  if (name != "sgd") throw std::invalid_argument("no optimizer " + name);
  return std::make_unique<optim::SGD>(parameters, optim::SGDOptions{.lr = lr, .momentum = 0.9, .nesterov = true});
}

double highest_lr(const TrainOptions& options) {
  if (options.lr > 0) return options.lr;
  if (options.optimizer == "sgd") return options.model == "lstm" ? 0.2 : 0.05;
  return options.model == "lstm" ? 0.005 : 0.002;
}

std::string metrics_json(const TrainOptions& options, const std::vector<EpochMetrics>& epochs) {
  nlohmann::ordered_json json;
  json["device"] = crisol::Device().name();
  json["model"] = options.model;
  json["epochs"] = nlohmann::ordered_json::array();
  for (const EpochMetrics& e : epochs)
    json["epochs"].push_back({{"epoch", e.epoch},
                              {"train_loss", e.train_loss},
                              {"test_accuracy", e.test_accuracy},
                              {"images_per_second", e.images_per_second},
                              {"seconds", e.seconds}});
  return json.dump(2);
}

// One pass over the training images. The losses are summed on the device, so that nothing waits for them.
EpochMetrics train_epoch(Trainer& trainer, crisol::io::DataLoader& loader, std::int64_t steps, int epoch, int epochs,
                         const samples::Ranks& ranks) {
  crisol::training::Progress progress("epoch " + std::to_string(epoch) + "/" + std::to_string(epochs), steps, "images");
  Tensor loss_sum = crisol::zeros({});
  loader.start(epoch);  // The epochs count from 1.
  double done = 0;
  crisol::io::Batch batch;
  for (; loader.next(batch); batch = {}) {
    loss_sum.add_(trainer.step(batch));
    ++done;
    if (progress.step(batch.size())) progress.show({{"loss", loss_sum.item<double>() / done}});
  }
  if (static_cast<std::int64_t>(done) < steps) trainer.step_without_samples();
  const double loss = ranks.sum(loss_sum.item<double>()) / ranks.sum(done);
  const double images = ranks.sum(static_cast<double>(progress.units())), seconds = progress.seconds();
  return {epoch, loss, 0, images / seconds, seconds};
}

// The batches of this rank: its part of the batches of all ranks.
struct Batches {
  std::unique_ptr<crisol::io::DataLoader> loader;
  std::int64_t steps;  ///< Of an epoch.
};

Batches batches_of(const crisol::io::ImageDataset& images, const TrainOptions& options, const samples::Ranks& ranks) {
  const auto order = std::make_shared<crisol::io::RandomSampler>(images.size(), options.seed);
  const auto own = std::make_shared<crisol::io::ShardedSampler>(order, options.batch, ranks.rank(), ranks.world());
  crisol::io::DataLoaderOptions loader;
  loader.batch_size = own->local_batch_size();
  loader.seed = options.seed;
  loader.sampler = own;
  return {std::make_unique<crisol::io::DataLoader>(images, loader), own->batches()};
}

}  // namespace

Trainer::Trainer(const TrainOptions& options, std::int64_t steps, const samples::Ranks& ranks)
    : precision_(options.dtype) {
  crisol::manual_seed(options.seed);
  model_ = make_model(options.model);
  optimizer_ = make_optimizer(options.optimizer, model_->parameters(), highest_lr(options));
  schedule_ = std::make_unique<optim::OneCycleLR>(*optimizer_, highest_lr(options), steps);
  parallel_ = std::make_unique<samples::Ranks::Parallel>(ranks, *model_);
}

Tensor Trainer::step(const crisol::io::Batch& batch) {
  const Tensor loss = loss_of(batch);
  optimizer_->zero_grad();
  parallel_->set_weight(static_cast<double>(batch.size()));
  precision_.scaler().scale(loss).backward();
  finish_step();
  return loss.detach();
}

Tensor Trainer::loss_of(const crisol::io::Batch& batch) {
  const crisol::Autocast autocast = precision_.autocast();
  return crisol::cross_entropy((*model_)(batch.input), batch.target);
}

void Trainer::finish_step() {
  precision_.scaler().step(*optimizer_);
  precision_.scaler().update();
  schedule_->step();
}

void Trainer::step_without_samples() {
  optimizer_->zero_grad();
  parallel_->backward_without_samples();
  finish_step();
}

int train(const TrainOptions& given, const samples::Ranks& ranks) {
  TrainOptions options = given;
  if (!ranks.is_first()) options.weights = options.json = "";  // Rank 0 writes the files.
  samples::JsonOutput json(options.json);
  samples::check_output(options.weights, true);
  std::printf("device: %s%s\n", crisol::Device().name().c_str(), ranks.description().c_str());
  const Digits digits = load_digits(options.data, options.digits, options.seed);
  std::printf("digits: %lld to train on, %lld to test on: %s\n", static_cast<long long>(digits.train.size()),
              static_cast<long long>(digits.test.size()), digits.source.c_str());
  const Batches batches = batches_of(digits.train, options, ranks);
  Trainer trainer(options, batches.steps * options.epochs, ranks);
  std::printf("model: %s, %lld parameters\n", options.model.c_str(),
              static_cast<long long>(trainer.model().parameter_count()));
  std::fflush(stdout);

  std::vector<EpochMetrics> metrics;
  Evaluation evaluation;
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    EpochMetrics m = train_epoch(trainer, *batches.loader, batches.steps, epoch, options.epochs, ranks);
    trainer.parallel().sync_buffers();
    evaluation = evaluate(trainer.model(), digits.test, ranks);
    m.test_accuracy = evaluation.accuracy();
    metrics.push_back(m);
    std::printf("epoch %d/%d: train loss %.4f, test accuracy %.2f %%, %.0f images/s, %.1f s\n", epoch, options.epochs,
                m.train_loss, 100 * m.test_accuracy, m.images_per_second, m.seconds);
    std::fflush(stdout);
    json.write(metrics_json(options, metrics));
  }
  if (!options.weights.empty()) {
    save_model(options.weights, options.model, trainer.model());
    std::printf("weights saved to %s\n", options.weights.c_str());
  }
  std::printf("\n%s", confusion_table(evaluation).c_str());
  if (!evaluation.mistakes.empty())
    std::printf("\nThe surest mistakes:\n%s", draw_mistakes(evaluation, digits.test.images(), 3).c_str());
  json.finish();
  return 0;
}

}  // namespace mnist
