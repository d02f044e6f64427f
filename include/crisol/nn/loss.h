// Losses as objects that store their options. crisol/functions/loss.h has the formulas.
#pragma once

#include "crisol/export.h"
#include "crisol/options/loss.h"
#include "crisol/tensor.h"

namespace crisol::nn {

/// cross_entropy(logits, labels, options).
class CRISOL_API CrossEntropyLoss {
 public:
  explicit CrossEntropyLoss(const CrossEntropyOptions& options = {}) : options_(options) {}
  /// The loss of logits (N, C) against labels (N).
  Tensor operator()(const Tensor& logits, const Tensor& labels) const;

 private:
  CrossEntropyOptions options_;
};

/// mse_loss(x, target, reduction).
class CRISOL_API MSELoss {
 public:
  explicit MSELoss(Reduction reduction = Reduction::mean) : reduction_(reduction) {}
  /// The loss of x against a target of the same shape.
  Tensor operator()(const Tensor& x, const Tensor& target) const;

 private:
  Reduction reduction_;
};

/// nll_loss(x, labels, reduction, ignore_index).
class CRISOL_API NLLLoss {
 public:
  explicit NLLLoss(Reduction reduction = Reduction::mean, std::int64_t ignore_index = -100)
      : reduction_(reduction), ignore_index_(ignore_index) {}
  /// The loss of log-probabilities (N, C) against labels (N).
  Tensor operator()(const Tensor& x, const Tensor& labels) const;

 private:
  Reduction reduction_;
  std::int64_t ignore_index_;
};

}  // namespace crisol::nn
