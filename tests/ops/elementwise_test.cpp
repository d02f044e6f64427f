#include "crisol/ops/elementwise.h"

#include <cmath>
#include <limits>

#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "reference/elementwise.h"
#include "support/compare.h"
#include "support/pointwise_calls.h"
#include "support/skip.h"
#include "support/variants.h"
#include "tensor/impl.h"

using namespace crisol;
using namespace crisol::testing;
using reference::Elementwise;

namespace {

// OpenCL allows pow and erf 16 ulp; the longest rows join two such values.
constexpr Tolerance rounding{32};

std::vector<double> inputs_of(const Elementwise& row, std::uint64_t seed, std::int64_t count) {
  std::vector<double> values = random_values(seed, count, row.low, row.high);
  // Zero and equal inputs are where conditions turn over.
  if (row.low < 0 && count > 4) values[1] = values[2] = 0;
  return values;
}

// f32 rounds the scalars.
std::vector<double> rounded(std::vector<double> values) {
  for (double& value : values) value = static_cast<float>(value);
  return values;
}

struct Sample {
  std::vector<std::vector<double>> inputs;
  std::vector<double> y, scalars;
};

Sample sample(const Elementwise& row, std::int64_t count) {
  Sample made;
  made.scalars = rounded(row.scalars);
  for (std::size_t k = 0; k < row.inputs; ++k) made.inputs.push_back(inputs_of(row, 7 + k, count));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const double in[2] = {made.inputs[0][i], row.inputs == 2 ? made.inputs[1][i] : 0};
    made.y.push_back(row.forward(in, made.scalars.data()));
  }
  return made;
}

std::vector<double> derivative(const Elementwise& row, const Sample& at, std::size_t k, const std::vector<double>& dy) {
  std::vector<double> result;
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const double in[2] = {at.inputs[0][i], row.inputs == 2 ? at.inputs[1][i] : 0};
    result.push_back(row.derivatives[k](dy[i], in, at.y[i], at.scalars.data()));
  }
  return result;
}

const PointwiseCalls& calls_of(std::size_t row) {
  REQUIRE(std::string(pointwise_calls().at(row).name) == reference::elementwise_rows()[row].name);
  return pointwise_calls()[row];
}

}  // namespace

TEST_CASE("elementwise: every row has a name, a formula, a reference and a gradient for each input") {
  REQUIRE(pointwise_calls().size() == reference::elementwise_rows().size());
  for (std::size_t r = 0; r < reference::elementwise_rows().size(); ++r) {
    const Elementwise& row = reference::elementwise_rows()[r];
    CAPTURE(row.name);
    CHECK(std::string(row.formula).size() > 0);
    CHECK(row.low < row.high);
    CHECK(calls_of(r).backward.size() == row.inputs);
    // The reference's derivative against central differences of its value, where both sides agree: not at a kink.
    const Sample at = sample(row, 200);
    int compared = 0;
    for (std::size_t i = 0; i < at.y.size(); ++i) {
      for (std::size_t k = 0; k < row.inputs; ++k) {
        const double step = 1e-5;
        const auto moved = [&](double by) {
          double in[2] = {at.inputs[0][i], row.inputs == 2 ? at.inputs[1][i] : 0};
          in[k] += by;
          return row.forward(in, at.scalars.data());
        };
        const double above = (moved(step) - at.y[i]) / step, below = (at.y[i] - moved(-step)) / step;
        if (std::abs(above - below) > 1e-2 * (1 + std::abs(above))) continue;
        ++compared;
        const double in[2] = {at.inputs[0][i], row.inputs == 2 ? at.inputs[1][i] : 0};
        const double given = row.derivatives[k](1, in, at.y[i], at.scalars.data());
        CHECK(std::abs(given - (above + below) / 2) < 1e-4 * (1 + std::abs(given)));
      }
    }
    CHECK(compared > 150);
  }
}

TEST_CASE("elementwise: every row forward and backward") {
  for (std::size_t r = 0; r < reference::elementwise_rows().size(); ++r) {
    const Elementwise& row = reference::elementwise_rows()[r];
    const PointwiseCalls& calls = calls_of(r);
    CAPTURE(row.name);
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{83}}) {
      const Sample at = sample(row, count);
      std::vector<Tensor> inputs;
      for (const auto& values : at.inputs) inputs.push_back(tensor_of(values, {count}));
      const Tensor y = calls.forward(inputs, at.scalars);
      check_close(y, {count}, at.y, rounding);
      const std::vector<double> dy = random_values(99, count);
      for (std::size_t k = 0; k < row.inputs; ++k) {
        CAPTURE(k);
        check_close(calls.backward[k](tensor_of(dy, {count}), inputs, y, at.scalars), {count},
                    derivative(row, at, k, dy), rounding);
      }
    }
  }
}

