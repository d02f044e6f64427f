// The recurrent model of the MNIST sample.
#include "crisol/nn/models/row_lstm.h"

#include "crisol/functions/loss.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;

}  // namespace

TEST_CASE("RowLSTM has the layers of its text") {
  const nn::RowLSTM model;
  const std::pair<const char*, Shape> expected[] = {{"lstm.weight_ih_l0", {512, 28}}, {"lstm.weight_hh_l0", {512, 128}},
                                                    {"lstm.bias_ih_l0", {512}},       {"lstm.bias_hh_l0", {512}},
                                                    {"fc.weight", {10, 128}},         {"fc.bias", {10}}};
  const NamedTensors state = model.state_dict();
  REQUIRE(state.size() == std::size(expected));
  for (std::size_t i = 0; i < state.size(); ++i) {
    CHECK(state[i].first == expected[i].first);
    CHECK(state[i].second.shape() == expected[i].second);
  }
}

TEST_CASE("RowLSTM reads rows in order and classifies the last state") {
  nn::RowLSTM model(4, 6, 3);
  const Tensor x = tensor_of(random_values(1, 2 * 5 * 4), {2, 1, 5, 4});
  // The same result from the model's parts, one row after another.
  nn::LSTMCell cell(4, 6);
  nn::Linear fc(6, 3);
  NamedTensors cell_state, fc_state;
  for (const auto& [name, tensor] : model.state_dict())
    if (name.rfind("lstm.", 0) == 0)
      cell_state.emplace_back(name.substr(5, name.size() - 8), tensor);
    else
      fc_state.emplace_back(name.substr(3), tensor);
  cell.load_state_dict(cell_state);
  fc.load_state_dict(fc_state);
  nn::LSTMState state;
  for (int row = 0; row < 5; ++row) state = cell.forward(x.select(1, 0).select(1, row), state);
  check_close(model(x), Shape{2, 3}, values_of(fc.forward(state.h)), {64, 1});

  cross_entropy(model(x), from_vector(std::vector<std::int64_t>{2, 0})).backward();
  for (const Tensor& parameter : model.parameters()) CHECK(parameter.grad().defined());
}

TEST_CASE("RowLSTM refuses images of other sizes") {
  nn::RowLSTM model(4, 6, 3);
  check_error([&] { model(ones({2, 1, 5, 3})); }, {"[RowLSTM]", "(N, 1, rows, 4)", "(2, 1, 5, 3)"});
  check_error([&] { model(ones({2, 2, 5, 4})); }, {"[RowLSTM]", "(2, 2, 5, 4)"});
  check_error([&] { model(ones({2, 20})); }, {"[RowLSTM]", "(2, 20)"});
}

}  // namespace crisol
