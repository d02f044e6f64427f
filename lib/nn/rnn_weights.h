// The common parts of recurrent cells and networks.
#pragma once

#include "crisol/nn/init.h"
#include "crisol/nn/rnn_cell.h"
#include "crisol/ops/rnn.h"

namespace crisol::nn {

/// Makes weights whose values are uniform in [-1/sqrt(hidden), 1/sqrt(hidden)). outputs == 0 means no projection.
RnnWeights make_rnn_weights(RnnCell cell, std::int64_t inputs, std::int64_t hidden, bool bias, std::int64_t outputs);

/// The cell of plain recurrent layers with this nonlinearity.
inline RnnCell cell_of(Nonlinearity nonlinearity) {
  return nonlinearity == Nonlinearity::tanh ? RnnCell::tanh : RnnCell::relu;
}

}  // namespace crisol::nn
