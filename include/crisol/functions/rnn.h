// Differentiable recurrent layer. crisol/options/rnn.h explains the sizes T, B, I, H, R and G, the formulas, and the
// input. Errors (invalid_argument) name the argument and both sizes.
#pragma once

#include "crisol/options/rnn.h"

namespace crisol {

/// The outputs of all steps, and the final states.
struct RnnOutput {
  Tensor y;    ///< (T, B, R)
  Tensor h_n;  ///< (B, R)
  Tensor c_n;  ///< (B, H), LSTM only.
};

/// Computes one layer in one direction over whole sequences. x, h0, c0 and all weights have gradients.
CRISOL_API RnnOutput rnn(const RnnInput& input, const RnnWeights& weights, const RnnOptions& options = {});

}  // namespace crisol
