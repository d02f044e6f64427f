// Puts modules into evaluation mode while they are traced.
#pragma once

#include <utility>
#include <vector>

#include "crisol/nn/module.h"

namespace crisol::onnx {

/// While this object lives, a module and all modules below it are in evaluation mode. Afterwards each has its own mode
/// again.
class InEvaluation {
 public:
  explicit InEvaluation(nn::Module& module) {
    for (nn::Module* one : module.modules()) modes_.emplace_back(one, one->training());
    for (const auto& [one, mode] : modes_) one->set_training(false);
  }
  ~InEvaluation() {
    for (const auto& [one, mode] : modes_) one->set_training(mode);
  }
  InEvaluation(const InEvaluation&) = delete;
  InEvaluation& operator=(const InEvaluation&) = delete;

 private:
  std::vector<std::pair<nn::Module*, bool>> modes_;
};

}  // namespace crisol::onnx
