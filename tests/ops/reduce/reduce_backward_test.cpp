#include <cmath>
#include <limits>

#include "crisol/ops/reduce.h"
#include "doctest/doctest.h"
#include "ops/reduce/reduce_cases.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

const Shape shape{3, 4, 5};
const Shape axes_sets[] = {Shape{}, Shape{1}, Shape{0, -1}, Shape{2}};

Shape result_shape(const Shape& axes, bool keepdim) { return ops::sum(zeros(shape), axes, keepdim).shape(); }

using Values = std::vector<double>;

}  // namespace

TEST_CASE("reduce: gradients of sum, mean and max") {
  for (const Shape& axes : axes_sets) {
    CAPTURE(axes);
    // Few different values, so that several are the largest.
    const Values x = random_integers(5, 60, 0, 3);
    const Tensor t = tensor_of(x, shape);
    const std::vector<std::int64_t> outputs = reference::reduction_outputs(shape, axes);
    const auto groups = reference::reduction_groups(x, shape, axes);
    const Values dy = random_values(6, static_cast<std::int64_t>(groups.size()));
    for (const bool keepdim : {false, true}) {
      const Tensor y = ops::max(t, axes, keepdim);
      const Tensor gradient = tensor_of(dy, y.shape());
      Values for_sum, for_mean, for_max;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto o = static_cast<std::size_t>(outputs[i]);
        const double top = reference::largest(groups[o]);
        double equal = 0;
        for (const double value : groups[o]) equal += value == top;
        for_sum.push_back(dy[o]);
        for_mean.push_back(dy[o] / static_cast<double>(groups[o].size()));
        for_max.push_back(x[i] == top ? dy[o] / equal : 0);
      }
      check_close(ops::sum_backward(gradient, shape, axes), shape, for_sum, {0});
      check_close(ops::mean_backward(gradient, shape, axes), shape, for_mean, {2});
      check_close(ops::max_backward(gradient, t, y, axes), shape, for_max, {4});
    }
  }
  check_error([] { ops::sum_backward(zeros({2}), {3, 4}, {0}); }, {"[sum_backward]", "(2)", "(3, 4)"});
  check_error([] { ops::max_backward(zeros({4}), zeros({3, 4}), zeros({3}), {0}); }, {"[max_backward]", "(3)"});
}

TEST_CASE("reduce: gradients of prod, var, std, norm and logsumexp") {
  const Values x = random_values(7, 60, 0.3, 1.7);
  const Tensor t = tensor_of(x, shape);
  for (const Shape& axes : axes_sets) {
    CAPTURE(axes);
    const bool keepdim = axes.rank() == 1;
    const Shape small = result_shape(axes, keepdim);
    const Values dy = random_values(8, small.numel());
    const Tensor g = tensor_of(dy, small);
    const auto check = [&](const Tensor& gradient, const std::function<double(const Values&)>& reduce, double scale) {
      // The reference's differences are exact to about 1e-9.
      check_close(gradient, shape, reference::reduction_gradient(x, shape, axes, dy, reduce), {40, scale});
    };
    check(ops::prod_backward(g, t, axes), reference::product, 0);
    check(
        ops::var_backward(g, t, axes, 1), [](const Values& v) { return reference::variance(v, 1); }, 0);
    check(
        ops::stddev_backward(g, t, ops::stddev(t, axes, keepdim, 0), axes, 0),
        [](const Values& v) { return std::sqrt(reference::variance(v, 0)); }, 0);
    for (const double p : {1.0, 2.0, 3.5})
      check(
          ops::norm_backward(g, t, ops::norm(t, p, axes, keepdim), p, axes),
          [p](const Values& v) { return reference::norm(v, p); }, 0);
    check(ops::logsumexp_backward(g, t, ops::logsumexp(t, axes, keepdim), axes), reference::log_sum_exp, 1);
  }
}

TEST_CASE("reduce: gradients where the formulas have holes") {
  const double infinity = std::numeric_limits<double>::infinity();
  // Products with no, one and two zeros.
  const Tensor zeroed = tensor_of({2, 3, 4, 0, 3, 4, 0, 0, 4}, {3, 3});
  check_close(ops::prod_backward(tensor_of({1, 2, 5}, {3}), zeroed, {1}), {3, 3}, {12, 8, 6, 24, 0, 0, 0, 0, 0}, {2});
  const Tensor flat = tensor_of({3, 3, 0, 0}, {2, 2}), one = ones({2});
  check_close(ops::stddev_backward(one, flat, ops::stddev(flat, {1}), {1}), {2, 2}, {0, 0, 0, 0}, {0});
  const Tensor x = tensor_of({3, -4, 0, 0}, {2, 2});
  check_close(ops::norm_backward(one, x, ops::norm(x, 2, {1}), 2, {1}), {2, 2}, {0.6, -0.8, 0, 0}, {2});
  check_close(ops::norm_backward(one, x, ops::norm(x, 1, {1}), 1, {1}), {2, 2}, {1, -1, 0, 0}, {0});
  check_close(ops::norm_backward(one, x, ops::norm(x, 0, {1}), 0, {1}), {2, 2}, {0, 0, 0, 0}, {0});
  check_close(ops::norm_backward(one, x, ops::norm(x, 0.5, {1}), 0.5, {1}), {2, 2},
              {std::pow(std::sqrt(3.0) + 2, 2) / (std::sqrt(3.0) * (std::sqrt(3.0) + 2)),
               -std::pow(std::sqrt(3.0) + 2, 2) / (2 * (std::sqrt(3.0) + 2)), 0, 0},
              {64});
  const Tensor pair = tensor_of({3, -3, 1, 2}, {2, 2});
  check_close(ops::norm_backward(one, pair, ops::norm(pair, infinity, {1}), infinity, {1}), {2, 2}, {0.5, -0.5, 0, 1},
              {0});
}

TEST_CASE("reduce: the gradient of a maximum goes to its index") {
  const Tensor dy = tensor_of({5, 7, 9}, {3}), at = tensor_of({1, 0, 1}, {3}, DType::i64);
  check_close(ops::max_with_indices_backward(dy, at, {2, 3}, 0), {2, 3}, {0, 7, 0, 5, 0, 9}, {0});
  check_error(
      [&] {
        ops::max_with_indices_backward(dy, dy, {2, 3}, 0);
      },
      {"[max_with_indices_backward]", "i64", "f32"});
  check_error([&] { ops::max_with_indices_backward(dy, at, {3, 2}, 0); }, {"[max_with_indices_backward]", "(3, 2)"});
}

TEST_CASE("reduce: gradients refuse what does not fit") {
  const Tensor x = zeros({3, 4});
  check_error([&] { ops::var_backward(zeros({3}), x, {0}); }, {"[var_backward]", "(3)", "(3, 4)"});
  check_error([&] { ops::norm_backward(zeros({4}), x, zeros({3}), 2, {0}); }, {"[norm_backward]", "(3)"});
  check_error([&] { ops::logsumexp_backward(Tensor(), x, zeros({4}), {0}); }, {"[logsumexp_backward]", "undefined"});
  check_error([&] { ops::prod_backward(zeros({4}), x, {2}); }, {"[prod_backward]", "axis 2"});
}
