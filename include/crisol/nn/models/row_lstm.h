// The recurrent network of the MNIST sample.
#pragma once

#include "crisol/nn/linear.h"
#include "crisol/nn/module.h"
#include "crisol/nn/rnn.h"

namespace crisol::nn {

/// Reads images x (N, 1, rows, columns) row by row, from the first row to the last, with an LSTM (columns → hidden). A
/// linear layer computes logits (N, classes) from its last state.
class CRISOL_API RowLSTM : public Module {
 public:
  explicit RowLSTM(std::int64_t columns = 28, std::int64_t hidden = 128, std::int64_t classes = 10);
  Tensor forward(const Tensor& x) override;

  LSTM lstm;  ///< Reads the rows.
  Linear fc;  ///< Computes the logits from the last state.
};

}  // namespace crisol::nn
