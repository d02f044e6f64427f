// Losses in double.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/ops/loss.h"

namespace crisol::reference {

/// For mean and sum, `loss` has one element. dx is the gradient of sum(dy * loss).
struct LossWithGradient {
  std::vector<double> loss, dx;
};

LossWithGradient cross_entropy(const std::vector<double>& x, const std::vector<std::int64_t>& labels,
                               std::int64_t classes, const CrossEntropyOptions& options, const std::vector<double>& dy);
LossWithGradient nll_loss(const std::vector<double>& x, const std::vector<std::int64_t>& labels, std::int64_t classes,
                          Reduction reduction, std::int64_t ignore_index, const std::vector<double>& dy);
LossWithGradient mse_loss(const std::vector<double>& x, const std::vector<double>& target, Reduction reduction,
                          const std::vector<double>& dy);

}  // namespace crisol::reference
