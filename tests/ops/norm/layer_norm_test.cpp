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
  int axes;
  bool affine = true;
  double offset = 0;

  Shape normalized() const {
    Shape result;
    for (int i = shape.rank() - axes; i < shape.rank(); ++i) result.push_back(shape[i]);
    return result;
  }
  Shape rows() const {
    Shape result;
    for (int i = 0; i < shape.rank() - axes; ++i) result.push_back(shape[i]);
    return result;
  }
};

std::vector<Case> cases() {
  std::vector<Case> list{{{5, 10}, 1}, {{3, 33}, 1, false}, {{2, 3, 4, 5}, 2}, {{16}, 1},
                         {{4, 1}, 1},  {{2, 130}, 1},       {{70, 7}, 1},      {{3, 40}, 1, true, 1000},
                         {{0, 4}, 1},  {{3, 0}, 1},         {{130, 16}, 1}};
  if (!slow_device()) {
    list.push_back({{3, 5000}, 1, true, 50});
    list.push_back({{700, 50}, 1});
  }
  return list;
}

struct Inputs {
  std::vector<double> x, dy, weight, bias;

  explicit Inputs(const Case& c) : x(random_values(1, c.shape.numel())), dy(random_values(2, c.shape.numel())) {
    for (double& value : x) value = static_cast<float>(value + c.offset);
    if (!c.affine) return;
    weight = random_values(3, c.normalized().numel(), 0.5, 2);
    bias = random_values(4, c.normalized().numel());
  }
};

Tensor tensor_or_none(const std::vector<double>& values, const Shape& shape, Layout layout) {
  return values.empty() && shape.numel() != 0 ? Tensor() : view_of(values, shape, layout);
}

void check_layer_norm(const MustRun& forward, const MustRun& backward, const Case& c, Layout layout) {
  CAPTURE(c.shape);
  CAPTURE(std::string(name_of(layout)));
  const Inputs v(c);
  const Shape normalized = c.normalized(), rows = c.rows();
  const std::int64_t n = normalized.numel();
  const auto expected = reference::layer_norm(v.x, rows.numel(), n, v.weight, v.bias, epsilon);
  const auto gradients = reference::layer_norm_backward(v.dy, v.x, rows.numel(), n, v.weight, epsilon);
  std::vector<double> rstd;
  double steepest = 1;
  for (const double var : expected.var) {
    rstd.push_back(1 / std::sqrt(var + epsilon));
    steepest = std::max(steepest, rstd.back());
  }
  const Tensor x = view_of(v.x, c.shape, layout), dy = view_of(v.dy, c.shape, layout);
  const Tensor weight = tensor_or_none(v.weight, normalized, layout), bias = tensor_or_none(v.bias, normalized, layout);
  ops::LayerNormResult result;
  for_each_variant(forward, [&] {
    result = ops::layer_norm(x, normalized, weight, bias, epsilon);
    // The mean's rounding error, half an ulp of the offset, is divided by the deviation.
    check_close(result.y, c.shape, expected.y, {16, steepest * (2 + c.offset)});
    if (n == 0) return;
    check_close(result.mean, rows, expected.mean, {8, 1 + c.offset});
    check_close(result.rstd, rows, rstd, {16});
  });
  const double root = std::sqrt(static_cast<double>(rows.numel()) + 1);
  for_each_variant(backward, [&] {
    const auto actual = ops::layer_norm_backward(dy, x, normalized, weight, result.mean, result.rstd);
    check_close(actual.x, c.shape, gradients.dx, {16, 2 * steepest * (4 + c.offset)});
    check_close(actual.weight, normalized, gradients.dweight, {16, root * steepest * (1 + c.offset)});
    check_close(actual.bias, normalized, gradients.dbias, {16, root});
  });
}

}  // namespace

TEST_CASE("layer_norm: forward and backward agree with the reference") {
  const MustRun forward("layer_norm", with_lanes(row_variants(16))),
      backward("layer_norm_backward", with_lanes(row_variants(16)));
  for (const Case& c : cases()) check_layer_norm(forward, backward, c, Layout::contiguous);
  for (const Layout layout : all_layouts) {
    check_layer_norm(forward, backward, {{3, 2, 4, 5}, 2}, layout);
    check_layer_norm(forward, backward, {{6, 33}, 1}, layout);
  }
}

TEST_CASE("layer_norm: without parameters their gradients are left out") {
  const Tensor x = tensor_of(random_values(1, 12), {3, 4});
  const auto result = ops::layer_norm(x, {4}, Tensor(), Tensor());
  const auto gradients = ops::layer_norm_backward(x, x, {4}, Tensor(), result.mean, result.rstd, false);
  CHECK(gradients.x.defined());
  CHECK(!gradients.weight.defined());
  CHECK(!gradients.bias.defined());
}

TEST_CASE("layer_norm: refusals") {
  const Tensor x = ones({2, 3}), row = ones({2}), none;
  check_error([&] { ops::layer_norm(x, {2}, none, none); }, {"[layer_norm]", "(2, 3)", "(2)"});
  check_error([&] { ops::layer_norm(x, {}, none, none); }, {"[layer_norm]", "normalized_shape"});
  check_error([&] { ops::layer_norm(x, {1, 2, 3}, none, none); }, {"[layer_norm]", "(1, 2, 3)"});
  check_error([&] { ops::layer_norm(x, {3}, row, none); }, {"[layer_norm]", "weight", "(2)"});
  check_error([&] { ops::layer_norm(x, {3}, none, row); }, {"[layer_norm]", "bias", "(2)"});
  check_error([&] { ops::layer_norm(zeros({2, 3}, DType::i32), {3}, none, none); }, {"[layer_norm]", "i32"});
  check_error(
      [&] {
        ops::layer_norm_backward(ones({3, 2}), x, {3}, none, row, row);
      },
      {"[layer_norm_backward]", "(3, 2)"});
  check_error([&] { ops::layer_norm_backward(x, x, {3}, none, ones({3}), row); },
              {"[layer_norm_backward]", "mean", "(3)"});
}
