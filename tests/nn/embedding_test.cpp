// The embedding layer: a table of vectors.
#include "crisol/nn/embedding.h"

#include <cmath>

#include "crisol/functions/reduce.h"
#include "crisol/optim.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "nn/moments.h"
#include "support/compare.h"

namespace crisol {

using testing::check_close;
using testing::check_error;
using testing::check_wrong_index;
using testing::tensor_of;
using testing::values_of;

TEST_CASE("Embedding has PyTorch's parameter, normal at first, with a row of zeros for padding") {
  manual_seed(5);
  const nn::Embedding table(40, 100), padded(40, 100, {.padding_idx = 3}), from_end(40, 100, {.padding_idx = -1});
  REQUIRE(table.named_parameters().size() == 1);
  CHECK(table.named_parameters()[0].first == "weight");
  CHECK(table.weight.shape() == Shape{40, 100});
  CHECK(table.weight.requires_grad());
  testing::check_normal(table.weight, 0, 1);
  check_close(padded.weight.select(0, 3), std::vector<double>(100, 0), {0});
  check_close(from_end.weight.select(0, 39), std::vector<double>(100, 0), {0});
  CHECK(values_of(padded.weight.select(0, 2))[0] != 0);
  check_error([] { nn::Embedding(0, 3); }, {"[Embedding]", "num_embeddings 0"});
  check_error([] { nn::Embedding(3, -1); }, {"[Embedding]", "embedding_dim -1"});
  check_error([] { nn::Embedding(3, 2, {.padding_idx = 3}); }, {"[Embedding]", "padding_idx 3", "[-3, 3)"});
  check_error([] { nn::Embedding(3, 2, {.padding_idx = -4}); }, {"[Embedding]", "padding_idx -4"});
}

TEST_CASE("Embedding looks rows up, for indices of any shape") {
  nn::Embedding table(5, 2);
  table.load_state_dict({{"weight", tensor_of({0, 1, 10, 11, 20, 21, 30, 31, 40, 41}, {5, 2})}});
  check_close(table(tensor_of({4, 0, 4, 2}, {2, 2}, DType::i64)), {2, 2, 2}, {40, 41, 0, 1, 40, 41, 20, 21}, {0});
  check_close(table(tensor_of({1}, {}, DType::i32)), {2}, {10, 11}, {0});
  CHECK(table(zeros({0, 3}, DType::i64)).shape() == Shape{0, 3, 2});
  check_error([&] { table(ones({2})); }, {"[embedding]", "f32"});
}

TEST_CASE("Embedding: an index out of range is the error of the next read, also from inside a graph") {
  nn::Embedding table(5, 2);
  for (const std::int64_t index : {5, -1}) {
    CAPTURE(index);
    const Tensor wrong = table(full({3}, index, DType::i64));
    const std::string text = "index " + std::to_string(index) + " is not in [0, 5)";
    check_wrong_index(ones({1}), {"[embedding]", text});  // Any read.
    for (const double value : values_of(wrong)) CHECK(std::isnan(value));
    const Tensor loss = sum(table(full({3}, index, DType::i64)));
    check_error([&] { loss.item(); }, {"[embedding]", text});
    loss.backward();
    check_wrong_index(table.weight.grad(), {"[embedding_backward]", text});
    for (const double value : values_of(table.weight.grad())) CHECK(value == 0);
    table.zero_grad();
  }
  values_of(table(zeros({2}, DType::i64)));
}

TEST_CASE("Embedding trains the rows that were looked up, but not the padding") {
  nn::Embedding table(4, 2, {.padding_idx = 1});
  const std::vector<double> before = values_of(table.weight);
  optim::SGD optimizer(table.parameters(), {0.5});
  sum(table(tensor_of({0, 1, 0, 3}, {4}, DType::i64))).backward();
  check_close(table.weight.grad(), {2, 2, 0, 0, 0, 0, 1, 1}, {0});
  optimizer.step();
  const std::vector<double> after = values_of(table.weight);
  for (std::size_t i = 0; i < 8; ++i) CHECK(after[i] == doctest::Approx(before[i] - (i < 2 ? 1 : (i < 6 ? 0 : 0.5))));
}

}  // namespace crisol
