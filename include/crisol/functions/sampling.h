// Draws categories by their probabilities, for example to generate text. The results have no gradient.
//
// Tensors are f32 or f16. The generator (crisol/random.h) must be on the tensor's device. Errors (invalid_argument),
// with the generator unchanged: an undefined tensor, two devices, another dtype, a shape or a number that breaks a rule
// below. The host does not wait for the device, so the call does not see a row without a valid choice. The samples of
// this row are then -1, and after multinomial() the next read from the device throws invalid_argument. With the
// environment variable CRISOL_CHECK_INDICES=1 the call waits and throws instead.
#pragma once

#include <cstdint>

#include "crisol/random.h"
#include "crisol/tensor.h"

namespace crisol {

/// Draws `num_samples` categories from each row of weights (N, C), as i64 (N, num_samples). Weights (C) give
/// (num_samples). A category with a larger weight is drawn more often, and a category with weight 0 never. Weights need
/// not add up to 1. C is at most 2^24.
///
/// Without replacement the samples of a row differ, so num_samples is at most C. If fewer weights than num_samples are
/// above 0, the remaining samples are -1. All samples of a row are -1 if it has a negative, infinite or NaN weight, or
/// no weight above 0.
CRISOL_API Tensor multinomial(const Tensor& weights, std::int64_t num_samples, bool replacement,
                              const Generator& generator);
/// The same with this thread's default generator.
CRISOL_API Tensor multinomial(const Tensor& weights, std::int64_t num_samples, bool replacement = false);

/// Draws one class from each row of logits (N, C), as i64 (N). Logits (C) give a scalar. Class c has the probability
/// softmax(logits / temperature)[c]. If top_k is not 0, only the top_k largest logits take part. Among equal logits,
/// the first counts as the largest.
///
/// Temperature 0 takes the first largest logit and draws nothing. A logit of -inf is never drawn. A row with NaN or
/// +inf, or with -inf only, gives -1. At temperature 0 such a row gives the position of its first NaN, or of its first
/// largest logit. Refuses a temperature that is negative or not finite, and a top_k outside [0, C].
CRISOL_API Tensor sample_logits(const Tensor& logits, double temperature, std::int64_t top_k,
                                const Generator& generator);
/// The same with this thread's default generator.
CRISOL_API Tensor sample_logits(const Tensor& logits, double temperature = 1, std::int64_t top_k = 0);

}  // namespace crisol
