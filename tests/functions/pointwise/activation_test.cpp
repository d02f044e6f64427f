// Activations that are made of other functions, and their layers.
#include "crisol/functions/activation.h"

#include <cmath>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/nn/activation.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/random_tensor.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

/// Compares a function with a formula in double, and its gradient with finite differences. No element is near a kink.
void check_formula(const std::function<Tensor(const Tensor&)>& f, double (*formula)(double)) {
  const std::vector<double> x{-3, -1.2, -0.8, -0.3, 0.2, 0.4, 0.9, 2.5};
  std::vector<double> expected;
  for (const double value : x) expected.push_back(formula(value));
  check_close(f(tensor_of(x, {2, 4})), {2, 4}, expected, {16});
  check_gradients([&](const std::vector<Tensor>& in) { return f(in[0]); }, {tensor_of(x, {2, 4})});
}

}  // namespace

TEST_CASE("activations made of other functions compute their formulas") {
  check_formula([](const Tensor& x) { return softsign(x); }, [](double x) { return x / (1 + std::abs(x)); });
  check_formula([](const Tensor& x) { return tanhshrink(x); }, [](double x) { return x - std::tanh(x); });
  check_formula([](const Tensor& x) { return hardshrink(x); }, [](double x) { return std::abs(x) > 0.5 ? x : 0; });
  check_formula([](const Tensor& x) { return softshrink(x, 0.6); },
                [](double x) { return std::abs(x) > 0.6 ? x - std::copysign(0.6, x) : 0; });
  check_formula([](const Tensor& x) { return nn::Hardtanh(-1, 0.5)(x); },
                [](double x) { return std::min(std::max(x, -1.0), 0.5); });
  check_formula([](const Tensor& x) { return nn::GELUTanh()(x); },
                [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); });
  const Tensor row = tensor_of({1, 2, 4}, {3});
  const double total = std::exp(-1) + std::exp(-2) + std::exp(-4);
  check_close(softmin(row, 0), {std::exp(-1) / total, std::exp(-2) / total, std::exp(-4) / total}, {16});
  CHECK(nn::Hardtanh(-1, 0.5).extra_repr() == "min_val=-1.0, max_val=0.5");
}

TEST_CASE("glu multiplies one half by the sigmoid of the other, along any axis") {
  const std::vector<double> x = random_values(3, 12, -2, 2);
  const auto gated = [&](std::size_t i, std::size_t gate) { return x[i] / (1 + std::exp(-x[gate])); };
  check_close(glu(tensor_of(x, {3, 4})), {3, 2},
              {gated(0, 2), gated(1, 3), gated(4, 6), gated(5, 7), gated(8, 10), gated(9, 11)}, {16});
  check_close(nn::GLU(0)(tensor_of(x, {2, 6})), {1, 6},
              {gated(0, 6), gated(1, 7), gated(2, 8), gated(3, 9), gated(4, 10), gated(5, 11)}, {16});
  check_gradients([](const std::vector<Tensor>& in) { return glu(in[0], 1); }, {tensor_of(x, {3, 4})});
  check_error([] { glu(ones({2, 3})); }, {"[glu]", "3 elements"});
  check_error([] { glu(ones({2, 2}), 2); }, {"[glu]", "2"});
  check_error([] { glu(Tensor()); }, {"[glu]", "undefined"});
}

TEST_CASE("PReLU trains one weight, or one for each channel") {
  nn::PReLU one, each(2, 0.5);
  const Tensor x = tensor_of({1, -2, -4, 3, -1, 5, 6, -8}, {2, 2, 2});
  check_close(one(x), {1, -0.5, -1, 3, -0.25, 5, 6, -2}, {0});
  each.weight = tensor_of({0.5, 0.25}, {2});
  check_close(each(x), {1, -1, -1, 3, -0.5, 5, 6, -2}, {0});
  sum(each(x)).backward();
  check_close(each.weight.grad(), {-3, -12}, {0});
  CHECK(each.state_dict()["weight"].shape() == Shape{2});
  CHECK(each.extra_repr() == "num_parameters=2");
  check_error([] { nn::PReLU(0); }, {"[PReLU]", "0"});
  check_error([&] { each(ones({2})); }, {"[PReLU]", "(2)"});
}