TEST_CASE("elementwise: layouts and broadcasting, both kinds of kernel") {
  struct Case {
    Shape a, b, y;
  };
  const Case cases[] = {{{3, 5, 7}, {3, 5, 7}, {3, 5, 7}},
                        {{3, 5, 7}, {7}, {3, 5, 7}},
                        {{3, 5, 7}, {5, 1}, {3, 5, 7}},
                        {{3, 1, 7}, {1, 5, 1}, {3, 5, 7}},
                        {{2, 33}, {2, 1}, {2, 33}},
                        {{2, 33}, {}, {2, 33}},
                        {{}, {}, {}},
                        {{1}, {4, 1}, {4, 1}},
                        {{0, 3}, {3}, {0, 3}},
                        {{1, 3}, {0, 1}, {0, 3}},
                        {{2, 1, 2, 1, 2, 1, 2, 1}, {1, 3, 1, 2, 1, 3, 1, 2}, {2, 3, 2, 2, 2, 3, 2, 2}}};
  for_each_variant("pointwise", {"chunks", "items"}, [&] {
    for (const Case& shapes : cases) {
      const std::vector<double> a = random_values(1, shapes.a.numel()), b = random_values(2, shapes.b.numel());
      for (const Layout layout_a : all_layouts) {
        for (const Layout layout_b : {Layout::contiguous, Layout::strided, Layout::permuted}) {
          if (slow_device() && layout_a == Layout::offset) continue;
          CAPTURE(shapes.a);
          CAPTURE(shapes.b);
          CAPTURE(name_of(layout_a));
          CAPTURE(name_of(layout_b));
          // The operands repeated over the result's shape, on the host.
          const auto repeated = [&](const std::vector<double>& values, const Shape& shape) {
            std::vector<double> all;
            for (std::int64_t i = 0; i < shapes.y.numel(); ++i) {
              std::int64_t rest = i, at = 0, step = 1;
              for (int axis = shapes.y.rank() - 1, own = shape.rank() - 1; axis >= 0; --axis, --own) {
                const std::int64_t index = rest % shapes.y[axis];
                rest /= shapes.y[axis];
                if (own < 0) continue;
                if (shape[own] != 1) at += index * step;
                step *= shape[own];
              }
              all.push_back(values[static_cast<std::size_t>(at)]);
            }
            return all;
          };
          std::vector<double> expected = repeated(a, shapes.a);
          const std::vector<double> factors = repeated(b, shapes.b);
          for (std::size_t i = 0; i < expected.size(); ++i) expected[i] *= factors[i];
          check_close(ops::mul(view_of(a, shapes.a, layout_a), view_of(b, shapes.b, layout_b)), shapes.y, expected,
                      {1});
        }
      }
    }
  });
}

TEST_CASE("elementwise: sizes around vectors and work-items, both kinds of kernel") {
  for_each_variant("pointwise", {"chunks", "items"}, [&] {
    for (const std::int64_t count : {0, 1, 3, 4, 15, 16, 17, 63, 64, 65, 257, 8191, 8192, 16385, 100003}) {
      if (slow_device() && count > 300) continue;
      CAPTURE(count);
      const std::vector<double> a = random_values(3, count), b = random_values(4, count);
      std::vector<double> expected;
      for (std::size_t i = 0; i < a.size(); ++i) expected.push_back(static_cast<float>(a[i] + b[i]));
      for (const Layout layout : {Layout::contiguous, Layout::offset, Layout::strided})
        check_close(ops::add(view_of(a, {count}, layout), tensor_of(b, {count})), expected, {0});
    }
  });
}

TEST_CASE("elementwise: large transposed inputs") {
  if (slow_device()) CRISOL_SKIP("too large for this device");
  const Shape shape{2, 130, 99};
  const std::vector<double> a = random_values(1, shape.numel()), b = random_values(2, shape.numel());
  const auto at = [](std::size_t n, std::size_t i, std::size_t j) { return (n * 130 + i) * 99 + j; };
  std::vector<double> expected;
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t j = 0; j < 99; ++j)
      for (std::size_t i = 0; i < 130; ++i) expected.push_back(static_cast<float>(a[at(n, i, j)] + b[at(n, i, j)]));
  std::vector<double> turned_b;
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t j = 0; j < 99; ++j)
      for (std::size_t i = 0; i < 130; ++i) turned_b.push_back(b[at(n, i, j)]);
  const Tensor x = ops::transpose(tensor_of(a, shape), 1, 2);
  check_close(ops::add(x, tensor_of(turned_b, {2, 99, 130})), {2, 99, 130}, expected, {0});
  check_close(ops::add(x, ops::transpose(tensor_of(b, shape), 1, 2)), {2, 99, 130}, expected, {0});
}

