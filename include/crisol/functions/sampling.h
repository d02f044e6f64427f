// Drawing categories by their probabilities: text generation, for one.
#pragma once

#include "crisol/ops/sampling.h"

namespace crisol {

/// Categories drawn from rows of weights, with or without replacement.
using ops::multinomial;

/// A class for each row of logits, at a temperature, of the top_k largest.
using ops::sample_logits;

}  // namespace crisol
