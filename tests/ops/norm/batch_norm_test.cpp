#include <algorithm>
#include <cmath>
#include <string>

#include "crisol/ops/norm.h"
#include "doctest/doctest.h"
#include "ops/rowwise/row_variants.h"
#include "reference/norm.h"
#include "support/compare.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr double epsilon = 1e-5;

struct Case {
  Shape shape;
  bool affine = true;
  double offset = 0;  ///< Added to all values of x: a naive variance would cancel.

  std::int64_t images() const { return shape[0]; }
  std::int64_t channels() const { return shape[1]; }
  std::int64_t spatial() const {
    std::int64_t product = 1;
    for (int i = 2; i < shape.rank(); ++i) product *= shape[i];
    return product;
  }
  std::int64_t count() const { return images() * spatial(); }
};

std::vector<Case> cases() {
  std::vector<Case> list{{{4, 3, 5, 7}},
                         {{7, 5}},
                         {{2, 1}, false},
                         {{3, 2, 1, 1}},
                         {{2, 3, 16, 16}},
                         {{5, 2, 33}, false},
                         {{1, 70, 3, 3}},
                         {{2, 2, 2, 2, 5}},
                         {{4, 3, 6, 7}, true, 1000},
                         {{0, 3, 4, 4}},
                         {{3, 0, 2, 2}},
                         {{2, 3, 0, 4}},
                         {{3, 16}},
                         {{70, 21}, true, 1000},
                         {{130, 150}, false}};
  if (!slow_device()) {
    list.push_back({{9, 4, 40, 41}, true, 50});  // Several parts per channel.
    list.push_back({{3000, 3}});
    list.push_back({{1, 2, 90, 90}});  // Several parts per row.
  }
  return list;
}

std::vector<double> inputs(const Case& c) {
  std::vector<double> x = random_values(1, c.shape.numel());
  for (double& value : x) value = static_cast<float>(value + c.offset);
  return x;
}

// A rounding error of the mean changes every y by this error over the deviation, which is about 0.58 here.
Tolerance forward_tolerance(const Case& c) { return {16, 4 + 8 * c.offset}; }

std::vector<double> with_momentum(const std::vector<double>& old, const std::vector<double>& fresh, double factor) {
  std::vector<double> mixed;
  for (std::size_t i = 0; i < old.size(); ++i) mixed.push_back(0.8 * old[i] + 0.2 * factor * fresh[i]);
  return mixed;
}

struct Parameters {
  std::vector<double> weight, bias;
  Tensor weight_tensor, bias_tensor;

  explicit Parameters(const Case& c) {
    if (!c.affine) return;
    weight = random_values(2, c.channels(), 0.5, 2);
    bias = random_values(3, c.channels());
    weight_tensor = tensor_of(weight, {c.channels()});
    bias_tensor = tensor_of(bias, {c.channels()});
  }
};

/// `columns` is how many problems have x (N, C) with as many channels as a vector has lanes.
std::vector<Expected> variants_of(int long_rows, int columns) {
  std::vector<Expected> variants = row_variants(long_rows);
  variants.push_back(some(columns, on_cpus("columns")));
  return variants;
}

}  // namespace

TEST_CASE("batch_norm2d: training forward and running statistics") {
  const MustRun variants("batch_norm2d", variants_of(7, 3));
  for (const Case& c : cases()) {
    CAPTURE(c.shape);
    const Shape row{c.channels()};
    const auto x = inputs(c);
    const Parameters p(c);
    const auto old_mean = random_values(4, c.channels()), old_var = random_values(5, c.channels(), 0.5, 2);
    const auto expected = reference::batch_norm(x, c.images(), c.channels(), c.spatial(), p.weight, p.bias, epsilon);
    const double m = static_cast<double>(c.count());
    std::vector<double> invstd;
    for (const double var : expected.var) invstd.push_back(c.count() == 0 ? 0 : 1 / std::sqrt(var + epsilon));
    for_each_variant(variants, [&] {
      const Tensor mean = tensor_of(old_mean, row), var = tensor_of(old_var, row);
      const auto result =
          ops::batch_norm2d(tensor_of(x, c.shape), p.weight_tensor, p.bias_tensor, mean, var, {true, 0.2, epsilon});
      check_close(result.y, c.shape, expected.y, forward_tolerance(c));
      check_close(result.mean, row, expected.mean, {8, 1 + c.offset});
      check_close(result.invstd, row, invstd, {16});
      check_close(mean, row, c.count() == 0 ? old_mean : with_momentum(old_mean, expected.mean, 1), {8, 1 + c.offset});
      check_close(var, row, c.count() == 0 ? old_var : with_momentum(old_var, expected.var, m / (m - 1)), {16});
    });
  }
}

TEST_CASE("batch_norm2d: inference leaves the running statistics alone") {
  const MustRun variants("batch_norm2d", variants_of(8, 3));
  for (const Case& c : cases()) {
    CAPTURE(c.shape);
    const Shape row{c.channels()};
    const auto x = inputs(c);
    const Parameters p(c);
    auto mean = random_values(4, c.channels());
    for (double& value : mean) value = static_cast<float>(value + c.offset);
    const auto var = random_values(5, c.channels(), 0.5, 2);
    const auto expected =
        reference::batch_norm_constant(x, c.images(), c.channels(), c.spatial(), p.weight, p.bias, mean, var, epsilon);
    for_each_variant(variants, [&] {
      const Tensor mean_tensor = tensor_of(mean, row), var_tensor = tensor_of(var, row);
      const auto result = ops::batch_norm2d(tensor_of(x, c.shape), p.weight_tensor, p.bias_tensor, mean_tensor,
                                            var_tensor, {false, 0.2, epsilon});
      check_close(result.y, c.shape, expected, {8, 8});
      check_close(result.mean, row, mean, {0});
      CHECK(values_of(mean_tensor) == mean);
      CHECK(values_of(var_tensor) == var);
    });
  }
}

