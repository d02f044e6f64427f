// Recurrent layers computed step by step, with any activation of ONNX. crisol/options/rnn.h explains sizes and inputs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "crisol/functions/rnn.h"
#include "crisol/options/rnn.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

/// An activation with its parameters.
struct GateFunction {
  std::string name;
  std::function<Tensor(const Tensor&)> f;
};

/// Reads the attributes `activations`, `activation_alpha` and `activation_beta` as a list for each direction.
/// `defaults` are the names for one direction. A function without parameters uses no number of the lists of parameters.
std::vector<std::vector<GateFunction>> read_activations(Call& call, const std::vector<std::string>& defaults,
                                                        int directions);

/// The state of a layer between two steps.
struct State {
  Tensor h, c;  ///< (B, H). c only in an LSTM.
};

/// Computes the state after a step, from the step's W x + b_ih (B, G H) and the previous state.
using Step = std::function<State(const Tensor& product, const State& before)>;

/// Computes a layer in one direction over whole sequences, like crisol::rnn.
RnnOutput walk(const RnnInput& input, const RnnWeights& weights, bool reverse, const Step& step);

/// h' = f(W x + b_ih + R h + b_hh). The inputs of activations are limited to -clip … clip.
Step simple_step(const RnnWeights& weights, const std::vector<GateFunction>& f, std::optional<double> clip);

/// A GRU with the gates z, r, h. Without `resets_last`, the state is multiplied by r before the product with R.
Step gru_step(const RnnWeights& weights, const std::vector<GateFunction>& f, std::optional<double> clip,
              bool resets_last);

/// An LSTM with the gates i, o, f, c. `peepholes` (3 H) may be undefined. With `couples_gates`, f is 1 - i.
Step lstm_step(const RnnWeights& weights, const Tensor& peepholes, const std::vector<GateFunction>& f,
               std::optional<double> clip, bool couples_gates);

}  // namespace crisol::onnx
