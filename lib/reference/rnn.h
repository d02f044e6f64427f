// One layer and direction of a recurrent network in double, one sequence after another, with the formulas of
// crisol/ops/rnn.h.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/ops/rnn.h"

namespace crisol::reference {

using Numbers = std::vector<double>;

struct RnnLayer {
  RnnCell cell = RnnCell::lstm;
  bool reverse = false;
  std::int64_t steps = 1, batch = 1, inputs = 1, hidden = 1;
  std::int64_t projection = 0;  ///< The number of rows of weight_hr. 0 if there is no projection.
  bool bias = true;
  std::vector<std::int64_t> lengths = {};  ///< The length of each sequence; empty if all have `steps`.

  std::int64_t gates() const { return cell == RnnCell::lstm ? 4 : cell == RnnCell::gru ? 3 : 1; }
  std::int64_t outputs() const { return projection > 0 ? projection : hidden; }
  std::int64_t length(std::int64_t b) const { return lengths.empty() ? steps : lengths[static_cast<std::size_t>(b)]; }
};

/// Weights, or their gradients. An absent weight is empty.
struct RnnNumbers {
  Numbers weight_ih, weight_hh, bias_ih, bias_hh, weight_hr;
};

struct RnnInputs {
  Numbers x, h0, c0;  ///< c0 is empty for cells without a cell state.
};

struct RnnOutputs {
  Numbers y, h_n, c_n;
};

struct RnnGradients {
  RnnInputs inputs;
  RnnNumbers weights;
};

RnnOutputs rnn_forward(const RnnLayer& layer, const RnnInputs& in, const RnnNumbers& weights);

/// The gradients of everything that rnn_forward reads, from the gradients of its results.
RnnGradients rnn_backward(const RnnLayer& layer, const RnnInputs& in, const RnnNumbers& weights,
                          const RnnOutputs& dout);

}  // namespace crisol::reference
