// Raw losses. Not recorded by autograd.
//
// Sums are deterministic: the same input gives the same bits on a device. The gradient `dy` of a loss has the loss'
// shape: () for mean and sum, one element for each row (or element) without reduction.
#pragma once

#include <cstdint>

#include "crisol/options/loss.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// A loss of labelled rows, and what its backward needs.
struct CrossEntropyResult {
  Tensor loss;     ///< (), or (N) without reduction.
  Tensor moments;  ///< f32 (N, 2): of each row the maximum m, and log sum exp(x - m).
  Tensor scale;    ///< f32 (): what the sum of the rows' losses was multiplied with.
};

/// PyTorch's cross entropy of logits f32 (N, C), C >= 1, with labels i64, i32 or u8 (N). For a row x with label t and
/// smoothing e
///
///     loss = (1 - e) (log sum exp x - x_t) + e / C sum_c (log sum exp x - x_c)
///
/// `mean` divides the sum by the number of rows that are not ignored (NaN when there are none); the loss of an ignored
/// row is 0. The host does not wait for the device, so it does not see at once a label that is neither a class nor
/// ignore_index. Nothing is read out of bounds. That row's loss and gradient are NaN, and so are the mean and the sum.
/// The next read to the host (to_vector, item, read_bytes, of any tensor of the device) throws invalid_argument with
/// op, label and range. With CRISOL_CHECK_INDICES=1 the call itself waits and throws, with the position of the first
/// wrong label.
CRISOL_API CrossEntropyResult cross_entropy(const Tensor& logits, const Tensor& labels,
                                            const CrossEntropyOptions& options = {});
/// The gradient of the logits: (softmax x - target) scale dy, 0 for ignored rows.
CRISOL_API Tensor cross_entropy_backward(const Tensor& dy, const Tensor& logits, const Tensor& labels,
                                         const CrossEntropyResult& forward, const CrossEntropyOptions& options = {});

/// A loss of labelled rows, and what its backward needs.
struct NllResult {
  Tensor loss;   ///< (), or (N) without reduction.
  Tensor scale;  ///< As CrossEntropyResult's.
};

/// -x_t for rows x of log-probabilities f32 (N, C) with label t; reduction, ignore_index and wrong labels as for
/// cross_entropy.
CRISOL_API NllResult nll_loss(const Tensor& x, const Tensor& labels, Reduction reduction = Reduction::mean,
                              std::int64_t ignore_index = -100);
/// The gradient of x, of shape (N, C = classes).
CRISOL_API Tensor nll_loss_backward(const Tensor& dy, const Tensor& labels, const Tensor& scale, std::int64_t classes,
                                    Reduction reduction = Reduction::mean, std::int64_t ignore_index = -100);

/// (x - target)^2 of f32 tensors of one shape, and its mean (NaN without elements) or sum.
CRISOL_API Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
/// The gradient of x, 2 (x - target) dy, divided by the number of elements for the mean; that of target is its
/// negative.
CRISOL_API Tensor mse_loss_backward(const Tensor& dy, const Tensor& x, const Tensor& target,
                                    Reduction reduction = Reduction::mean);

}  // namespace crisol::ops
