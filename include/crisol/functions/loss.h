// Differentiable losses. All tensors of floating-point numbers have gradients, except for the labels, weights and
// targets of cross_entropy and nll_loss. A loss of elements is reduced to its mean or sum, or not at all. Where a
// function does not ask for one shape, operands broadcast and dtypes are promoted, as in
// crisol/functions/elementwise.h. Errors (invalid_argument): undefined tensors, shapes, dtypes or options that do not
// fit.
#pragma once

#include <cstdint>

#include "crisol/options/loss.h"
#include "crisol/tensor.h"

namespace crisol {

/// PyTorch's cross entropy of logits (N, C), f32, f16 or f64, C >= 1, and labels of whole numbers (N). For a row x with
/// label t and label smoothing e it is
///
///     (1 - e) (log sum exp x - x_t) + e / C sum_c (log sum exp x - x_c)
///
/// The result is () for Reduction::mean and sum, and (N) for none. `mean` divides the sum by the number of rows that
/// are not ignored; with no such row it is NaN. The loss of an ignored row is 0.
///
/// A wrong label is neither a class nor ignore_index. The host does not wait for the device, so it does not see a wrong
/// label at once. The loss and the gradient of the row are NaN, and so are the mean and the sum. The next read to the
/// host (to_vector, item or read_bytes of any tensor on the device) throws invalid_argument with op, label and range.
/// With the environment variable CRISOL_CHECK_INDICES=1 the call itself waits and throws.
CRISOL_API Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options = {});

/// The loss of a row x of log-probabilities (N, C), f32, f16 or f64, with label t is -x_t. Reduction, ignore_index and
/// wrong labels work as in cross_entropy.
CRISOL_API Tensor nll_loss(const Tensor& x, const Tensor& labels, Reduction reduction = Reduction::mean,
                           std::int64_t ignore_index = -100);

/// (x - target)^2 of tensors of one shape, f32, f16 or f64, or its mean or sum. The mean of no elements is NaN.
CRISOL_API Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);

/// |x - target|.
CRISOL_API Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);

/// d² / (2 beta) where d = |x - target| is below beta, and d - beta / 2 elsewhere. Refuses a negative beta. With 0 it
/// is l1_loss.
CRISOL_API Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean,
                                 double beta = 1);

/// d² / 2 where d = |x - target| is at most delta, and delta (d - delta / 2) elsewhere. Refuses a delta that is not
/// positive.
CRISOL_API Tensor huber_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean,
                             double delta = 1);

/// -(target log(x) + (1 - target) log(1 - x)) of probabilities x and target of one shape, times the weight if there is
/// one. Logarithms are limited to at least -100. An element of x or target outside [0, 1] is the error of the next read
/// from the device. Refused under Autocast, because f16 cannot hold probabilities near 1 exactly enough.
CRISOL_API Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean,
                                       const Tensor& weight = Tensor());

/// binary_cross_entropy of sigmoid(x), without overflow. pos_weight is a factor of the term for target 1: one number
/// for each class, or any tensor that broadcasts.
CRISOL_API Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                                   Reduction reduction = Reduction::mean,
                                                   const Tensor& weight = Tensor(),
                                                   const Tensor& pos_weight = Tensor());

/// target (log(target) - x) of log-probabilities x. With log_target, the target is a log-probability too. The mean
/// divides by the number of elements. `kl_div(x, target, Reduction::sum) / x.size(0)` is PyTorch's "batchmean".
CRISOL_API Tensor kl_div(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean,
                         bool log_target = false);

/// exp(x) - target · x, or without log_input x - target · log(x + eps): the negative logarithm of a Poisson
/// distribution's probability, without the term of the factorial.
CRISOL_API Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonNLLOptions& options = {});

/// (log(v) + (x - target)² / v) / 2 with v = max(var, eps): the negative logarithm of a normal distribution's density.
CRISOL_API Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& var,
                                    const GaussianNLLOptions& options = {});

/// x where the target is 1, and max(margin - x, 0) where it is -1. x is a distance.
CRISOL_API Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean,
                                       double margin = 1);

/// log(1 + exp(-target · x)) for targets 1 and -1.
CRISOL_API Tensor soft_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);

/// max(-target (a - b) + margin, 0): the target is 1 where a should be larger, and -1 where b should be.
CRISOL_API Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                                      Reduction reduction = Reduction::mean, double margin = 0);

/// a · b / (max(|a|, eps) max(|b|, eps)) along an axis. a and b broadcast. The result lacks the axis.
CRISOL_API Tensor cosine_similarity(const Tensor& a, const Tensor& b, int axis = 1, double eps = 1e-8);

/// 1 - cos(a, b) where the target is 1, and max(cos(a, b) - margin, 0) where it is -1, for vectors a and b (N, D) and
/// targets (N).
CRISOL_API Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                                        Reduction reduction = Reduction::mean, double margin = 0);

/// The p-norm of a - b + eps along the last axis, which the result lacks unless keepdim.
CRISOL_API Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p = 2, double eps = 1e-6,
                                    bool keepdim = false);

/// max(|anchor - positive| - |anchor - negative| + margin, 0), with pairwise_distance of vectors (N, D).
CRISOL_API Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                      const TripletMarginOptions& options = {});

}  // namespace crisol
