#include "crisol/nn/models/row_lstm.h"

#include "base/text.h"

namespace crisol::nn {

RowLSTM::RowLSTM(std::int64_t columns, std::int64_t hidden, std::int64_t classes)
    : lstm(columns, hidden), fc(hidden, classes) {
  register_module("lstm", lstm);
  register_module("fc", fc);
}

Tensor RowLSTM::forward(const Tensor& x) {
  require(x.dim() == 4 && x.size(1) == 1 && x.size(3) == lstm.input_size(), "RowLSTM", "images must be (N, 1, rows, ",
          lstm.input_size(), "), got shape ", x.shape());
  const Tensor rows = x.select(1, 0).transpose(0, 1);
  return fc(lstm(rows, LSTMState()).state.h.select(0, 0));
}

}  // namespace crisol::nn
