// Initial values of a recurrent layer's parameters, shared by cells and networks.
#pragma once

#include "crisol/nn/init.h"
#include "crisol/ops/rnn.h"

namespace crisol::nn {

/// All values are uniform in [-1/sqrt(hidden), 1/sqrt(hidden)). outputs == 0 means no projection.
RnnWeights make_rnn_weights(RnnCell cell, std::int64_t inputs, std::int64_t hidden, bool bias, std::int64_t outputs);

}  // namespace crisol::nn
