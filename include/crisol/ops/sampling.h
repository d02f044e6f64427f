// Draws categories by their probabilities. The result has no gradient. crisol/functions/sampling.h has the same
// functions for users.
//
// Random numbers come from a generator (crisol/random.h) on the tensor's device. Overloads without a generator use this
// thread's default generator. Errors (invalid_argument), with the generator unchanged: an undefined tensor, two
// devices, a dtype other than f32 and f16, a shape or a number that breaks a rule below.
//
// No category can be drawn from a row with a NaN, for example. The host does not wait for the device, so it does not
// see such a row. The row's samples are -1, which is no valid index of any op. With the environment variable
// CRISOL_CHECK_INDICES=1 the call waits and throws invalid_argument instead.
#pragma once

#include <cstdint>

#include "crisol/random.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// Draws categories from each row of weights (N, C), as i64 (N, num_samples). Weights (C) give (num_samples). Weights
/// need not add up to 1. C is at most 2^24. The samples of a row are -1 if the row has a negative, infinite or NaN
/// weight, or no weight above 0.
///
/// With replacement, samples are independent and computed from the cumulative sum of the row. Sample s of row r is the
/// first category whose cumulative sum exceeds u times the sum of the row. u in [0, 1) is element r num_samples + s of
/// the numbers that rand would draw. ceil(N num_samples / 4) blocks of random numbers are used. A category with weight
/// 0 is never drawn.
///
/// Without replacement, the samples of a row differ: each is drawn from the remaining categories. The method draws an
/// exponential random number e for each weight w, and takes the categories with the largest w / e, in order (Efraimidis
/// and Spirakis 2006). ceil(N C / 4) blocks of random numbers are used. num_samples is at most C. If fewer than
/// num_samples weights are above 0, the remaining samples are -1.
CRISOL_API Tensor multinomial(const Tensor& weights, std::int64_t num_samples, bool replacement,
                              const Generator& generator);
CRISOL_API void multinomial_into(const Tensor& out, const Tensor& weights, std::int64_t num_samples, bool replacement,
                                 const Generator& generator);
/// The same with this thread's default generator.
CRISOL_API Tensor multinomial(const Tensor& weights, std::int64_t num_samples, bool replacement = false);

/// Draws one class for each row of logits (N, C), as i64 (N). Logits (C) give a scalar. Class c has the probability
/// softmax(logits / temperature)[c]. If top_k is not 0, only the top_k largest logits take part. Among equal logits,
/// the first counts as larger.
///
/// The sample of a row is drawn like in multinomial with replacement. A temperature of 0, or one too small for f32,
/// takes the first largest logit and draws nothing. A logit of -inf is never drawn. A row with NaN or +inf, or with
/// -inf only, gives -1. At temperature 0 such a row gives the position of its first NaN, or of its first largest logit.
/// Refuses a temperature that is negative or not finite, and a top_k outside [0, C].
CRISOL_API Tensor sample_logits(const Tensor& logits, double temperature, std::int64_t top_k,
                                const Generator& generator);
/// The same with this thread's default generator.
CRISOL_API Tensor sample_logits(const Tensor& logits, double temperature = 1, std::int64_t top_k = 0);

}  // namespace crisol::ops
