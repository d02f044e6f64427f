// Gradients of the recurrent layer, and the nodes that the layer records.
#include "crisol/functions/rnn.h"

#include "crisol/autograd.h"
#include "crisol/functions/cat.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr std::int64_t steps = 3, batch = 2, inputs = 2, hidden = 3;

struct Values {
  Tensor x = tensor_of(random_values(1, steps* batch* inputs), {steps, batch, inputs});
  Tensor h0, c0;
  RnnWeights weights;

  explicit Values(RnnCell cell, std::int64_t projection = 0) {
    const std::int64_t rows = gates_of(cell) * hidden, outputs = projection > 0 ? projection : hidden;
    h0 = tensor_of(random_values(2, batch * outputs), {batch, outputs});
    if (cell == RnnCell::lstm) c0 = tensor_of(random_values(3, batch * hidden), {batch, hidden});
    weights.weight_ih = tensor_of(random_values(4, rows * inputs, -0.3, 0.3), {rows, inputs});
    weights.weight_hh = tensor_of(random_values(5, rows * outputs, -0.3, 0.3), {rows, outputs});
    std::vector<double> bias = random_values(6, rows);
    // The bias keeps each ReLU clearly on or clearly off, so that it is smooth within the steps of the check.
    if (cell == RnnCell::relu) bias = {2, -2, 2};
    weights.bias_ih = tensor_of(bias, {rows});
    weights.bias_hh = tensor_of(random_values(7, rows, -0.2, 0.2), {rows});
    if (projection > 0) weights.weight_hr = tensor_of(random_values(8, outputs * hidden), {outputs, hidden});
  }

  std::vector<Tensor> all() const {
    return {x, h0, c0, weights.weight_ih, weights.weight_hh, weights.bias_ih, weights.bias_hh, weights.weight_hr};
  }
};

RnnOutput run(const std::vector<Tensor>& in, const RnnOptions& options, const Tensor& lengths = Tensor()) {
  return rnn({in[0], in[1], in[2], lengths}, {in[3], in[4], in[5], in[6], in[7]}, options);
}

// All results in one tensor.
Tensor joined(const RnnOutput& out) {
  std::vector<Tensor> parts{out.y.flatten(), out.h_n.flatten()};
  if (out.c_n.defined()) parts.push_back(out.c_n.flatten());
  return cat(parts);
}

void check(RnnCell cell, bool reverse, bool with_lengths, std::int64_t projection = 0) {
  CAPTURE(std::string(name_of(cell)));
  CAPTURE(reverse);
  CAPTURE(with_lengths);
  CAPTURE(projection);
  const Tensor lengths = with_lengths ? from_vector<std::int64_t>({3, 1}) : Tensor();
  check_gradients(
      [&](const std::vector<Tensor>& in) {
        return joined(run(in, {cell, reverse}, lengths));
      },
      Values(cell, projection).all());
}

}  // namespace

TEST_CASE("gradients of rnn") {
  for (const RnnCell cell : {RnnCell::tanh, RnnCell::relu, RnnCell::lstm, RnnCell::gru})
    for (const bool reverse : {false, true})
      for (const bool with_lengths : {false, true})
        if (!slow_launches() || reverse == with_lengths) check(cell, reverse, with_lengths);
}

TEST_CASE("gradients of rnn: an LSTM with projection") {
  for (const bool reverse : {false, true})
    for (const bool with_lengths : {false, true})
      if (!slow_launches() || reverse == with_lengths) check(RnnCell::lstm, reverse, with_lengths, 2);
}

TEST_CASE("gradients of rnn: of one result alone, and without states and biases") {
  const Values v(RnnCell::lstm);
  const auto with = [&](int result) {
    return [result](const std::vector<Tensor>& in) {
      const RnnOutput out = rnn({in[0], {}, {}, {}}, {in[1], in[2], {}, {}, {}});
      return result == 0 ? out.y : result == 1 ? out.h_n : out.c_n;
    };
  };
  for (const int result : {0, 1, 2})
    check_gradients(with(result), {v.x, v.weights.weight_ih, v.weights.weight_hh}, {.elements = 4});
}

TEST_CASE("rnn: what a gradient does not reach stays without one, and nothing is recorded when none is wanted") {
  const Values v(RnnCell::gru);
  Tensor x = v.x.clone().requires_grad_();
  const RnnOutput out = rnn({x, v.h0, Tensor(), Tensor()}, v.weights, {RnnCell::gru});
  out.y.backward(ones(out.y.shape()));
  CHECK(x.grad().defined());
  CHECK(!v.weights.weight_ih.grad().defined());
  CHECK(!rnn({v.x, v.h0, {}, {}}, v.weights, {RnnCell::gru}).y.requires_grad());
  const NoGrad no_grad;
  CHECK(!rnn({x, v.h0, Tensor(), Tensor()}, v.weights, {RnnCell::gru}).y.requires_grad());
}

TEST_CASE("rnn: backward refuses what was changed since") {
  const Values v(RnnCell::lstm);
  Tensor weight = v.weights.weight_hh.clone().requires_grad_();
  RnnWeights weights = v.weights;
  weights.weight_hh = weight;
  const RnnOutput out = rnn({v.x, v.h0, v.c0, {}}, weights);
  {
    const NoGrad no_grad;
    weight.fill_(0);
  }
  check_error([&] { out.h_n.backward(ones(out.h_n.shape())); }, {"[backward]", "changed in place"});
  const RnnOutput again = rnn({v.x, v.h0, v.c0, {}}, weights);
  {
    const NoGrad no_grad;
    Tensor(again.y).fill_(0);
  }
  check_error([&] { again.h_n.backward(ones(out.h_n.shape())); }, {"[backward]", "changed in place"});
}
