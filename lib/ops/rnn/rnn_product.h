// The matrix products in the plans of a recurrent layer.
#pragma once

#include <vector>

#include "ops/product/gemm.h"
#include "ops/rnn/rnn_problem.h"

namespace crisol::ops {

/// Adds gates[:, :, 0 … gate_rows()) = x W_ihᵀ + b_ih, for all steps at once.
void add_input_product(Plan& plan, const RnnForward& problem, const Target& target);

/// A product that every step computes: C = A B, where B is a weight. The places of A and C change from step to step.
class StepProduct {
 public:
  /// `problem` has everything except for the offsets of A and C.
  StepProduct(const Target& target, const GemmProblem& problem, Place weight)
      : target_(target), problem_(problem), weight_(weight) {}

  void add(Plan& plan, Place a, Place c);

 private:
  struct Known {
    GemmProblem problem;
    Plan plan;
  };
  const Plan& plan_of(const GemmProblem& problem);

  const Target& target_;
  GemmProblem problem_;
  Place weight_;
  std::vector<Known> known_;  ///< One plan for each alignment of A and C.
};

}  // namespace crisol::ops
