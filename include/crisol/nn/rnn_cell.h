// Cells: one time step of a recurrent network. crisol/options/rnn.h has the formulas. For whole sequences,
// crisol/nn/rnn.h is faster.
//
// Sizes: a batch of B, I = input_size, H = hidden_size, and G gates. Inputs are (B, I), states (B, H). Undefined states
// are zeros. Names of parameters, the order of gates and initial values are PyTorch's. All parameters start uniform in
// [-1/sqrt(H), 1/sqrt(H)).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "crisol/nn/module.h"
#include "crisol/options/rnn.h"

namespace crisol::nn {

/// The nonlinearity of an RNN.
enum class Nonlinearity : std::uint8_t { tanh, relu };

/// PyTorch's options of the cells.
struct RecurrentCellOptions {
  bool bias = true;                                ///< Has both biases, or none.
  Nonlinearity nonlinearity = Nonlinearity::tanh;  ///< RNNCell only.
};

/// Hidden and cell state of an LSTM. An undefined state means zeros.
struct CRISOL_API LSTMState {
  Tensor h;  ///< Hidden state: (B, H) for a cell, (num_layers D, B, R) for a network.
  Tensor c;  ///< Cell state: (B, H) for a cell, (num_layers D, B, H) for a network.

  /// The same values outside the graph: back-propagation ends here.
  LSTMState detach() const;
};

/// The base of the cells.
class CRISOL_API RecurrentCell : public Module {
 public:
  std::string extra_repr() const override;
  /// The formula.
  RnnCell cell() const noexcept { return cell_; }

  Parameter weight_ih;  ///< (G H, I)
  Parameter weight_hh;  ///< (G H, H)
  Parameter bias_ih;    ///< (G H); undefined without bias.
  Parameter bias_hh;    ///< (G H); undefined without bias.

 protected:
  RecurrentCell(const char* name, RnnCell cell, std::int64_t input_size, std::int64_t hidden_size,
                const RecurrentCellOptions& options);
  /// The next state. Only an LSTM defines c.
  LSTMState step(const Tensor& x, const LSTMState& state) const;

 private:
  const char* name_;
  RnnCell cell_;
};

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or max(0, …) for Nonlinearity::relu.
class CRISOL_API RNNCell : public RecurrentCell {
 public:
  RNNCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options = {});
  /// The next state of a state of zeros.
  Tensor forward(const Tensor& x) override { return forward(x, Tensor()); }
  /// The next state.
  Tensor forward(const Tensor& x, const Tensor& h);
  using Module::operator();
  /// Calls the hooks and forward(). Hooks see x and the next state.
  Tensor operator()(const Tensor& x, const Tensor& h);
};

/// One step of an LSTM. Returns h' and c'.
class CRISOL_API LSTMCell : public RecurrentCell {
 public:
  LSTMCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options = {});
  using Module::forward;
  /// The next state.
  LSTMState forward(const Tensor& x, const LSTMState& state);
  using Module::operator();
  /// Calls the hooks and forward(). Hooks see x and h'.
  LSTMState operator()(const Tensor& x, const LSTMState& state);
};

/// One step of a GRU. The reset gate multiplies W_hn h + b_hn, as in PyTorch.
class CRISOL_API GRUCell : public RecurrentCell {
 public:
  GRUCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options = {});
  /// The next state of a state of zeros.
  Tensor forward(const Tensor& x) override { return forward(x, Tensor()); }
  /// The next state.
  Tensor forward(const Tensor& x, const Tensor& h);
  using Module::operator();
  /// Calls the hooks and forward(). Hooks see x and the next state.
  Tensor operator()(const Tensor& x, const Tensor& h);
};

/// Settings of StackedLSTM.
struct StackedLSTMOptions {
  int num_layers = 1;    ///< Cells in the stack.
  double dropout = 0.5;  ///< Dropout of the outputs of all cells, in training; in [0, 1].
};

/// One time step through a stack of LSTM cells. The first cell reads the input (input_size). Each other cell reads the
/// output of the cell before (hidden_size): (h[i], c[i]) = cell_i(input, (h[i], c[i])); input = dropout(h[i]).
/// Parameters are named layers.0.weight_ih, …
class CRISOL_API StackedLSTM : public Module {
 public:
  /// One state for each layer. Empty lists mean zeros.
  struct CRISOL_API States {
    std::vector<Tensor> h;  ///< Hidden states.
    std::vector<Tensor> c;  ///< Cell states.

    /// The same values outside the graph.
    States detach() const;
  };
  /// The result of forward().
  struct Output {
    std::vector<Tensor> outputs;  ///< dropout(h[i]) of each layer. The last is the output of the stack.
    States states;                ///< The next states, before dropout.
  };

  StackedLSTM(std::int64_t input_size, std::int64_t hidden_size, const StackedLSTMOptions& options = {});
  /// The last layer's output from states of zeros.
  Tensor forward(const Tensor& x) override { return forward(x, States()).outputs.back(); }
  /// The outputs and the next states. Throws invalid_argument, with both numbers, unless there is one state for each
  /// layer, or none.
  Output forward(const Tensor& x, const States& states);
  using Module::operator();
  /// Calls the hooks and forward(). Hooks see x and the last of the outputs.
  Output operator()(const Tensor& x, const States& states);
  std::string extra_repr() const override;

  /// Cells in the stack.
  int num_layers() const noexcept { return static_cast<int>(cells_.size()); }

 private:
  std::vector<LSTMCell> cells_;
  double dropout_;
};

}  // namespace crisol::nn