TEST_CASE("elementwise: NaN, infinity and signs") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const Tensor x = tensor_of({nan, infinity, -infinity, -0.0, 1}, {5});
  check_close(ops::relu(x), {nan, infinity, 0, 0, 1}, {0});
  check_close(ops::clamp(x, -2, 2), {nan, 2, -2, 0, 1}, {0});
  check_close(ops::sigmoid(x), {nan, 1, 0, 0.5, 1 / (1 + std::exp(-1.0))}, {8});
  check_close(ops::softplus(x), {nan, infinity, 0, std::log(2.0), std::log1p(std::exp(1.0))}, {8});
  check_close(ops::maximum(x, tensor_of({0}, {1})), {nan, infinity, 0, 0, 1}, {0});
  check_close(ops::maximum(tensor_of({0}, {1}), x), {nan, infinity, 0, 0, 1}, {0});
  check_close(ops::minimum(x, tensor_of({0}, {1})), {nan, 0, -infinity, 0, 0}, {0});
  check_close(ops::minimum(tensor_of({0}, {1}), x), {nan, 0, -infinity, 0, 0}, {0});
  check_close(ops::pow(tensor_of({-2, -2, 0, 4}, {4}), 3), {-8, -8, 0, 64}, {16});
  check_close(ops::pow(tensor_of({-2, 4}, {2}), 0.5), {nan, 2}, {16});
  check_close(ops::pow_backward(tensor_of({1, 1}, {2}), tensor_of({0, 2}, {2}), 0), {0, 0}, {0});
  check_close(ops::silu(tensor_of({-200, 200}, {2})), {0, 200}, {1});
}

TEST_CASE("elementwise: scalars on either side, and new ones compile nothing new") {
  const Tensor x = tensor_of({1, 2, 4}, {3});
  check_close(ops::add(x, 0.5), {1.5, 2.5, 4.5}, {0});
  check_close(ops::add(0.5, x), {1.5, 2.5, 4.5}, {0});
  check_close(ops::sub(x, 0.5), {0.5, 1.5, 3.5}, {0});
  check_close(ops::sub(0.5, x), {-0.5, -1.5, -3.5}, {0});
  check_close(ops::mul(x, 3), {3, 6, 12}, {0});
  check_close(ops::mul(3, x), {3, 6, 12}, {0});
  check_close(ops::div(x, 4), {0.25, 0.5, 1}, {1});
  check_close(ops::div(4, x), {4, 2, 1}, {1});
  for (const double slope : {0.0, 0.25, -1.0})
    check_close(ops::leaky_relu(tensor_of({-4, 4}, {2}), slope), {-4 * slope, 4}, {0});
}

TEST_CASE("elementwise: comparisons on every dtype, with tensors and scalars") {
  const std::vector<double> a = random_integers(1, 40, 0, 3), b = random_integers(2, 40, 0, 3);
  REQUIRE(comparison_calls().size() == reference::comparison_rows().size());
  for (std::size_t r = 0; r < comparison_calls().size(); ++r) {
    const ComparisonCalls& calls = comparison_calls()[r];
    const auto& row = reference::comparison_rows()[r];
    REQUIRE(std::string(calls.name) == row.name);
    for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8}) {
      // Each pair is a program of its own to compile: one comparison on all dtypes tells enough.
      if (r > 0 && dtype != DType::f32) continue;
      CAPTURE(row.name);
      CAPTURE(dtype);
      std::vector<double> with_tensor, with_scalar;
      for (std::size_t i = 0; i < a.size(); ++i) {
        with_tensor.push_back(row.holds(a[i], b[i]));
        with_scalar.push_back(row.holds(a[i], 2));
      }
      const Tensor left = tensor_of(a, {40}, dtype);
      const Tensor result = calls.with_tensor(left, view_of(b, {40}, Layout::strided, dtype));
      CHECK(result.dtype() == DType::boolean);
      check_close(result, with_tensor, {0});
      check_close(calls.with_scalar(left, 2), with_scalar, {0});
    }
  }
  // Whole numbers that f32 cannot tell apart.
  const std::int64_t large = std::int64_t{1} << 40;
  const Tensor x = from_vector<std::int64_t>({large, large + 1});
  check_close(ops::eq(x, from_vector<std::int64_t>({large, large})), {1, 0}, {0});
  check_close(ops::gt(x, static_cast<double>(large)), {0, 1}, {0});
  const double nan = std::nan("");
  check_close(ops::eq(tensor_of({nan}, {1}), tensor_of({nan}, {1})), {0}, {0});
  check_close(ops::ne(tensor_of({nan}, {1}), tensor_of({nan}, {1})), {1}, {0});
}

