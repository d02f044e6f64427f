// Cells, inputs and weights of one recurrent layer in one direction.
//
// Sizes: T steps, a batch of B sequences, I inputs, H hidden units, and R outputs per step. R is H, except for an LSTM
// with a projection, where R is the number of rows of weight_hr. G is the number of gates: 1 for RnnCell::tanh and
// relu, 4 for lstm (in the order i, f, g, o), 3 for gru (in the order r, z, n).
//
// Formulas and names are PyTorch's. x is the input of a step, h the state before the step, h' the state after it, c and
// c' the cell states of an LSTM. s is the logistic function, * multiplies elementwise, and a[f] is the part of a that
// belongs to gate f:
//
//   tanh   h' = tanh(W_ih x + b_ih + W_hh h + b_hh)
//   relu   h' = max(0, W_ih x + b_ih + W_hh h + b_hh)
//   lstm   a = W_ih x + b_ih + W_hh h + b_hh
//          c' = s(a[f]) * c + s(a[i]) * tanh(a[g])
//          h' = s(a[o]) * tanh(c'), or with weight_hr: h' = W_hr (s(a[o]) * tanh(c'))
//   gru    u = W_ih x + b_ih,  v = W_hh h + b_hh
//          r = s(u[r] + v[r]),  z = s(u[z] + v[z]),  n = tanh(u[n] + r * v[n])
//          h' = (1 - z) * n + z * h
//
// All tensors but the lengths have one floating-point type. Steps compute and keep their states in f32, or in f64.
#pragma once

#include <cstdint>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol {

/// The formula of a layer; see above.
enum class RnnCell : std::uint8_t { tanh, relu, lstm, gru };
/// "RNN_TANH", "RNN_RELU", "LSTM" or "GRU", as PyTorch calls them.
CRISOL_API const char* name_of(RnnCell cell) noexcept;
/// The number of gates G: weight_ih and weight_hh have G H rows.
CRISOL_API std::int64_t gates_of(RnnCell cell) noexcept;

/// Options of one layer and direction.
struct RnnOptions {
  RnnCell cell = RnnCell::lstm;  ///< The formula.
  bool reverse = false;          ///< Goes from each sequence's last step to its first.
};

/// The parameters of one layer and direction, or their gradients.
struct RnnWeights {
  Tensor weight_ih;  ///< (G H, I)
  Tensor weight_hh;  ///< (G H, R)
  Tensor bias_ih;    ///< (G H). Both biases are defined, or none.
  Tensor bias_hh;    ///< (G H)
  Tensor weight_hr;  ///< (R, H), LSTM only. Undefined means no projection.
};

/// The input of one layer. Sequences shorter than T are padded at their ends, and `lengths` holds their numbers of
/// steps. A length below 0 counts as 0, a length above T as T. Steps past the end of a sequence leave its state
/// unchanged and give outputs of 0. With `reverse`, a sequence starts at its own end.
struct RnnInput {
  Tensor x;        ///< (T, B, I)
  Tensor h0;       ///< (B, R); undefined: zeros.
  Tensor c0;       ///< (B, H), LSTM only; undefined: zeros.
  Tensor lengths;  ///< (B), i64; undefined: all sequences have T steps.
};

}  // namespace crisol
