#include "crisol/ops/softmax.h"

#include <cmath>

#include "doctest/doctest.h"
#include "ops/rowwise/row_variants.h"
#include "reference/softmax.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

struct Case {
  Shape shape;
  int axis;

  std::int64_t n() const { return shape[axis < 0 ? axis + shape.rank() : axis]; }
  std::int64_t inner() const {
    std::int64_t product = 1;
    for (int i = (axis < 0 ? axis + shape.rank() : axis) + 1; i < shape.rank(); ++i) product *= shape[i];
    return product;
  }
  std::int64_t outer() const { return shape.numel() == 0 ? 0 : shape.numel() / n() / inner(); }
};

const Case cases[] = {{{3, 10}, -1},  {{5, 1}, 1},    {{2, 33}, 1},     {{1, 300}, 1},   {{7, 16}, 1},
                      {{2, 5, 3}, 1}, {{4, 3, 2}, 0}, {{2, 40, 3}, -2}, {{9}, 0},        {{0, 4}, 1},
                      {{4, 0}, 1},    {{3, 0, 2}, 2}, {{37, 4}, -1},    {{2, 5, 21}, 1}, {{3, 2, 16}, 1}};

}  // namespace

TEST_CASE("softmax: forward and backward agree with the reference") {
  const MustRun softmax("softmax", with_lanes(row_variants(12))),
      softmax_backward("softmax_backward", with_lanes(row_variants(12)));
  const MustRun log_softmax("log_softmax", with_lanes(row_variants(12)));
  const MustRun log_softmax_backward("log_softmax_backward", with_lanes(row_variants(12)));
  for (const Case& c : cases) {
    CAPTURE(c.shape);
    CAPTURE(c.axis);
    const std::int64_t outer = c.outer(), n = c.n(), inner = c.inner();
    const auto x = random_values(1, c.shape.numel(), -6, 6);
    const auto dy = random_values(2, c.shape.numel());
    const auto y = reference::softmax(x, outer, n, inner);
    const auto log_y = reference::log_softmax(x, outer, n, inner);
    for (const Layout layout : all_layouts) {
      CAPTURE(std::string(name_of(layout)));
      const Tensor dx_view = view_of(dy, c.shape, layout), x_view = view_of(x, c.shape, layout);
      // exp may have an error of 3 ulp twice, and x - m an error of half an ulp of up to 12.
      for_each_variant(softmax, [&] { check_close(ops::softmax(x_view, c.axis), c.shape, y, {16}); });
      for_each_variant(log_softmax, [&] { check_close(ops::log_softmax(x_view, c.axis), c.shape, log_y, {4, 12}); });
      for_each_variant(softmax_backward, [&] {
        check_close(ops::softmax_backward(dx_view, view_of(y, c.shape, layout), c.axis), c.shape,
                    reference::softmax_backward(dy, y, outer, n, inner), {8, 1});
      });
      for_each_variant(log_softmax_backward, [&] {
        // The sum of dy has n terms of up to 1, and is multiplied by a probability.
        check_close(ops::log_softmax_backward(dx_view, view_of(log_y, c.shape, layout), c.axis), c.shape,
                    reference::log_softmax_backward(dy, log_y, outer, n, inner), {16, 1 + std::sqrt(double(n))});
      });
    }
  }
}

TEST_CASE("softmax: large logits and infinities") {
  const double inf = INFINITY;
  std::vector<double> x(5 * 40, 0.0);
  for (std::size_t j = 0; j < 40; ++j) {
    x[j] = 1e4 + static_cast<double>(j);  // Would overflow without subtracting the maximum.
    x[40 + j] = -inf;                     // A row without a choice.
    x[80 + j] = j == 3 ? 2.0 : -inf;      // One choice.
    x[120 + j] = j == 39 ? inf : 1.0;
    x[160 + j] = j == 20 ? NAN : 1.0;
  }
  std::vector<double> y = reference::softmax(x, 5, 40, 1);
  std::vector<double> log_y = reference::log_softmax(x, 5, 40, 1);
  for (std::size_t j = 0; j < 40; ++j) {
    CHECK(std::isnan(y[40 + j]));
    CHECK(y[80 + j] == (j == 3 ? 1 : 0));
    CHECK(std::isnan(y[120 + j]));
    y[160 + j] = log_y[160 + j] = NAN;  // std::max in the reference ignores NaN.
  }
  const MustRun softmax("softmax", with_lanes(long_row_variants(1))),
      log_softmax("log_softmax", with_lanes(long_row_variants()));
  for_each_variant(softmax, [&] { check_close(ops::softmax(tensor_of(x, {5, 40}), 1), y, {16, 1}); });
  for_each_variant(log_softmax, [&] { check_close(ops::log_softmax(tensor_of(x, {5, 40}), 1), log_y, {4, 40}); });
  // The same rows, stored transposed.
  std::vector<double> transposed(x.size()), transposed_y(x.size());
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 40; ++j) transposed[j * 5 + i] = x[i * 40 + j], transposed_y[j * 5 + i] = y[i * 40 + j];
  for_each_variant(softmax, [&] {
    check_close(ops::softmax(tensor_of(transposed, {40, 5}), 0), transposed_y, {16, 1});
  });
}

TEST_CASE("softmax: f16 is computed in float") {
  for (const std::int64_t n : {40, 5}) {
    const std::int64_t rows = 19, count = rows * n;
    const std::vector<double> x = random_integers(5, count, -4, 4), dy = random_integers(6, count, -2, 2);
    const Tensor t = tensor_of(x, {rows, n}, DType::f16), g = tensor_of(dy, {rows, n}, DType::f16);
    const Tensor y = ops::softmax(t, 1), log_y = ops::log_softmax(t, 1);
    CHECK(y.dtype() == DType::f16);
    check_close(y, {rows, n}, reference::softmax(x, rows, n, 1), {1});
    check_close(log_y, {rows, n}, reference::log_softmax(x, rows, n, 1), {1});
    check_close(ops::softmax_backward(g, y, 1), {rows, n}, reference::softmax_backward(dy, values_of(y), rows, n, 1),
                {1});
    check_close(ops::log_softmax_backward(g, log_y, 1), {rows, n},
                reference::log_softmax_backward(dy, values_of(log_y), rows, n, 1), {1});
  }
}

TEST_CASE("softmax: refusals") {
  const Tensor x = zeros({2, 3});
  check_error([&] { ops::softmax(x, 2); }, {"[softmax]", "axis 2", "rank 2"});
  check_error([&] { ops::log_softmax(zeros({}), 1); }, {"[log_softmax]", "axis 1"});
  check_error([&] { ops::softmax(zeros({2}, DType::i32), 0); }, {"[softmax]", "f32", "i32"});
  check_error([&] { ops::softmax_backward(zeros({3, 2}), x, 1); }, {"[softmax_backward]", "(2, 3)", "(3, 2)"});
  check_error([&] { ops::log_softmax_backward(zeros({2, 3}, DType::f16), x, 1); }, {"[log_softmax_backward]", "f16"});
}