TEST_CASE("batch_norm2d: backward") {
  const MustRun variants("batch_norm2d_backward", variants_of(16, 6));
  for (const Case& c : cases()) {
    CAPTURE(c.shape);
    const Shape row{c.channels()};
    const auto x = inputs(c), dy = random_values(6, c.shape.numel());
    const Parameters p(c);
    const auto forward = reference::batch_norm(x, c.images(), c.channels(), c.spatial(), p.weight, p.bias, epsilon);
    std::vector<double> invstd;
    for (const double var : forward.var) invstd.push_back(c.count() == 0 ? 0 : 1 / std::sqrt(var + epsilon));
    for (const bool training : {true, false}) {
      CAPTURE(training);
      const auto expected = reference::batch_norm_backward(dy, x, c.images(), c.channels(), c.spatial(), p.weight,
                                                           forward.mean, forward.var, epsilon, !training);
      const double steepest = invstd.empty() ? 1 : std::max(1.0, *std::max_element(invstd.begin(), invstd.end()));
      const double root = std::sqrt(static_cast<double>(c.count()) + 1);
      for_each_variant(variants, [&] {
        const auto result = ops::batch_norm2d_backward(tensor_of(dy, c.shape), tensor_of(x, c.shape), p.weight_tensor,
                                                       tensor_of(forward.mean, row), tensor_of(invstd, row), training);
        // The given mean is rounded by half an ulp of the offset, and x^ contains this error times invstd. With two
        // values per channel, the rest of dy is a difference of nearly equal numbers.
        check_close(result.x, c.shape, expected.dx, {16, 2 * steepest * (4 + c.offset)});
        check_close(result.weight, row, expected.dweight, {16, root * steepest * (1 + c.offset)});
        check_close(result.bias, row, expected.dbias, {16, root});
      });
    }
  }
}

TEST_CASE("batch_norm2d: strided inputs, no running statistics") {
  const Case c{{3, 5, 2, 9}};
  const auto x = inputs(c), dy = random_values(6, c.shape.numel());
  const Parameters p(c);
  const auto forward = reference::batch_norm(x, 3, 5, 18, p.weight, p.bias, epsilon);
  const auto expected =
      reference::batch_norm_backward(dy, x, 3, 5, 18, p.weight, forward.mean, forward.var, epsilon, false);
  for (const Layout layout : all_layouts) {
    CAPTURE(std::string(name_of(layout)));
    const Tensor view = view_of(x, c.shape, layout), weight = view_of(p.weight, {5}, layout);
    const auto result = ops::batch_norm2d(view, weight, view_of(p.bias, {5}, layout), Tensor(), Tensor());
    check_close(result.y, c.shape, forward.y, forward_tolerance(c));
    const auto gradients =
        ops::batch_norm2d_backward(view_of(dy, c.shape, layout), view, weight, result.mean, result.invstd, true);
    check_close(gradients.x, c.shape, expected.dx, {16, 16});
    check_close(gradients.weight, {5}, expected.dweight, {16, 8});
    check_close(gradients.bias, {5}, expected.dbias, {16, 8});
  }
}

TEST_CASE("batch_norm2d: refusals change nothing") {
  const Tensor x = ones({2, 3, 4}), c3 = ones({3}), c4 = ones({4}), none;
  const Tensor mean = full({3}, 5), var = full({3}, 6);
  const auto forward = [&](const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& m,
                           const Tensor& v, const BatchNormOptions& options = {}) {
    return [=] { ops::batch_norm2d(input, weight, bias, m, v, options); };
  };
  check_error(forward(ones({3}), none, none, none, none), {"[batch_norm2d]", "(N, C)", "(3)"});
  check_error(forward(ones({2, 3}, DType::i32), none, none, none, none), {"[batch_norm2d]", "i32"});
  check_error(forward(x, c4, none, mean, var), {"[batch_norm2d]", "weight", "(3)", "(4)"});
  check_error(forward(x, c3, c4, mean, var), {"[batch_norm2d]", "bias", "(4)"});
  check_error(forward(x, c3, c3, mean, none), {"[batch_norm2d]", "both"});
  check_error(forward(x, c3, c3, none, none, {false}), {"[batch_norm2d]", "running"});
  check_error(forward(x, c3, c3, mean, c4), {"[batch_norm2d]", "running variance", "(4)"});
  check_error(forward(x, c3, c3, mean, view_of({1, 2, 3}, {3}, Layout::strided)), {"contiguous"});
  check_error(forward(ones({1, 3}), c3, c3, mean, var), {"more than one value", "(1, 3)"});
  CHECK(mean.to_vector<float>() == std::vector<float>{5, 5, 5});
  CHECK(var.to_vector<float>() == std::vector<float>{6, 6, 6});
  CHECK(ops::batch_norm2d(ones({1, 3}), c3, c3, mean, var, {false}).y.numel() == 3);
  const auto backward = [&](const Tensor& dy, const Tensor& m, const Tensor& invstd) {
    return [=] { ops::batch_norm2d_backward(dy, x, c3, m, invstd, true); };
  };
  check_error(backward(ones({2, 3}), c3, c3), {"[batch_norm2d_backward]", "(2, 3)"});
  check_error(backward(x, c4, c3), {"[batch_norm2d_backward]", "mean", "(4)"});
  check_error(backward(x, c3, c4), {"[batch_norm2d_backward]", "invstd", "(4)"});
}
