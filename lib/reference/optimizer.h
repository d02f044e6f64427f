// Optimiser steps in double, one element after another: PyTorch's formulas.
#pragma once

#include <vector>

#include "crisol/ops/optimizer.h"

namespace crisol::reference {

/// Parameters with all that any of the rules remembers; the vectors but `parameters` are sized by the first step.
struct OptimizerState {
  std::vector<double> parameters;
  std::vector<double> means, squares, momenta;
  int t = 0;
};

void sgd_step(OptimizerState& state, const std::vector<double>& gradients, double lr, double momentum,
              const ops::SgdRule& rule);
void adam_step(OptimizerState& state, const std::vector<double>& gradients, double lr, double beta1,
               const ops::AdamRule& rule);
void rmsprop_step(OptimizerState& state, const std::vector<double>& gradients, double lr, double momentum,
                  bool centered, const ops::RmspropRule& rule);

double norm(const std::vector<double>& values);

}  // namespace crisol::reference
