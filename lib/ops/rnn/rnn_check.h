// The rules of a recurrent layer's arguments.
#pragma once

#include "ops/rnn/rnn_problem.h"

namespace crisol::ops {

/// Throws invalid_argument unless all arguments fit together.
RnnSizes check_rnn(const char* op, const RnnInput& input, const RnnWeights& weights, const RnnOptions& options);

/// Checks the further arguments of rnn_backward.
void check_rnn_gradients(const char* op, const RnnSizes& sizes, const RnnOutputGradients& dy, const RnnInput& input,
                         const RnnWeights& weights, const RnnSaved& saved);

}  // namespace crisol::ops
