// Measures a model's accuracy on a dataset and collects its mistakes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/ranks.h"
#include "crisol/io/dataset.h"
#include "crisol/nn/module.h"

namespace mnist {

struct Mistake {
  std::int64_t index;
  int label, predicted;
  double probability;  ///< The probability that the model gave to `predicted`.
};

struct Evaluation {
  std::int64_t count = 0, correct = 0;
  std::array<std::array<int, 10>, 10> confusion{};  ///< [label][predicted]
  std::vector<Mistake> mistakes;                    ///< The most confident ones first.

  double accuracy() const { return count == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(count); }
};

/// Runs the model over the dataset in inference mode, without recording gradients. Restores the model's mode
/// afterwards. Each rank takes a part of the dataset, and gets the result of all.
Evaluation evaluate(crisol::nn::Module& model, const crisol::io::SharedDataset& dataset, const samples::Ranks& ranks);

/// The confusion matrix as a table.
std::string confusion_table(const Evaluation& evaluation);

/// Draws the most confident mistakes, one below another.
std::string draw_mistakes(const Evaluation& evaluation, const crisol::io::ImageSet& images, std::size_t count);

/// Probabilities of the classes from a row of logits.
std::vector<double> softmax(const float* logits, std::size_t classes);

}  // namespace mnist
