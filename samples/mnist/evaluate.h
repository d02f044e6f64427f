// How well a model does on a dataset.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "crisol/io/dataset.h"
#include "crisol/nn/module.h"

namespace mnist {

struct Mistake {
  std::int64_t index;
  int label, predicted;
  double probability;  ///< That the model gave to the wrong digit.
};

struct Evaluation {
  std::int64_t count = 0, correct = 0;
  std::array<std::array<int, 10>, 10> confusion{};  ///< [label][predicted]
  std::vector<Mistake> mistakes;                    ///< The surest first.

  double accuracy() const { return count == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(count); }
};

/// Runs the model over the dataset without recording gradients, in inference mode; its mode is as before afterwards.
Evaluation evaluate(crisol::nn::Module& model, const crisol::io::Dataset& dataset);

/// The confusion matrix as a table.
std::string confusion_table(const Evaluation& evaluation);

/// The surest mistakes, drawn one below another.
std::string draw_mistakes(const Evaluation& evaluation, const crisol::io::ImageSet& images, std::size_t count);

/// Probabilities of the classes from a row of logits.
std::vector<double> softmax(const float* logits, std::size_t classes);

}  // namespace mnist
