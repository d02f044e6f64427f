// Inputs and weights that the raw recurrent ops refuse.
#include "crisol/ops/rnn.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_error;

struct Case {
  RnnInput input{zeros({2, 3, 4}), {}, {}, {}};
  RnnWeights weights{zeros({8, 4}), zeros({8, 2}), zeros({8}), zeros({8}), {}};
  RnnOptions options;

  void refuse(std::initializer_list<std::string_view> parts) const {
    check_error([&] { ops::rnn_forward(input, weights, options); }, parts);
  }
};

template <class Change>
void refuse(Change&& change, std::initializer_list<std::string_view> parts) {
  Case broken;
  change(broken);
  broken.refuse(parts);
}

}  // namespace

TEST_CASE("rnn: inputs and weights that do not fit are refused with their shapes") {
  refuse([](Case& c) { c.input.x = Tensor(); }, {"[rnn", "the input is undefined"});
  refuse([](Case& c) { c.input.x = zeros({3, 4}); }, {"3 axes", "(3, 4)"});
  refuse([](Case& c) { c.weights.weight_hh = zeros({8}); }, {"weight_hh", "2 axes", "(8)"});
  refuse([](Case& c) { c.weights.weight_hh = zeros({3, 2}); }, {"weight_hh", "(3, 2)", "too small", "4 gates"});
  refuse([](Case& c) { c.weights.bias_hh = Tensor(); }, {"bias_hh is missing"});
  refuse([](Case& c) { c.weights.bias_ih = Tensor(); }, {"bias_ih is missing"});
  refuse([](Case& c) { c.weights.weight_hr = zeros({2}); }, {"weight_hr", "2 axes", "(2)", "LSTM"});
  refuse([](Case& c) { c.weights.weight_hr = zeros({3, 2}); }, {"weight_hr has 3 rows", "2 hidden"});
  refuse(
      [](Case& c) {
        c.options.cell = RnnCell::gru;
        c.weights = {zeros({6, 4}), zeros({6, 2}), {}, {}, {}};
        c.input.c0 = zeros({3, 2});
      },
      {"c0 is given", "GRU"});
  const Case whole;
  const ops::RnnResult result = ops::rnn_forward(whole.input, whole.weights, whole.options, false);
  check_error(
      [&] {
        ops::rnn_backward({zeros({2, 3, 2}), {}, {}}, whole.input, whole.weights, whole.options, result.saved);
      },
      {"[rnn_backward]"});
  RnnOptions relu{RnnCell::relu, false};
  const RnnWeights small{zeros({2, 4}), zeros({2, 2}), {}, {}, {}};
  const ops::RnnResult simple = ops::rnn_forward(whole.input, small, relu);
  check_error(
      [&] {
        ops::rnn_backward({{}, {}, zeros({3, 2})}, whole.input, small, relu, simple.saved);
      },
      {"[rnn_backward]", "a gradient of c_n", "RELU"});
}

}  // namespace crisol
