// One time step of a recurrent network. Names of parameters, orders of gates and first values are PyTorch's: weight_ih
// (G H, I), weight_hh (G H, H), bias_ih and bias_hh (G H), all uniform in [-1/sqrt(H), 1/sqrt(H)); G gates of
// H = hidden_size units, I = input_size. Formulas: crisol/ops/rnn.h. Inputs are (B, I), states (B, H); undefined states
// are zeros. Whole sequences are faster through crisol/nn/rnn.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "crisol/nn/module.h"
#include "crisol/options/rnn.h"

namespace crisol::nn {

/// Of an RNN.
enum class Nonlinearity : std::uint8_t { tanh, relu };

/// PyTorch's options of the cells.
struct RecurrentCellOptions {
  bool bias = true;                                ///< Both, or none.
  Nonlinearity nonlinearity = Nonlinearity::tanh;  ///< RNNCell only.
};

/// Hidden and cell state of an LSTM; undefined ones stand for zeros.
struct CRISOL_API LSTMState {
  Tensor h;  ///< Hidden state, (B, R); of a network (num_layers D, B, R).
  Tensor c;  ///< Cell state, (B, H); of a network (num_layers D, B, H).

  /// The same values outside the graph: back-propagation ends here.
  LSTMState detach() const;
};

/// What the cells share.
class CRISOL_API RecurrentCell : public Module {
 public:
  std::string extra_repr() const override;

  Parameter weight_ih;  ///< (G H, I)
  Parameter weight_hh;  ///< (G H, H)
  Parameter bias_ih;    ///< (G H); undefined without bias.
  Parameter bias_hh;    ///< (G H); undefined without bias.

 protected:
  RecurrentCell(const char* name, RnnCell cell, std::int64_t input_size, std::int64_t hidden_size,
                const RecurrentCellOptions& options);
  /// The next state; cells other than an LSTM leave c undefined.
  LSTMState step(const Tensor& x, const LSTMState& state) const;

 private:
  const char* name_;
  RnnCell cell_;
};

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or max(0, …).
class CRISOL_API RNNCell : public RecurrentCell {
 public:
  RNNCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options = {});
  /// The next state of a state of zeros.
  Tensor forward(const Tensor& x) override { return forward(x, Tensor()); }
  /// The next state.
  Tensor forward(const Tensor& x, const Tensor& h);
  using Module::operator();
  /// forward() with the hooks around it, which see x and the next state.
  Tensor operator()(const Tensor& x, const Tensor& h);
};

/// The LSTM's step; returns h' and c'.
class CRISOL_API LSTMCell : public RecurrentCell {
 public:
  LSTMCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options = {});
  using Module::forward;
  /// The next state.
  LSTMState forward(const Tensor& x, const LSTMState& state);
  using Module::operator();
  /// forward() with the hooks around it, which see x and h'.
  LSTMState operator()(const Tensor& x, const LSTMState& state);
};

/// The GRU's step, with the reset gate applied to W_hn h + b_hn as in PyTorch.
class CRISOL_API GRUCell : public RecurrentCell {
 public:
  GRUCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options = {});
  /// The next state of a state of zeros.
  Tensor forward(const Tensor& x) override { return forward(x, Tensor()); }
  /// The next state.
  Tensor forward(const Tensor& x, const Tensor& h);
  using Module::operator();
  /// forward() with the hooks around it, which see x and the next state.
  Tensor operator()(const Tensor& x, const Tensor& h);
};

/// Settings of StackedLSTM.
struct StackedLSTMOptions {
  int num_layers = 1;    ///< Cells in the stack.
  double dropout = 0.5;  ///< Of the outputs of all cells, in training; in [0, 1].
};

/// One time step through a list of LSTM cells, the first over input_size, the others over hidden_size:
/// (h[i], c[i]) = cell_i(input, (h[i], c[i])); input = dropout(h[i]). Parameters are named layers.0.weight_ih, …
class CRISOL_API StackedLSTM : public Module {
 public:
  /// One state for each layer; empty stands for zeros.
  struct CRISOL_API States {
    std::vector<Tensor> h;  ///< Hidden states.
    std::vector<Tensor> c;  ///< Cell states.

    /// The same values outside the graph.
    States detach() const;
  };
  /// What forward() gives.
  struct Output {
    std::vector<Tensor> outputs;  ///< dropout(h[i]) of each layer; the last is the stack's own output.
    States states;                ///< The next ones, before dropout.
  };

  StackedLSTM(std::int64_t input_size, std::int64_t hidden_size, const StackedLSTMOptions& options = {});
  /// The last layer's output from states of zeros.
  Tensor forward(const Tensor& x) override { return forward(x, States()).outputs.back(); }
  /// Throws invalid_argument, with both numbers, unless there are as many states as layers or none.
  Output forward(const Tensor& x, const States& states);
  using Module::operator();
  /// forward() with the hooks around it, which see x and the last of the outputs.
  Output operator()(const Tensor& x, const States& states);
  std::string extra_repr() const override;

  /// Cells in the stack.
  int num_layers() const noexcept { return static_cast<int>(cells_.size()); }

 private:
  std::vector<LSTMCell> cells_;
  double dropout_;
};

}  // namespace crisol::nn
