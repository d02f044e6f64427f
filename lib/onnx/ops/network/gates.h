// Recurrent layers step by step, with any activation that ONNX allows. crisol/options/rnn.h explains sizes and inputs.
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

/// The attributes `activations`, `activation_alpha` and `activation_beta` as lists for each direction. `defaults` are
/// the names for one direction. Functions without a parameter take none from the lists of parameters.
std::vector<std::vector<GateFunction>> read_activations(Call& call, const std::vector<std::string>& defaults,
                                                        int directions);

/// The state of a layer between two steps.
struct State {
  Tensor h, c;  ///< (B, H). c only for LSTM.
};

/// The state after a step, from W x + b_ih of the step (B, G H) and the state before it.
using Step = std::function<State(const Tensor& product, const State& before)>;

/// Computes a layer in one direction over whole sequences, like crisol::rnn.
RnnOutput walk(const RnnInput& input, const RnnWeights& weights, bool reverse, const Step& step);

/// h' = f(W x + b_ih + R h + b_hh). Inputs of activations are limited to -clip … clip.
Step simple_step(const RnnWeights& weights, const std::vector<GateFunction>& f, std::optional<double> clip);

/// A GRU with the gates z, r, h. Without `resets_last` the state is multiplied by r before the product with R.
Step gru_step(const RnnWeights& weights, const std::vector<GateFunction>& f, std::optional<double> clip,
              bool resets_last);

/// An LSTM with the gates i, o, f, c. `peepholes` (3 H) may be undefined. With `couples_gates` f is 1 - i.
Step lstm_step(const RnnWeights& weights, const Tensor& peepholes, const std::vector<GateFunction>& f,
               std::optional<double> clip, bool couples_gates);

}  // namespace crisol::onnx
