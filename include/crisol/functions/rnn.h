// Differentiable recurrent layer. Formulas, shapes and errors are those of the raw op in crisol/ops/rnn.h.
#pragma once

#include "crisol/options/rnn.h"

namespace crisol {

/// Outputs of all T steps, and the final states.
struct RnnOutput {
  Tensor y;    ///< (T, B, R)
  Tensor h_n;  ///< (B, R)
  Tensor c_n;  ///< (B, H), LSTM only.
};

/// One layer in one direction over whole sequences, with gradients for x, h0, c0 and all weights.
CRISOL_API RnnOutput rnn(const RnnInput& input, const RnnWeights& weights, const RnnOptions& options = {});

}  // namespace crisol
