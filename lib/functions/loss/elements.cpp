// Losses that compare tensors element by element, made of differentiable functions.
#include <cmath>
#include <numbers>

#include "autograd/autocast.h"
#include "base/text.h"
#include "crisol/autocast.h"
#include "crisol/functions/compare.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/loss.h"
#include "functions/loss/reduced.h"

namespace crisol {

using autograd::Autocasts;

namespace {

void require_one_shape(const char* op, const Tensor& x, const Tensor& target) {
  require(x.defined() && target.defined(), op, "a tensor is undefined");
  require(x.shape() == target.shape(), op, "the shapes ", x.shape(), " and ", target.shape(), " differ");
}

Tensor weighted(const Tensor& losses, const Tensor& weight) { return weight.defined() ? losses * weight : losses; }

/// The difference squared where `far` is false, and 0 elsewhere, so that large differences have no gradient here.
Tensor near_square(const Tensor& far, const Tensor& difference) { return square(where(far, 0.0, difference)); }

}  // namespace

Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  if (const Autocasts casts("l1_loss"); casts) return l1_loss(casts(x), casts(target), reduction);
  return reduced(abs(x - target), reduction);
}

Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, Reduction reduction, double beta) {
  constexpr const char* op = "smooth_l1_loss";
  require(beta >= 0, op, "beta is ", beta, ", and it must not be negative");
  if (const Autocasts casts(op); casts) return smooth_l1_loss(casts(x), casts(target), reduction, beta);
  const Tensor difference = x - target, d = abs(difference);
  if (beta == 0) return reduced(d, reduction);
  const Tensor far = ge(d, beta);  // False for NaN, so that NaN has the gradient NaN.
  return reduced(where(far, d - 0.5 * beta, near_square(far, difference) * (0.5 / beta)), reduction);
}

Tensor huber_loss(const Tensor& x, const Tensor& target, Reduction reduction, double delta) {
  constexpr const char* op = "huber_loss";
  require(delta > 0, op, "delta is ", delta, ", and it must be positive");
  if (const Autocasts casts(op); casts) return huber_loss(casts(x), casts(target), reduction, delta);
  const Tensor difference = x - target, d = abs(difference), far = gt(d, delta);
  return reduced(where(far, (d - 0.5 * delta) * delta, near_square(far, difference) * 0.5), reduction);
}

Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, Reduction reduction, const Tensor& weight) {
  constexpr const char* op = "binary_cross_entropy";
  require(!autocast_enabled(), op, "binary_cross_entropy and BCELoss are unsafe under autocast: leave out the sigmoid ",
          "before them, and use binary_cross_entropy_with_logits or BCEWithLogitsLoss, which are safe");
  require_one_shape(op, x, target);
  check_range(op, x, 0, 1);
  check_range(op, target, 0, 1);
  const Tensor yes = maximum(log(x), -100.0), no = maximum(log1p(-x), -100.0);
  return reduced(weighted(-(target * yes + (1 - target) * no), weight), reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target, Reduction reduction,
                                        const Tensor& weight, const Tensor& pos_weight) {
  constexpr const char* op = "binary_cross_entropy_with_logits";
  if (const Autocasts casts(op); casts)
    return binary_cross_entropy_with_logits(casts(x), casts(target), reduction, casts(weight), casts(pos_weight));
  require_one_shape(op, x, target);
  const Tensor logs = log_sigmoid(x);
  const Tensor scaled = pos_weight.defined() ? ((pos_weight - 1) * target + 1) * logs : logs;
  return reduced(weighted((1 - target) * x - scaled, weight), reduction);
}

Tensor kl_div(const Tensor& x, const Tensor& target, Reduction reduction, bool log_target) {
  if (const Autocasts casts("kl_div"); casts) return kl_div(casts(x), casts(target), reduction, log_target);
  if (log_target) return reduced(exp(target) * (target - x), reduction);
  return reduced(target * (log(where(eq(target, 0), 1.0, target)) - x), reduction);
}

Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonNLLOptions& options) {
  if (const Autocasts casts("poisson_nll_loss"); casts) return poisson_nll_loss(casts(x), casts(target), options);
  Tensor losses = options.log_input ? exp(x) - target * x : x - target * log(x + options.eps);
  if (options.full) {
    const Tensor large = gt(target, 1), safe = where(large, target, 1.0);
    const Tensor stirling = target * log(safe) - target + 0.5 * log(2 * std::numbers::pi * safe);
    losses = losses + where(large, stirling, 0.0);
  }
  return reduced(losses, options.reduction);
}

Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& var, const GaussianNLLOptions& options) {
  if (const Autocasts casts("gaussian_nll_loss"); casts)
    return gaussian_nll_loss(casts(x), casts(target), casts(var), options);
  // The gradient of the variance passes the limit unchanged, as in PyTorch.
  const Tensor limited = var + (maximum(var, options.eps) - var).detach();
  const Tensor losses = 0.5 * (log(limited) + square(x - target) / limited);
  return reduced(options.full ? losses + 0.5 * std::log(2 * std::numbers::pi) : losses, options.reduction);
}

Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, Reduction reduction, double margin) {
  if (const Autocasts casts("hinge_embedding_loss"); casts)
    return hinge_embedding_loss(casts(x), casts(target), reduction, margin);
  const Tensor near = where(eq(target, -1), 0.0, x), far = where(eq(target, 1), 0.0, maximum(margin - x, 0.0));
  return reduced(near + far, reduction);
}

Tensor soft_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  if (const Autocasts casts("soft_margin_loss"); casts) return soft_margin_loss(casts(x), casts(target), reduction);
  return reduced(-log_sigmoid(target * x), reduction);
}

}  // namespace crisol
