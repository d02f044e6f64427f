#include "crisol/functions/reduce.h"

#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("functions: gradients of reductions") {
  // The values are so far apart that a step of the gradient check does not change the largest one.
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back((i * 37 % 60) * 0.1);
  const Tensor x = tensor_of(values, {3, 4, 5});
  for (const Shape& axes : {Shape{}, Shape{0}, Shape{-1}, Shape{0, 2}}) {
    for (const bool keepdim : {false, true}) {
      CAPTURE(axes);
      CAPTURE(keepdim);
      using Inputs = std::vector<Tensor>;
      check_gradients([&](const Inputs& v) { return sum(v[0], axes, keepdim); }, {x});
      check_gradients([&](const Inputs& v) { return mean(v[0], axes, keepdim); }, {x});
      check_gradients([&](const Inputs& v) { return max(v[0], axes, keepdim); }, {x});
      check_gradients([&](const Inputs& v) { return min(v[0], axes, keepdim); }, {x});
    }
  }
}

TEST_CASE("functions: equal largest elements share the gradient") {
  Tensor x = tensor_of({1, 3, 3, 0, 2, 2}, {2, 3}).requires_grad_();
  max(x, {1}).backward(tensor_of({1, 4}, {2}));
  check_close(x.grad(), {0, 0.5, 0.5, 0, 2, 2}, {0});
  CHECK_FALSE(argmax(x, {1}).requires_grad());
  check_close(argmax(x, {1}), {1, 1}, {0});
}

TEST_CASE("functions: gradients of the other reductions") {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(0.5 + (i * 37 % 60) * 0.03);
  const Tensor x = tensor_of(values, {3, 4, 5});
  using Inputs = std::vector<Tensor>;
  for (const Shape& axes : {Shape{}, Shape{0}, Shape{0, 2}}) {
    CAPTURE(axes);
    const bool keepdim = axes.rank() == 1;
    if (!axes.empty()) check_gradients([&](const Inputs& v) { return prod(v[0], axes, keepdim); }, {x});
    check_gradients([&](const Inputs& v) { return var(v[0], axes, keepdim); }, {x});
    check_gradients([&](const Inputs& v) { return stddev(v[0], axes, keepdim, 0); }, {x});
    check_gradients([&](const Inputs& v) { return norm(v[0], 2, axes, keepdim); }, {x});
    check_gradients([&](const Inputs& v) { return norm(v[0], 3, axes, keepdim); }, {x});
    check_gradients([&](const Inputs& v) { return logsumexp(v[0], axes, keepdim); }, {x});
  }
  for (const int axis : {0, 1, -1}) {
    check_gradients([&](const Inputs& v) { return cumsum(v[0], axis); }, {x});
    check_gradients([&](const Inputs& v) { return max_with_indices(v[0], axis).values; }, {x});
    check_gradients([&](const Inputs& v) { return min_with_indices(v[0], axis, true).values; }, {x});
  }
  // Integers and booleans have no gradient and need none.
  CHECK_FALSE(sum(ones({3}, DType::i32)).requires_grad());
  CHECK_FALSE(any(x, {0}).requires_grad());
}
