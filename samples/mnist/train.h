// `mnist train`
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/mixed_precision.h"
#include "common/ranks.h"
#include "crisol/io/data_loader.h"
#include "crisol/nn/module.h"
#include "crisol/optim.h"

namespace mnist {

struct TrainOptions {
  std::string data;             ///< Folder of the MNIST files; empty: rendered digits.
  std::int64_t digits = 60000;  ///< Rendered training images.
  std::string model = "cnn";    ///< See make_model.
  int epochs = 2;
  std::int64_t batch = 64;
  double lr = 0;                   ///< Highest rate of the one-cycle schedule; 0: a default for the optimiser.
  std::string optimizer = "adam";  ///< adam, adamw, sgd (Nesterov momentum 0.9) or rmsprop.
  std::string dtype = "f32";       ///< f32; f16 or bf16: mixed precision.
  std::uint64_t seed = 0;
  std::string weights;  ///< Path for the state dict; empty: not saved.
  std::string json;     ///< Path for the metrics; empty: not written.
};

/// Trains and reports; returns the exit status.
int train(const TrainOptions& options, const samples::Ranks& ranks);

/// Model, optimiser and schedule of a training run.
class Trainer {
 public:
  Trainer(const TrainOptions& options, std::int64_t steps, const samples::Ranks& ranks);
  /// One step on a batch. Returns its loss, which stays on the device.
  crisol::Tensor step(const crisol::io::Batch& batch);
  /// A step in which only other ranks have samples.
  void step_without_samples();
  crisol::nn::Module& model() { return *model_; }
  samples::Ranks::Parallel& parallel() { return *parallel_; }

 private:
  /// A forward pass in the type of the training.
  crisol::Tensor loss_of(const crisol::io::Batch& batch);
  /// The optimiser's step with the gradients of the scaled loss.
  void finish_step();

  std::unique_ptr<crisol::nn::Module> model_;
  std::unique_ptr<crisol::optim::Optimizer> optimizer_;
  std::unique_ptr<crisol::optim::OneCycleLR> schedule_;
  std::unique_ptr<samples::Ranks::Parallel> parallel_;
  samples::MixedPrecision precision_;
};

}  // namespace mnist
