// The fully connected layer.
#include "crisol/nn/linear.h"

#include <cmath>

#include "crisol/functions/reduce.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "nn/moments.h"
#include "reference/matmul.h"
#include "support/compare.h"

namespace crisol {

using testing::check_close;
using testing::check_error;
using testing::check_uniform;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;

TEST_CASE("Linear has PyTorch's parameters") {
  const nn::Linear layer(5, 3), bare(5, 3, false);
  REQUIRE(layer.named_parameters().size() == 2);
  CHECK(layer.named_parameters()[0].first == "weight");
  CHECK(layer.named_parameters()[1].first == "bias");
  CHECK(layer.weight.shape() == Shape{3, 5});
  CHECK(layer.bias.shape() == Shape{3});
  CHECK(layer.parameter_count() == 18);
  CHECK(bare.parameter_count() == 15);
  CHECK_FALSE(bare.bias.defined());
  for (const auto& [in, out] : {std::pair(0, 3), std::pair(3, 0), std::pair(-1, 2)})
    check_error([in = in, out = out] { nn::Linear(in, out); }, {"[Linear]", std::to_string(in), "must be positive"});
}

TEST_CASE("Linear starts uniform in 1 / sqrt(in_features), fixed by the seed") {
  manual_seed(11);
  const nn::Linear layer(20, 240);
  check_uniform(layer.weight, 1 / std::sqrt(20.0));
  check_uniform(layer.bias, 1 / std::sqrt(20.0));
  manual_seed(11);
  const nn::Linear same(20, 240), next(20, 240);
  CHECK(same.weight.to_vector<float>() == layer.weight.to_vector<float>());
  CHECK(same.bias.to_vector<float>() == layer.bias.to_vector<float>());
  CHECK(next.weight.to_vector<float>() != layer.weight.to_vector<float>());
}

TEST_CASE("Linear computes x times the transposed weight plus bias, for any leading axes") {
  for (const bool with_bias : {true, false}) {
    for (const Shape& shape : {Shape{4, 7}, Shape{7}, Shape{2, 3, 7}, Shape{0, 7}}) {
      CAPTURE(shape);
      nn::Linear layer(7, 5, with_bias);
      const std::vector<double> x = random_values(1, shape.numel());
      const reference::Product y = reference::linear(x, shape, values_of(layer.weight), {5, 7},
                                                     with_bias ? values_of(layer.bias) : std::vector<double>());
      check_close(layer(tensor_of(x, shape)), y.shape, y.values, {8, 1});  // Eight roundings of sums below 8/sqrt(7).
    }
  }
  nn::Linear layer(7, 5);
  check_error([&] { layer(ones({4, 6})); }, {"6", "7"});
  check_error([&] { layer(ones({4, 7}, DType::i32)); }, {"i32"});
}

TEST_CASE("Linear's parameters get gradients") {
  nn::Linear layer(3, 2);
  sum(layer(tensor_of({1, 2, 3, 4, 5, 6}, {2, 3}))).backward();
  check_close(layer.weight.grad(), {2, 3}, {5, 7, 9, 5, 7, 9}, {0});
  check_close(layer.bias.grad(), {2}, {2, 2}, {0});
}

}  // namespace crisol
