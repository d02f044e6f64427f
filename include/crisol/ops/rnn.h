// One raw recurrent layer over whole sequences, in one direction, not recorded by autograd. The differentiable function
// is in crisol/functions/rnn.h. Modules with several layers and directions are in crisol/nn/rnn.h.
// crisol/options/rnn.h explains the sizes T, B, I, H, R and G, the formulas, and the input. Every function throws Error
// (invalid_argument), naming the argument and both sizes, if sizes do not fit, and leaves all tensors unchanged.
#pragma once

#include "crisol/export.h"
#include "crisol/options/rnn.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// Results of rnn_forward that rnn_backward needs, all f32. Programs should only pass them on: their layout may change.
struct RnnSaved {
  Tensor gates;      ///< (T, B, S H): the activated gates. Undefined for tanh and relu.
  Tensor states;     ///< (T + 1, B, R): h0 and the state after each step. With `reverse`, h0 comes last.
  Tensor cells;      ///< (T + 1, B, H): the cell states of an LSTM, like `states`.
  Tensor projected;  ///< (T, B, H): the values before the projection by weight_hr.
};

/// The result of rnn_forward.
struct RnnResult {
  Tensor y;        ///< (T, B, R)
  Tensor h_n;      ///< (B, R): the state after each sequence's last step.
  Tensor c_n;      ///< (B, H), LSTM only.
  RnnSaved saved;  ///< The input of rnn_backward. Undefined without `save`.
};

/// Computes the layer over all steps. Without `save` it uses less memory, and `saved` stays undefined. y, h_n and c_n
/// may be views of the saved tensors.
CRISOL_API RnnResult rnn_forward(const RnnInput& input, const RnnWeights& weights, const RnnOptions& options = {},
                                 bool save = true);

/// Gradients of the results of rnn_forward. An undefined gradient means zeros.
struct RnnOutputGradients {
  Tensor y;    ///< (T, B, R)
  Tensor h_n;  ///< (B, R)
  Tensor c_n;  ///< (B, H), LSTM only.
};

/// Selects the gradients to compute. The others stay undefined.
struct RnnWanted {
  bool x = true;          ///< Gradient of x.
  bool h0 = true;         ///< Gradient of h0.
  bool c0 = true;         ///< Gradient of c0.
  bool weight_ih = true;  ///< Gradient of weight_ih.
  bool weight_hh = true;  ///< Gradient of weight_hh.
  bool bias_ih = true;    ///< Gradient of bias_ih.
  bool bias_hh = true;    ///< Gradient of bias_hh.
  bool weight_hr = true;  ///< Gradient of weight_hr.
};

/// Gradients of the inputs of rnn_forward, each in the shape of its input.
struct RnnInputGradients {
  Tensor x;            ///< (T, B, I)
  Tensor h0;           ///< (B, R)
  Tensor c0;           ///< (B, H), LSTM only.
  RnnWeights weights;  ///< The gradients of all defined parameters.
};

/// Computes the gradients of the inputs of rnn_forward from the gradients `dy` of its results. input, weights and
/// options are the same as for rnn_forward, and `saved` is the result of rnn_forward. Gradients of undefined parameters
/// stay undefined. So does the gradient of c0, unless the cell is lstm.
CRISOL_API RnnInputGradients rnn_backward(const RnnOutputGradients& dy, const RnnInput& input,
                                          const RnnWeights& weights, const RnnOptions& options, const RnnSaved& saved,
                                          const RnnWanted& wanted = {});

}  // namespace crisol::ops
