// A recurrent layer made of differentiable functions, for gradients of gradients.
#pragma once

#include <vector>

#include "crisol/options/rnn.h"

namespace crisol {

/// The results of rnn() for `in`: y, h_n and, for an LSTM, c_n. `in` holds x, h0, c0, weight_ih, weight_hh, bias_ih,
/// bias_hh and weight_hr. `lengths` may be undefined.
std::vector<Tensor> composed_rnn(const std::vector<Tensor>& in, const Tensor& lengths, const RnnOptions& options);

}  // namespace crisol
