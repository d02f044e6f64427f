// Differentiable losses: gradients for the first argument, and mse_loss's target.
#pragma once

#include <cstdint>

#include "crisol/options/loss.h"
#include "crisol/tensor.h"

namespace crisol {

/// ops::cross_entropy: the loss of logits (N, C) against labels (N).
CRISOL_API Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options = {});

/// ops::nll_loss: the loss of log-probabilities (N, C) against labels (N).
CRISOL_API Tensor nll_loss(const Tensor& x, const Tensor& labels, Reduction reduction = Reduction::mean,
                           std::int64_t ignore_index = -100);

/// ops::mse_loss.
CRISOL_API Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);

}  // namespace crisol
