// Recurrent networks over whole sequences, with several layers, in one or both directions.
//
// crisol/options/rnn.h has the formulas. Sizes: T steps, a batch of B sequences, H = hidden_size, G gates, and
// num_layers layers with D directions (1, or 2 with `bidirectional`). R outputs per step: proj_size, or H if proj_size
// is 0. Layer 0 reads I_0 = input_size numbers per step, and each later layer reads D R numbers.
//
// Parameters have PyTorch's names and orders, so PyTorch's state dicts load without changes. Layer k has weight_ih_lk
// (G H, I_k), weight_hh_lk (G H, R), bias_ih_lk (G H) and bias_hh_lk (G H). With proj_size it also has weight_hr_lk
// (R, H). The names of the backward direction end in _reverse. All parameters start uniform in [-1/sqrt(H), 1/sqrt(H)).
//
// Sequences are (T, B, I_0), or (B, T, I_0) with batch_first. Outputs have D R numbers per step: first the forward
// direction, then the backward direction. States are (num_layers D, B, R), and cell states (num_layers D, B, H). They
// are ordered by layer, and the forward direction is first in each layer. Undefined states are zeros. To truncate
// back-propagation, detach the final states before they become the next initial states.
//
// Sequences may have different lengths, in any order. Outputs after the end of a sequence are 0, and give no gradient.
// The final state of a sequence is the state after its last step. The backward direction starts at the end of each
// sequence and ends at step 0.
//
// Every forward() throws Error (invalid_argument), naming the argument and both sizes, if x, states or lengths do not
// fit, or if a length is not in 1..T. It then changes nothing.
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
  int num_layers = 1;        ///< Each layer reads the outputs of the layer before.
  bool bias = true;          ///< Each layer has both biases, or none.
  bool batch_first = false;  ///< Sequences are (B, T, …) instead of (T, B, …).
  /// Dropout of the outputs of all layers except the last, in training; in [0, 1].
  double dropout = 0;
  bool bidirectional = false;  ///< Adds the backward direction to each layer: from the last step to the first.
  /// LSTM only: projects the outputs to this size, which is below hidden_size. 0 means no projection.
  std::int64_t proj_size = 0;
  /// RNN only: the nonlinearity.
  Nonlinearity nonlinearity = Nonlinearity::tanh;
};

/// The number of steps of each sequence. Without lengths, all sequences have T steps. A tensor (B) of i64 or i32 is
/// read to the host, which waits.
class CRISOL_API SequenceLengths {
 public:
  SequenceLengths() = default;
  SequenceLengths(std::vector<std::int64_t> values);
  SequenceLengths(std::initializer_list<std::int64_t> values) : SequenceLengths(std::vector<std::int64_t>(values)) {}
  SequenceLengths(const Tensor& values);

  /// Whether there are lengths.
  bool given() const noexcept { return given_; }
  /// One length for each sequence, or empty.
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

/// The base of the networks. Constructors throw invalid_argument for sizes that are not positive, and for a dropout
/// outside [0, 1]. They throw it also for a proj_size that is negative, not below hidden_size, or not for an LSTM.
class CRISOL_API RecurrentNetwork : public Module {
 public:
  /// The parameters of a layer and direction. They are the same tensors as the network's: `lstm.weights(0).weight_ih =
  /// values`.
  RnnParameters weights(int layer, bool reverse = false) const;
  std::string extra_repr() const override;
  /// The options of the constructor.
  const RecurrentOptions& options() const noexcept { return options_; }
  /// The number of inputs per step.
  std::int64_t input_size() const noexcept { return input_size_; }
  /// The number of hidden units of a layer and direction.
  std::int64_t hidden_size() const noexcept { return hidden_size_; }

 protected:
  /// The result of run().
  struct Sequences {
    Tensor output;  ///< Outputs of the last layer, for each step.
    Tensor h_n;     ///< Final states.
    Tensor c_n;     ///< Final cell states, LSTM only.
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
  std::vector<RnnParameters> weights_;  ///< By layer, with the forward direction first.
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
  /// Calls the hooks and forward(). Hooks see x and the output.
  RNNOutput operator()(const Tensor& x, const Tensor& h0, const SequenceLengths& lengths = {});
};

/// Outputs and final states of an LSTM.
struct LSTMOutput {
  Tensor output;    ///< (T, B, D R), or (B, T, D R) with batch_first.
  LSTMState state;  ///< The final states h_n and c_n.
};

/// Long short-term memory (Hochreiter and Schmidhuber 1997, with forget gates), with an optional projection.
class CRISOL_API LSTM : public RecurrentNetwork {
 public:
  LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});
  /// The outputs from an initial state of zeros.
  Tensor forward(const Tensor& x) override { return forward(x, LSTMState()).output; }
  /// Outputs and final states from an initial state; without lengths all sequences have T steps.
  LSTMOutput forward(const Tensor& x, const LSTMState& initial, const SequenceLengths& lengths = {});
  using Module::operator();
  /// Calls the hooks and forward(). Hooks see x and the output.
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
  /// Calls the hooks and forward(). Hooks see x and the output.
  RNNOutput operator()(const Tensor& x, const Tensor& h0, const SequenceLengths& lengths = {});
};

}  // namespace crisol::nn
