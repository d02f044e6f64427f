// Functions with their own gradient.
#include "crisol/crisol.h"
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
