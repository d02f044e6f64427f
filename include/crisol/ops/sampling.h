// Drawing categories by their probabilities. What is drawn has no gradient.
//
// Random numbers come from a generator (crisol/random.h) on the tensor's device; overloads without one use this
// thread's default generator. Errors (invalid_argument): an undefined tensor, two devices, another dtype than f32 or
// f16, a shape or a number that breaks the rule below; the generator is then as it was.
//
// A row from which nothing can be drawn is not seen by the host, which does not wait for the device: its samples are
// -1, which no op takes for an index. With the environment variable CRISOL_CHECK_INDICES=1 the call waits and throws
// invalid_argument instead.
#pragma once

#include <cstdint>

#include "crisol/random.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// Categories drawn from each row of weights (N, C), as i64 (N, num_samples), or from weights (C), as (num_samples).
/// Weights need not add up to 1; C is at most 2^24. Samples are -1 where the row has a weight that is negative,
/// infinite or NaN, or none above 0.
///
/// With replacement each sample is drawn by inverting the cumulative sum: sample s of row r is the first category at
/// which that exceeds u times the sum, u in [0, 1) being element r num_samples + s of the draw (rand); ceil(N
/// num_samples / 4) blocks are used. A category of weight 0 is never drawn.
///
/// Without replacement the samples of a row differ, and each is drawn from what the ones before it left: they are the
/// categories with the largest w / e in order, where e is an exponential random number for each weight (Efraimidis and
/// Spirakis 2006); ceil(N C / 4) blocks are used. num_samples is at most C, and where fewer weights are above 0, the
/// rest is -1.
CRISOL_API Tensor multinomial(const Tensor& weights, std::int64_t num_samples, bool replacement,
                              const Generator& generator);
/// The same with this thread's default generator.
CRISOL_API Tensor multinomial(const Tensor& weights, std::int64_t num_samples, bool replacement = false);

/// One class for each row of logits (N, C), as i64 (N), or of logits (C), as a scalar: class c with probability
/// softmax(logits / temperature)_c, of the top_k largest logits only where top_k is not 0 (of equal ones the first
/// count as larger). Temperature 0 (or too small for f32) takes the first largest logit and draws nothing; else one
/// sample a row is drawn as by multinomial with replacement. A logit of -inf is never drawn; a row that has NaN or
/// +inf, or -inf alone, gives -1 (at temperature 0 its first NaN or first largest). Refuses a temperature that is
/// negative or not finite and a top_k outside [0, C].
CRISOL_API Tensor sample_logits(const Tensor& logits, double temperature, std::int64_t top_k,
                                const Generator& generator);
/// The same with this thread's default generator.
CRISOL_API Tensor sample_logits(const Tensor& logits, double temperature = 1, std::int64_t top_k = 0);

}  // namespace crisol::ops
