// Recurrent networks over whole sequences: several layers, one or both directions. Formulas: crisol/ops/rnn.h.
//
// Names and orders are PyTorch's, so that its state dicts load as they are: layer k has weight_ih_lk (G H, I_k),
// weight_hh_lk (G H, R), bias_ih_lk and bias_hh_lk (G H), with proj_size weight_hr_lk (R, H); those of the other
// direction end in _reverse. G gates of H = hidden_size units; R = H, or proj_size where that is not 0; D directions;
// I_0 = input_size, later layers read D R. All start uniform in [-1/sqrt(H), 1/sqrt(H)).
//
// Sequences are (T, B, I), or (B, T, I) with batch_first, and so are outputs, with D R elements a step: forward first,
// then reverse. States are (num_layers D, B, R), a cell's (num_layers D, B, H), layer by layer, in each forward first;
// undefined ones are zeros. With lengths, one for each sequence in any order, steps past a sequence's end give outputs
// of 0, its final state is that of its last step (reverse: of step 0, having started at its own end), and no gradient
// leaks past it. Detaching the final states before they are the next initial ones truncates back-propagation there.
//
// Every forward throws Error (invalid_argument), naming the argument and both sizes, for x, states or lengths that do
// not fit and lengths outside 1..T; nothing is changed then.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/nn/module.h"
#include "crisol/nn/rnn_cell.h"
#include "crisol/options/rnn.h"

namespace crisol::nn {

/// PyTorch's options of RNN, LSTM and GRU.
struct RecurrentOptions {
  int num_layers = 1;        ///< Each reads the outputs of the one before.
  bool bias = true;          ///< Both of each layer, or none.
  bool batch_first = false;  ///< Sequences are (B, T, …) instead of (T, B, …).
  /// Of the outputs of all layers but the last, in training; in [0, 1].
  double dropout = 0;
  bool bidirectional = false;  ///< A second direction in each layer, from the last step to the first.
  /// LSTM only: the outputs are projected to this size, below hidden_size; 0: they are not.
  std::int64_t proj_size = 0;
  /// RNN only.
  Nonlinearity nonlinearity = Nonlinearity::tanh;
};

/// The number of steps of each sequence; none: all have T. A tensor (B) of i64 or i32 is read to the host, which waits
/// for it.
class CRISOL_API SequenceLengths {
 public:
  SequenceLengths() = default;
  SequenceLengths(std::vector<std::int64_t> values);
  SequenceLengths(std::initializer_list<std::int64_t> values) : SequenceLengths(std::vector<std::int64_t>(values)) {}
  SequenceLengths(const Tensor& values);

  /// There are lengths.
  bool given() const noexcept { return given_; }
  /// One for each sequence, or empty.
  const std::vector<std::int64_t>& values() const noexcept { return values_; }

 private:
  bool given_ = false;
  std::vector<std::int64_t> values_;
};

/// The parameters of a layer and direction.
struct RnnParameters {
  Parameter weight_ih;  ///< (G H, I)
  Parameter weight_hh;  ///< (G H, R)
  Parameter bias_ih;    ///< (G H); undefined without bias.
  Parameter bias_hh;    ///< (G H); undefined without bias.
  Parameter weight_hr;  ///< (R, H); undefined without projection.

  /// The same tensors for the functions of crisol/functions/rnn.h.
  operator RnnWeights() const { return {weight_ih, weight_hh, bias_ih, bias_hh, weight_hr}; }
};

/// What the networks share. Throws invalid_argument for sizes that are not positive, dropout outside [0, 1], a
/// proj_size that is negative, not below hidden_size or not an LSTM's.
class CRISOL_API RecurrentNetwork : public Module {
 public:
  /// The parameters of a layer and direction, which are the network's own: `lstm.weights(0).weight_ih = values`.
  RnnParameters weights(int layer, bool reverse = false) const;
  std::string extra_repr() const override;
  /// As the constructor got them.
  const RecurrentOptions& options() const noexcept { return options_; }
  /// Elements of a step of the input.
  std::int64_t input_size() const noexcept { return input_size_; }
  /// Units of a layer and direction.
  std::int64_t hidden_size() const noexcept { return hidden_size_; }

