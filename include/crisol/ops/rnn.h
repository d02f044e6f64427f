// One layer of a recurrent network over a whole sequence, in one direction, without autograd. The differentiable
// function is in crisol/functions/rnn.h, the modules of several layers and directions are in crisol/nn/rnn.h.
//
// T steps, a batch of B, I inputs, H hidden units, R outputs a step: R = H, or the rows of weight_hr where an LSTM
// projects its output. Gates G: 1 of RnnCell::tanh and relu, 4 of lstm (order i, f, g, o), 3 of gru (r, z, n).
// With [gate] for the rows of a gate, s the logistic function, and * elementwise:
//
//   tanh   h' = tanh(W_ih x + b_ih + W_hh h + b_hh)                  relu the same with max(0, …)
//   lstm   a = W_ih x + b_ih + W_hh h + b_hh; c' = s(a[f]) * c + s(a[i]) * tanh(a[g]); h' = s(a[o]) * tanh(c')
//          with weight_hr: h' = W_hr (s(a[o]) * tanh(c'))
//   gru    u = W_ih x + b_ih, v = W_hh h + b_hh; r = s(u[r] + v[r]); z = s(u[z] + v[z]); n = tanh(u[n] + r * v[n]);
//          h' = (1 - z) * n + z * h
//
// which are PyTorch's formulas, names and orders of rows. Every function throws Error (invalid_argument), naming the
// argument and both sizes, for what does not fit, and leaves all tensors as they were.
#pragma once

#include "crisol/export.h"
#include "crisol/options/rnn.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// What backward needs of a forward; its layout is the library's own affair.
struct RnnSaved {
  Tensor gates;      ///< (T, B, S H): activated gates; undefined for tanh and relu.
  Tensor states;     ///< (T + 1, B, R): h0 and the state after each step; in reverse h0 is the last.
  Tensor cells;      ///< (T + 1, B, H): the same of an LSTM's c.
  Tensor projected;  ///< (T, B, H): what weight_hr was applied to.
};

/// What a forward gives.
struct RnnResult {
  Tensor y;        ///< (T, B, R)
  Tensor h_n;      ///< (B, R): the state after each sequence's last step.
  Tensor c_n;      ///< (B, H), LSTM only.
  RnnSaved saved;  ///< For backward; undefined without `save`.
};

/// One pass over the sequences. Without `save` less memory is used and `saved` stays undefined. y, h_n and c_n may be
/// views of what is saved.
CRISOL_API RnnResult rnn_forward(const RnnInput& input, const RnnWeights& weights, const RnnOptions& options = {},
                                 bool save = true);

/// Gradients of a forward's results; undefined ones are zeros.
struct RnnOutputGradients {
  Tensor y;    ///< (T, B, R)
  Tensor h_n;  ///< (B, R)
  Tensor c_n;  ///< (B, H), LSTM only.
};

/// Which gradients are wanted; the others stay undefined.
struct RnnWanted {
  bool x = true;          ///< That of x.
  bool h0 = true;         ///< That of h0.
  bool c0 = true;         ///< That of c0.
  bool weight_ih = true;  ///< That of weight_ih.
  bool weight_hh = true;  ///< That of weight_hh.
  bool bias_ih = true;    ///< That of bias_ih.
  bool bias_hh = true;    ///< That of bias_hh.
  bool weight_hr = true;  ///< That of weight_hr.
};

/// Gradients of what a forward read, each of its shape.
struct RnnInputGradients {
  Tensor x;            ///< (T, B, I)
  Tensor h0;           ///< (B, R)
  Tensor c0;           ///< (B, H), LSTM only.
  RnnWeights weights;  ///< Of all parameters that there are.
};

/// Gradients of all that a forward read, from those of its results; input, weights, options and saved are the
/// forward's. Gradients of absent biases, of weight_hr without projection and of c0 without an LSTM stay undefined.
CRISOL_API RnnInputGradients rnn_backward(const RnnOutputGradients& dy, const RnnInput& input,
                                          const RnnWeights& weights, const RnnOptions& options, const RnnSaved& saved,
                                          const RnnWanted& wanted = {});

}  // namespace crisol::ops
