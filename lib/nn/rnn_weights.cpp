#include "nn/rnn_weights.h"

#include <cmath>

namespace crisol::nn {

RnnWeights make_rnn_weights(RnnCell cell, std::int64_t inputs, std::int64_t hidden, bool bias, std::int64_t outputs) {
  const std::int64_t rows = gates_of(cell) * hidden;
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  const auto make = [&](const Shape& shape) { return init::uniform_(empty(shape), -bound, bound); };
  RnnWeights w;
  w.weight_ih = make({rows, inputs});
  w.weight_hh = make({rows, outputs > 0 ? outputs : hidden});
  if (bias) w.bias_ih = make({rows});
  if (bias) w.bias_hh = make({rows});
  if (outputs > 0) w.weight_hr = make({outputs, hidden});
  return w;
}

}  // namespace crisol::nn
