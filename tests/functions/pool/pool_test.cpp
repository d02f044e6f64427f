// Gradients of the differentiable poolings.
#include "crisol/functions/pool.h"

#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

using testing::check_gradients;

namespace {

// Values a tenth apart in a shuffled order, so that no step of the gradient check changes a maximum.
Tensor distinct_values(const Shape& shape) {
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 37 % values.size()) * 0.1 - 2.0;
  return testing::tensor_of(values, shape);
}

}  // namespace

TEST_CASE("gradients of pooling") {
  const Tensor x = distinct_values({2, 1, 6, 5});  // 60 elements; 37 has no common divisor with 60.
  for (const MaxPool2dOptions& options :
       {MaxPool2dOptions{2}, MaxPool2dOptions{3, 2, 1}, MaxPool2dOptions{2, 1, 1, 2, true}})
    check_gradients([&](const std::vector<Tensor>& in) { return max_pool2d(in[0], options); }, {x});
  for (const AvgPool2dOptions& options : {AvgPool2dOptions{2}, AvgPool2dOptions{3, 2, 1, true, false}})
    check_gradients([&](const std::vector<Tensor>& in) { return avg_pool2d(in[0], options); }, {x});
  for (const IntPair output : {IntPair(1), IntPair(4, 3)})
    check_gradients([&](const std::vector<Tensor>& in) { return adaptive_avg_pool2d(in[0], output); }, {x});
}

TEST_CASE("pooling is not recorded without need") {
  CHECK_FALSE(max_pool2d(ones({1, 1, 2, 2}), {2}).requires_grad());
  CHECK(max_pool2d(ones({1, 1, 2, 2}).requires_grad_(), {2}).requires_grad());
}

}  // namespace crisol
