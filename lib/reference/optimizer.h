// Optimiser steps in double with PyTorch's formulas, one element after another.
#pragma once

#include <vector>

#include "crisol/ops/optimizer.h"

namespace crisol::reference {

/// The parameters and the state of all optimiser rules. The first step sets the size of the vectors other than
/// `parameters`.
struct OptimizerState {
  std::vector<double> parameters;
  std::vector<double> means, squares, max_squares, momenta;
  int t = 0;
};

void sgd_step(OptimizerState& state, const std::vector<double>& gradients, double lr, double momentum,
              const ops::SgdRule& rule);
void adam_step(OptimizerState& state, const std::vector<double>& gradients, double lr, double beta1,
               const ops::AdamRule& rule, bool amsgrad = false);
void lion_step(OptimizerState& state, const std::vector<double>& gradients, double lr, double beta1,
               const ops::LionRule& rule);
void rmsprop_step(OptimizerState& state, const std::vector<double>& gradients, double lr, double momentum,
                  bool centered, const ops::RmspropRule& rule);

double norm(const std::vector<double>& values);

}  // namespace crisol::reference
