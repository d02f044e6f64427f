// Functions with their own gradient.
#include "crisol/crisol.h"
#include "crisol/ops.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

using testing::check_close;
using testing::check_error;
using testing::random_values;
using testing::tensor_of;

namespace {

using Tensors = std::vector<Tensor>;

/// a * b, with explicit gradients.
Tensor product(const Tensor& a, const Tensor& b) {
  return custom_function(
      "product", {a, b}, [](const Tensors& in) { return in[0] * in[1]; },
      [](const Tensor& dy, const Tensors& in, const Tensor&) {
        return Tensors{dy * in[1], dy * in[0]};
      });
}

}  // namespace

TEST_CASE("custom_function: values and gradients, alone and within a graph") {
  const Tensor a = tensor_of(random_values(1, 12), {3, 4}), b = tensor_of(random_values(2, 12), {3, 4});
  testing::check_gradients([](const Tensors& in) { return product(in[0], in[1]); }, {a, b});
  testing::check_gradients([](const Tensors& in) { return tanh(product(sin(in[0]), in[1] + 1)); }, {a, b});

  Tensor leaf = a.clone().requires_grad_();
  const Tensor y = custom_function(
      "scaled", {leaf}, [](const Tensors& in) { return exp(in[0]); },
      [](const Tensor& dy, const Tensors&, const Tensor& result) { return Tensors{3 * dy * result}; });
  sum(y).backward();
  check_close(leaf.grad(), testing::values_of(3 * exp(a)), {2});
}

TEST_CASE("custom_function: nothing is recorded without a need, and inside neither") {
  const Tensor a = ones({2});
  CHECK_FALSE(product(a, a).requires_grad());
  Tensor leaf = ones({2}).requires_grad_();
  {
    const NoGrad no_grad;
    CHECK_FALSE(product(leaf, a).requires_grad());
  }
  bool recorded = true;
  const Tensor y = custom_function(
      "inside", {leaf, Tensor()},
      [&](const Tensors& in) {
        const Tensor result = in[0] * 2;
        recorded = result.requires_grad() || in[1].defined();
        return result;
      },
      [](const Tensor& dy, const Tensors&, const Tensor&) {
        return Tensors{dy, Tensor()};
      });
  CHECK_FALSE(recorded);
  CHECK(y.requires_grad());
}

TEST_CASE("custom_function: the gradient has a gradient if backward is recorded, else it is refused by name") {
  const Tensor a = tensor_of(random_values(3, 12), {3, 4}), b = tensor_of(random_values(4, 12), {3, 4});
  testing::check_gradients_of_gradients([](const Tensors& in) { return product(sin(in[0]), in[1]); }, {a, b});
  // The gradient depends on the result, too.
  const auto exponential = [](const Tensor& x) {
    return custom_function(
        "exponential", {x}, [](const Tensors& in) { return exp(in[0]); },
        [](const Tensor& dy, const Tensors&, const Tensor& y) { return Tensors{dy * y}; });
  };
  testing::check_gradients_of_gradients([&](const Tensors& in) { return exponential(in[0] * 0.5); }, {a});

  // A raw op is not recorded: its gradient is no constant.
  const Tensor x = a.clone().requires_grad_();
  const auto raw = [](const Tensor& v) {
    return custom_function(
        "my_square", {v}, [](const Tensors& in) { return in[0] * in[0]; },
        [](const Tensor& dy, const Tensors& in, const Tensor&) { return Tensors{ops::mul(dy, ops::mul(in[0], 2))}; });
  };
  const Tensor slope = grad({sum(raw(x))}, {x}, {.create_graph = true})[0];
  check_close(slope, testing::values_of(2 * a), {0});
  check_error([&] { grad({sum(slope)}, {x}); }, {"[backward]", "my_square has no gradient of its gradient"});
  // dy may be passed on, and stays the caller's own tensor.
  const Tensor seed = ones({3, 4});
  const Tensor passed = custom_function(
      "pass", {x}, [](const Tensors& in) { return in[0].clone(); },
      [](const Tensor& dy, const Tensors&, const Tensor&) { return Tensors{dy}; });
  CHECK_FALSE(grad({passed}, {x}, {.grad_outputs = {seed}, .create_graph = true})[0].requires_grad());
  CHECK_FALSE(seed.requires_grad());
}

TEST_CASE("custom_function: messages of backward have its name") {
  const Tensor leaf = ones({2}).requires_grad_();
  const Tensor y = product(leaf, leaf);
  sum(y).backward();
  check_error([&] { sum(y).backward(); }, {"product", "freed"});
}

TEST_CASE("custom_function refuses what does not fit") {
  const auto identity = [](const Tensors& in) { return in[0].clone(); };
  const auto pass = [](const Tensor& dy, const Tensors&, const Tensor&) { return Tensors{dy}; };
  Tensor leaf = ones({2}).requires_grad_();
  check_error([&] { custom_function("f", {leaf}, nullptr, pass); }, {"[f]", "both functions"});
  check_error([&] { custom_function("f", {leaf}, identity, nullptr); }, {"[f]", "both functions"});
  check_error(
      [&] {
        custom_function(
            "f", {leaf}, [](const Tensors&) { return Tensor(); }, pass);
      },
      {"[f]", "undefined"});
  check_error(
      [&] {
        const auto two = [](const Tensor& dy, const Tensors&, const Tensor&) { return Tensors{dy, dy}; };
        sum(custom_function("f", {leaf}, identity, two)).backward();
      },
      {"[f]", "2 gradients for 1 inputs"});
  check_error(
      [&] {
        const auto other = [](const Tensor&, const Tensors&, const Tensor&) { return Tensors{ones({3})}; };
        sum(custom_function("f", {leaf}, identity, other)).backward();
      },
      {"[f]", "shape (3)", "input 0", "(2)"});
  check_error(
      [&] {
        Tensor input = ones({2});
        const Tensor y = product(input, leaf);
        input.fill_(5);
        sum(y).backward();
      },
      {"[backward]", "changed in place"});
}

}  // namespace crisol
