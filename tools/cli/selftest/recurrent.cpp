// RNN, LSTM and GRU over several steps, forward and backward.
#include <algorithm>
#include <cmath>

#include "cli/selftest/check.h"
#include "crisol/ops/rnn.h"
#include "reference/rnn.h"

namespace crisol::cli::selftest {

namespace {

using reference::Numbers;
using reference::random_values;
using reference::RnnLayer;

Tensor tensor_or_none(const Numbers& values, const Shape& shape) {
  return values.empty() ? Tensor() : tensor_of(values, shape);
}

double largest_magnitude(const Numbers& values) {
  double most = 1;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

struct Data {
  reference::RnnInputs in;
  reference::RnnNumbers weights;
  reference::RnnOutputs dout;

  explicit Data(const RnnLayer& l) {
    const std::int64_t rows = l.gates() * l.hidden;
    const double bound = 1 / std::sqrt(static_cast<double>(l.hidden));
    in.x = random_values(1, l.steps * l.batch * l.inputs, -2, 2);
    in.h0 = random_values(2, l.batch * l.hidden);
    weights.weight_ih = random_values(3, rows * l.inputs, -bound, bound);
    weights.weight_hh = random_values(4, rows * l.hidden, -bound, bound);
    weights.bias_ih = random_values(5, rows);
    weights.bias_hh = random_values(6, rows);
    dout.y = random_values(8, l.steps * l.batch * l.hidden);
    dout.h_n = random_values(9, l.batch * l.hidden);
    if (l.cell != RnnCell::lstm) return;
    in.c0 = random_values(10, l.batch * l.hidden, -2, 2);
    dout.c_n = random_values(11, l.batch * l.hidden);
  }
};

void check_layer(Check& check, const RnnLayer& l) {
  const Data d(l);
  const auto expected = reference::rnn_forward(l, d.in, d.weights);
  const auto gradients = reference::rnn_backward(l, d.in, d.weights, d.dout);
  const std::int64_t rows = l.gates() * l.hidden;
  const Shape y{l.steps, l.batch, l.hidden}, h{l.batch, l.hidden}, x{l.steps, l.batch, l.inputs};
  const RnnInput input{tensor_of(d.in.x, x), tensor_of(d.in.h0, h), tensor_or_none(d.in.c0, h), Tensor()};
  const RnnWeights weights{tensor_of(d.weights.weight_ih, {rows, l.inputs}),
                           tensor_of(d.weights.weight_hh, {rows, l.hidden}), tensor_of(d.weights.bias_ih, {rows}),
                           tensor_of(d.weights.bias_hh, {rows}), Tensor()};
  const RnnOptions options{l.cell, l.reverse};
  // A step makes errors of some ulp in sums of `terms` products. tanh and sigmoid make these errors smaller in later
  // steps; ReLU lets them grow.
  const double terms = static_cast<double>(l.inputs + l.hidden + l.steps * l.batch);
  const ops::RnnResult result = ops::rnn_forward(input, weights, options);
  const reference::Tolerance forward{32 + 4 * std::sqrt(terms), largest_magnitude(expected.y)};
  check.close(result.y, y, expected.y, forward);
  check.close(result.h_n, h, expected.h_n, forward);

  const auto got = ops::rnn_backward({tensor_of(d.dout.y, y), tensor_of(d.dout.h_n, h), tensor_or_none(d.dout.c_n, h)},
                                     input, weights, options, result.saved);
  const auto check_gradient = [&](const Tensor& actual, const Shape& shape, const Numbers& values) {
    check.close(actual, shape, values, {64 + 4 * std::sqrt(terms), largest_magnitude(values)});
  };
  check_gradient(got.x, x, gradients.inputs.x);
  check_gradient(got.h0, h, gradients.inputs.h0);
  check_gradient(got.weights.weight_ih, {rows, l.inputs}, gradients.weights.weight_ih);
  check_gradient(got.weights.weight_hh, {rows, l.hidden}, gradients.weights.weight_hh);
  check_gradient(got.weights.bias_ih, {rows}, gradients.weights.bias_ih);
  check_gradient(got.weights.bias_hh, {rows}, gradients.weights.bias_hh);
}

void check_cell(Check& check, RnnCell cell) {
  check_layer(check, {cell, false, 5, 3, 7, 12});
  check_layer(check, {cell, true, 4, 17, 20, 33});
}

}  // namespace

std::vector<Op> recurrent() {
  return {{"rnn_tanh", [](Check& check) { check_cell(check, RnnCell::tanh); }},
          {"rnn_relu", [](Check& check) { check_cell(check, RnnCell::relu); }},
          {"lstm", [](Check& check) { check_cell(check, RnnCell::lstm); }},
          {"gru", [](Check& check) { check_cell(check, RnnCell::gru); }}};
}

}  // namespace crisol::cli::selftest
