// Raw losses, not recorded by autograd.
//
// Sums are deterministic: the same input on the same device gives the same bits. The gradient `dy` of a loss has the
// shape of the loss: () for mean and sum, one element for each row (or element) without reduction.
#pragma once

#include <cstdint>

#include "crisol/options/loss.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// A loss of labelled rows, and the values that its backward needs.
struct CrossEntropyResult {
  Tensor loss;     ///< (), or (N) without reduction.
  Tensor moments;  ///< f32 (N, 2): the maximum m of each row, and log sum exp(x - m).
  Tensor scale;    ///< f32 (): `loss` is this factor times the sum of the rows' losses.
};

/// PyTorch's cross entropy of logits (N, C), f32 or f16, C >= 1, and labels of whole numbers (N). For a row x with
/// label t and label smoothing e it is
///
///     loss = (1 - e) (log sum exp x - x_t) + e / C sum_c (log sum exp x - x_c)
///
/// `mean` divides the sum by the number of rows that are not ignored; with no such row it is NaN. The loss of an
/// ignored row is 0.
///
/// A wrong label is neither a class nor ignore_index. The host does not wait for the device, so it does not see a wrong
/// label at once. Nothing is read out of bounds. The loss and the gradient of the row are NaN, and so are the mean and
/// the sum. The next read to the host (to_vector, item or read_bytes of any tensor on the device) throws
/// invalid_argument with op, label and range. With CRISOL_CHECK_INDICES=1 the call itself waits and throws, with the
/// position of the first wrong label.
CRISOL_API CrossEntropyResult cross_entropy(const Tensor& logits, const Tensor& labels,
                                            const CrossEntropyOptions& options = {});
/// The gradient of the logits: (softmax x - target) scale dy, and 0 for ignored rows. The target of a row is (1 - e)
/// for its label plus e / C for every class.
CRISOL_API Tensor cross_entropy_backward(const Tensor& dy, const Tensor& logits, const Tensor& labels,
                                         const CrossEntropyResult& forward, const CrossEntropyOptions& options = {});

/// A loss of labelled rows, and what its backward needs.
struct NllResult {
  Tensor loss;   ///< (), or (N) without reduction.
  Tensor scale;  ///< As in CrossEntropyResult.
};

/// The loss of a row x of log-probabilities (N, C), f32 or f16, with label t is -x_t. Reduction, ignore_index and wrong
/// labels work as in cross_entropy.
CRISOL_API NllResult nll_loss(const Tensor& x, const Tensor& labels, Reduction reduction = Reduction::mean,
                              std::int64_t ignore_index = -100);
/// The gradient of x. Its shape is (N, classes).
CRISOL_API Tensor nll_loss_backward(const Tensor& dy, const Tensor& labels, const Tensor& scale, std::int64_t classes,
                                    Reduction reduction = Reduction::mean, std::int64_t ignore_index = -100);

/// (x - target)^2 of tensors of one shape, f32 or f16, or its mean or sum. The loss is f32. The mean of no elements is
/// NaN.
CRISOL_API Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
CRISOL_API void mse_loss_into(const Tensor& out, const Tensor& x, const Tensor& target,
                              Reduction reduction = Reduction::mean);
/// The gradient of x: 2 (x - target) dy, for the mean divided by the number of elements. The gradient of target is its
/// negative.
CRISOL_API Tensor mse_loss_backward(const Tensor& dy, const Tensor& x, const Tensor& target,
                                    Reduction reduction = Reduction::mean);
CRISOL_API void mse_loss_backward_into(const Tensor& out, const Tensor& dy, const Tensor& x, const Tensor& target,
                                       Reduction reduction = Reduction::mean);

}  // namespace crisol::ops
