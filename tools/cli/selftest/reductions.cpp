// Reductions over rows, columns and all axes, running sums.
#include <cmath>
#include <functional>

#include "cli/selftest/check.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/reduce.h"
#include "reference/reduce.h"

namespace crisol::cli::selftest {

namespace {

using reference::random_values;
using reference::Tolerance;

struct Case {
  Shape shape, axes, result;
};

const Case cases[] = {{{7, 30, 11}, {}, {}},
                      {{7, 30, 11}, {1}, {7, 11}},
                      {{7, 30, 11}, {0, 2}, {30}},
                      {{300, 5}, {0}, {5}},
                      {{5, 300}, {1}, {5}}};

/// Checks every result of `reduce` against `expect`, called with the elements that make up this result.
template <class Reduce, class Expect>
void check_all(Check& check, Reduce reduce, Expect expect, double low, double high, Tolerance tolerance) {
  for (const Case& c : cases) {
    const auto x = random_values(1, c.shape.numel(), low, high);
    std::vector<double> expected;
    for (const auto& group : reference::reduction_groups(x, c.shape, c.axes))
      expected.push_back(static_cast<double>(expect(group)));
    check.close(reduce(tensor_of(x, c.shape), c.axes), c.result, expected, tolerance);
  }
}

#define REDUCE(op) [](const Tensor& x, const Shape& axes) { return ops::op(x, axes); }

constexpr double most = 7 * 30 * 11;  // The largest number of terms in a sum.

void check_sum(Check& check) { check_all(check, REDUCE(sum), reference::sum, -1, 1, {10, most}); }
void check_mean(Check& check) { check_all(check, REDUCE(mean), reference::mean, -1, 1, {10, 1}); }
void check_max(Check& check) { check_all(check, REDUCE(max), reference::largest, -1, 1, {0}); }
void check_min(Check& check) { check_all(check, REDUCE(min), reference::smallest, -1, 1, {0}); }
void check_argmax(Check& check) { check_all(check, REDUCE(argmax), reference::first_largest, -1, 1, {0}); }
void check_argmin(Check& check) { check_all(check, REDUCE(argmin), reference::first_smallest, -1, 1, {0}); }
void check_logsumexp(Check& check) { check_all(check, REDUCE(logsumexp), reference::log_sum_exp, -1, 1, {8, 8}); }

// Each factor adds one rounding. The factors are near 1.
void check_prod(Check& check) { check_all(check, REDUCE(prod), reference::product, 0.99, 1.01, {most / 3}); }

void check_var(Check& check) {
  check_all(check, REDUCE(var), [](const std::vector<double>& v) { return reference::variance(v, 1); }, -1, 1, {16});
  check_all(check, REDUCE(stddev), [](const std::vector<double>& v) { return std::sqrt(reference::variance(v, 1)); },
            -1, 1, {16});
}

void check_norm(Check& check) {
  for (const double p : {1.0, 2.0, 3.0, HUGE_VAL})
    check_all(
        check, [p](const Tensor& x, const Shape& axes) { return ops::norm(x, p, axes); },
        [p](const std::vector<double>& v) { return reference::norm(v, p); }, -1, 1, {32});
}

void check_any_all(Check& check) {
  for (const Case& c : cases) {
    const auto x = reference::random_integers(2, c.shape.numel(), 0, 1);
    std::vector<double> any, all;
    for (const auto& group : reference::reduction_groups(x, c.shape, c.axes)) {
      any.push_back(reference::any(group));
      all.push_back(reference::all(group));
    }
    check.equal(ops::any(tensor_of(x, c.shape, DType::boolean), c.axes), c.result, any);
    check.equal(ops::all(tensor_of(x, c.shape, DType::boolean), c.axes), c.result, all);
  }
}

void check_integers(Check& check) {
  for (const DType dtype : all_dtypes)
    for (const Case& c : cases) {
      if (!is_whole(dtype)) continue;
      const auto x = reference::random_integers(3, c.shape.numel(), 0, 100);
      std::vector<double> sums, extremes;
      for (const auto& group : reference::reduction_groups(x, c.shape, c.axes)) {
        sums.push_back(reference::sum(group));
        extremes.push_back(reference::largest(group));
      }
      const Tensor values = tensor_of(x, c.shape, dtype);
      check.equal(ops::sum(values, c.axes), c.result, sums);
      check.equal(ops::max(values, c.axes), c.result, extremes);
    }
}

void check_cumprod(Check& check) {
  const auto x = random_values(5, 3 * 70 * 5, 0.5, 1.5);
  check.close(ops::cumprod(tensor_of(x, {3, 70, 5}), 1), {3, 70, 5},
              reference::running(x, {3, 70, 5}, 1, std::multiplies<>()), {100, 1});
}

}  // namespace

std::vector<Op> reductions() {
  return {{"sum", check_sum},
          {"mean", check_mean},
          {"prod", check_prod},
          {"max", check_max},
          {"min", check_min},
          {"argmax", check_argmax},
          {"argmin", check_argmin},
          {"var_stddev", check_var},
          {"norm", check_norm},
          {"logsumexp", check_logsumexp},
          {"any_all", check_any_all},
          {"integer_reductions", check_integers},
          from_problems("cumsum", {"cumsum outer=3 length=70 inner=5 reverse=0 dtype=0",
                                   "cumsum outer=3 length=70 inner=5 reverse=1 dtype=0"}),
          {"cumprod", check_cumprod}};
}

}  // namespace crisol::cli::selftest
