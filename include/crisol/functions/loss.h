// Differentiable losses. The first argument has a gradient, and so has the target of mse_loss. Errors
// (invalid_argument): shapes, dtypes or options that do not fit.
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

}  // namespace crisol