TEST_CASE("where: every dtype, broadcasting, gradients") {
  const Tensor condition = tensor_of({1, 0, 0, 1, 1, 0}, {2, 3}, DType::boolean);
  for (const DType dtype : {DType::f32, DType::f16, DType::i64, DType::u8}) {
    const Tensor a = tensor_of({1, 2, 3}, {3}, dtype), b = tensor_of({7, 8}, {2, 1}, dtype);
    const Tensor y = ops::where(condition, a, b);
    CHECK(y.dtype() == dtype);
    check_close(y, {2, 3}, {1, 7, 7, 1, 2, 8}, {0});
  }
  const double nan = std::nan("");
  check_close(ops::where(tensor_of({1}, {1}, DType::boolean), tensor_of({5}, {1}), tensor_of({nan}, {1})), {5}, {0});
  const Tensor dy = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
  check_close(ops::where_backward_a(dy, condition), {1, 0, 0, 4, 5, 0}, {0});
  check_close(ops::where_backward_b(dy, condition), {0, 2, 3, 0, 0, 6}, {0});
  check_error([&] { ops::where(dy, dy, dy); }, {"[where]", "f32", "bool"});
  check_error([&] { ops::where(condition, dy, tensor_of({1}, {1}, DType::i32)); }, {"[where]", "i32", "f32"});
}

TEST_CASE("elementwise: in place") {
  for_each_variant("pointwise", {"chunks", "items"}, [&] {
    for (const Layout layout : all_layouts) {
      CAPTURE(name_of(layout));
      const std::vector<double> a = random_values(1, 105), b = random_values(2, 105);
      const Tensor dst = view_of(a, {3, 5, 7}, layout), src = view_of(b, {3, 5, 7}, Layout::contiguous);
      const auto before = dst.impl()->storage->version.load();
      ops::add_into(dst, src, 0.5);
      std::vector<double> expected;
      for (std::size_t i = 0; i < a.size(); ++i) expected.push_back(a[i] + 0.5 * b[i]);
      check_close(dst, {3, 5, 7}, expected, {2});
      CHECK(dst.impl()->storage->version.load() > before);
      ops::mul_scalar_into(dst, -2);
      for (double& value : expected) value *= -2;
      check_close(dst, {3, 5, 7}, expected, {2});
      // What lies between the elements stays as it was.
      if (layout == Layout::strided) {
        const std::vector<float> all =
            make_view(dst, {dst.impl()->storage->bytes / 4 > 0 ? 3 : 0}, {1}, 0).to_vector<float>();
        for (const float value : all) CHECK(std::isnan(value));
      }
    }
  });
  const Tensor x = tensor_of({1, 2}, {2});
  check_error([&] { ops::add_into(x, zeros({1})); }, {"[add_into]", "(2)", "(1)"});
  check_error([&] { ops::add_into(make_view(x, {2, 2}, {0, 1}, 0), zeros({2, 2})); }, {"[add_into]", "expanded"});
  check_error([&] { ops::add_into(x, zeros({2}, DType::i32)); }, {"[add_into]", "i32"});
  check_error([&] { ops::mul_scalar_into(zeros({2}, DType::f16), 2); }, {"[mul_scalar_into]", "f16"});
  check_close(x, {1, 2}, {0});
}

TEST_CASE("elementwise: refusals") {
  const Tensor x = zeros({2, 3});
  check_error([&] { ops::add(x, zeros({2})); }, {"[add]", "(2, 3)", "(2)", "do not broadcast"});
  check_error([&] { ops::relu(zeros({2}, DType::i32)); }, {"[relu]", "i32", "must be f32"});
  check_error([&] { ops::relu(Tensor()); }, {"[relu]", "undefined"});
  check_error([&] { ops::mul(x, zeros({2, 3}, DType::f16)); }, {"[mul]", "input 1", "f16"});
  check_error([&] { ops::eq(x, zeros({2, 3}, DType::i32)); }, {"[eq]", "f32", "i32"});
  check_error([&] { ops::eq(zeros({2}, DType::i32), 0.5); }, {"[eq]", "0.5", "i32"});
  check_error([&] { ops::lt(zeros({2}, DType::u8), 1e10); }, {"[lt]", "1e+10", "u8"});
  check_error([&] { ops::tanh_backward(x, zeros({2})); }, {"[tanh_backward]", "do not broadcast"});
}