 protected:
  /// What run() gives.
  struct Sequences {
    Tensor output;  ///< Of each step of the last layer.
    Tensor h_n;     ///< Final states.
    Tensor c_n;     ///< Final cells, LSTM only.
  };

  RecurrentNetwork(const char* name, RnnCell cell, std::int64_t input_size, std::int64_t hidden_size,
                   const RecurrentOptions& options);
  /// All layers and directions over whole sequences.
  Sequences run(const Tensor& x, const Tensor& h0, const Tensor& c0, const SequenceLengths& lengths) const;

 private:
  void add_layer(int layer, bool reverse);
  void check(const Tensor& x, const Tensor& h0, const Tensor& c0, const SequenceLengths& lengths) const;
  void check_state(const char* what, const Tensor& state, const Tensor& x, std::int64_t units) const;

  const char* name_;
  RnnCell cell_;
  std::int64_t input_size_, hidden_size_;
  RecurrentOptions options_;
  std::vector<RnnParameters> weights_;  ///< Layer by layer, in each forward first.
};

/// Outputs and final states of an RNN or GRU.
struct RNNOutput {
  Tensor output;  ///< (T, B, D R), or (B, T, D R) with batch_first.
  Tensor h_n;     ///< (num_layers D, B, R)
};

/// Elman network, tanh or ReLU.
class CRISOL_API RNN : public RecurrentNetwork {
 public:
  RNN(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});
  /// The outputs from an initial state of zeros.
  Tensor forward(const Tensor& x) override { return forward(x, Tensor()).output; }
  /// Outputs and final states from an initial state; without lengths all sequences have T steps.
  RNNOutput forward(const Tensor& x, const Tensor& h0, const SequenceLengths& lengths = {});
  using Module::operator();
  /// forward() with the hooks around it, which see x and the output.
  RNNOutput operator()(const Tensor& x, const Tensor& h0, const SequenceLengths& lengths = {});
};

/// Outputs and final states of an LSTM.
struct LSTMOutput {
  Tensor output;    ///< (T, B, D R), or (B, T, D R) with batch_first.
  LSTMState state;  ///< h_n and c_n
};

/// Long short-term memory (Hochreiter and Schmidhuber 1997, with forget gates), with projection where asked for.
class CRISOL_API LSTM : public RecurrentNetwork {
 public:
  LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});
  /// The outputs from an initial state of zeros.
  Tensor forward(const Tensor& x) override { return forward(x, LSTMState()).output; }
  /// Outputs and final states from an initial state; without lengths all sequences have T steps.
  LSTMOutput forward(const Tensor& x, const LSTMState& initial, const SequenceLengths& lengths = {});
  using Module::operator();
  /// forward() with the hooks around it, which see x and the output.
  LSTMOutput operator()(const Tensor& x, const LSTMState& initial, const SequenceLengths& lengths = {});
};

/// Gated recurrent units (Cho et al. 2014, in PyTorch's form).
class CRISOL_API GRU : public RecurrentNetwork {
 public:
  GRU(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});
  /// The outputs from an initial state of zeros.
  Tensor forward(const Tensor& x) override { return forward(x, Tensor()).output; }
  /// Outputs and final states from an initial state; without lengths all sequences have T steps.
  RNNOutput forward(const Tensor& x, const Tensor& h0, const SequenceLengths& lengths = {});
  using Module::operator();
  /// forward() with the hooks around it, which see x and the output.
  RNNOutput operator()(const Tensor& x, const Tensor& h0, const SequenceLengths& lengths = {});
};

}  // namespace crisol::nn
