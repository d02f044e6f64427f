// The recurrent network of the MNIST sample.
#pragma once

#include "crisol/nn/linear.h"
#include "crisol/nn/module.h"
#include "crisol/nn/rnn.h"

namespace crisol::nn {

/// Reads an image row by row: x (N, 1, rows, columns) → LSTM(columns → hidden) over the rows, first one first → its
/// last state → Linear `classes`: logits (N, classes).
class CRISOL_API RowLSTM : public Module {
 public:
  explicit RowLSTM(std::int64_t columns = 28, std::int64_t hidden = 128, std::int64_t classes = 10);
  Tensor forward(const Tensor& x) override;

  LSTM lstm;  ///< Over the rows.
  Linear fc;  ///< Logits of the last state.
};

}  // namespace crisol::nn
