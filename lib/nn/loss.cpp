#include "crisol/nn/loss.h"

#include "crisol/functions/loss.h"

namespace crisol::nn {

Tensor CrossEntropyLoss::operator()(const Tensor& logits, const Tensor& labels) const {
  return cross_entropy(logits, labels, options_);
}

Tensor MSELoss::operator()(const Tensor& x, const Tensor& target) const { return mse_loss(x, target, reduction_); }

Tensor NLLLoss::operator()(const Tensor& x, const Tensor& labels) const {
  return nll_loss(x, labels, reduction_, ignore_index_);
}

}  // namespace crisol::nn
