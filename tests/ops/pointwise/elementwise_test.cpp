#include "crisol/ops/elementwise.h"

#include <cmath>
#include <limits>

#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "ops/pointwise/pointwise.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/pointwise/pointwise_calls.h"
#include "support/skip.h"
#include "tensor/impl.h"

using namespace crisol;
using namespace crisol::testing;

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
  const MustRun variants("pointwise", {on_cpus("chunks"), "items"});
  for_each_variant(variants, [&] {
    for (const Case& shapes : cases) {
      const std::vector<double> a = random_values(1, shapes.a.numel()), b = random_values(2, shapes.b.numel());
      for (const Layout layout_a : all_layouts) {
        for (const Layout layout_b : {Layout::contiguous, Layout::strided, Layout::permuted}) {
          if (slow_device() && layout_a == Layout::offset) continue;
          CAPTURE(shapes.a);
          CAPTURE(shapes.b);
          CAPTURE(name_of(layout_a));
          CAPTURE(name_of(layout_b));
          // The operands, broadcast to the result's shape on the host.
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
  const MustRun variants("pointwise", {on_cpus("chunks"), "items"});
  for_each_variant(variants, [&] {
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
  std::vector<double> transposed_b;
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t j = 0; j < 99; ++j)
      for (std::size_t i = 0; i < 130; ++i) transposed_b.push_back(b[at(n, i, j)]);
  const Tensor x = ops::transpose(tensor_of(a, shape), 1, 2);
  check_close(ops::add(x, tensor_of(transposed_b, {2, 99, 130})), {2, 99, 130}, expected, {0});
  check_close(ops::add(x, ops::transpose(tensor_of(b, shape), 1, 2)), {2, 99, 130}, expected, {0});
}

TEST_CASE("elementwise: strides beyond 32 bits") {
  constexpr std::int64_t far = std::int64_t{1} << 32;
  if (slow_device() || Device().info().max_allocation < static_cast<std::uint64_t>(far) + 8)
    CRISOL_SKIP("needs a buffer of 4 GiB");
  const Tensor all = empty({far + 8}, DType::u8);
  Tensor view = make_view(all, {2, 3}, {far, 1}, 1);
  const MustRun variants("pointwise", {on_cpus("chunks"), "items"});
  view.copy_from(tensor_of({1, 2, 3, 4, 5, 6}, {2, 3}, DType::u8));
  for_each_variant(variants, [&] { check_close(ops::add(view, 1), {2, 3}, {2, 3, 4, 5, 6, 7}, {0}); });
  check_close(make_view(all, {1}, {1}, far + 3), {6}, {0});
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
  check_close(ops::pointwise_backward(ops::rows::pow, 0, tensor_of({1, 1}, {2}), {tensor_of({0, 2}, {2}), 0}, Tensor()),
              {0, 0}, {0});
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

TEST_CASE("elementwise: comparisons of whole numbers that f32 cannot tell apart, and of NaN") {
  const std::int64_t large = std::int64_t{1} << 40;
  const Tensor x = from_vector<std::int64_t>({large, large + 1});
  check_close(ops::eq(x, from_vector<std::int64_t>({large, large})), {1, 0}, {0});
  check_close(ops::gt(x, large), {0, 1}, {0});
  CHECK(ops::gt(x, large).dtype() == DType::boolean);
  const double nan = std::nan("");
  check_close(ops::eq(tensor_of({nan}, {1}), tensor_of({nan}, {1})), {0}, {0});
  check_close(ops::ne(tensor_of({nan}, {1}), nan), {1}, {0});
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
  check_close(ops::where(condition, 1, tensor_of({7, 8}, {2, 1}, DType::i32)), {2, 3}, {1, 7, 7, 1, 1, 8}, {0});
  const Tensor x = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
  check_close(ops::masked_fill(x, condition, -1), {-1, 2, 3, -1, -1, 6}, {0});
  check_error([&] { ops::masked_fill(zeros({2, 3}, DType::i32), condition, 0.5); }, {"[masked_fill]", "f32", "i32"});
}

TEST_CASE("elementwise: every function of a row runs that row") {
  // The message for an undefined tensor contains the row's name, so nothing needs compiling.
  const std::vector<double> numbers{1, 2};
  REQUIRE(pointwise_calls().size() == table_rows().size());
  for (std::size_t r = 0; r < table_rows().size(); ++r) {
    const PointwiseCalls& calls = pointwise_calls()[r];
    const ops::PointwiseRow& row = *table_rows()[r].row;
    REQUIRE(std::string(calls.name) == row.name);
    const std::string start = std::string("[") + row.name + "]", start_in_place = std::string("[") + row.name + "_]";
    for (std::size_t i = 0; i < row.input_count; ++i) {
      std::vector<Tensor> inputs(row.input_count, zeros({0}));
      inputs[i] = Tensor();
      check_error([&] { calls.raw(inputs, numbers); }, {start, row.inputs[i], "undefined"});
      check_error([&] { calls.differentiable(inputs, numbers); }, {start, row.inputs[i], "undefined"});
    }
    if (calls.backward) {
      CHECK(row.input_count == 1);
      check_error([&] { calls.backward({Tensor(), zeros({0})}, numbers); }, {start, "gradient"});
    }
    const bool changes = !(row.is_predicate() && row.rule != ops::RowRule::logical) && row.rule != ops::RowRule::choice;
    CHECK(static_cast<bool>(calls.in_place) == changes);
    if (!changes) continue;
    std::vector<Tensor> inputs(row.input_count, zeros({0}));
    if (row.rule == ops::RowRule::fill) inputs[1] = zeros({0}, DType::boolean);
    CHECK(calls.in_place(inputs, numbers).impl() == inputs[0].impl());
    inputs[0] = make_view(zeros({1}), {2}, {0}, 0);
    check_error([&] { calls.in_place(inputs, numbers); }, {start_in_place, "expanded"});
  }
}

TEST_CASE("elementwise: refusals") {
  const Tensor x = zeros({2, 3});
  check_error([&] { ops::add(x, zeros({2})); }, {"[add]", "(2, 3)", "(2)", "do not broadcast", "axis -1 has 3 and 2"});
  check_error(
      [&] {
        ops::add(zeros({4, 2, 3}), zeros({5, 1, 3}));
      },
      {"[add]", "(4, 2, 3)", "(5, 1, 3)", "axis -3 has 4 and 5"});
  check_error([&] { ops::neg(zeros({2}, DType::boolean)); }, {"[neg]", "bool"});
  check_error([&] { ops::relu(Tensor()); }, {"[relu]", "x is undefined"});
  check_error([&] { ops::add(1, 2); }, {"[add]", "at least one tensor"});
  check_error([&] { ops::add(zeros({2}, DType::i32), std::int64_t{1} << 40); }, {"[add]", "1099511627776", "i32"});
  check_error([&] { ops::tanh_backward(x, zeros({2})); }, {"[tanh]", "do not broadcast"});
  check_error([&] { ops::tanh_backward(zeros({2, 3}, DType::i32), x); }, {"[tanh]", "f32, f16"});
}

TEST_CASE("elementwise: results too large for the caches, of every dtype") {
  if (slow_device() || Device().info().platform == "rusticl") CRISOL_SKIP("nine million elements take minutes here");
  // Kernels may write such large results past the caches. They write the smaller parts in the usual way.
  constexpr std::int64_t rows = 1152, columns = 8192, part = 288;
  const Tensor numbers = ops::reshape(arange(0, rows * columns, 1, DType::i32), {rows, columns});
  const Tensor small = ops::remainder(numbers, 61);
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean}) {
    CAPTURE(dtype);
    const Tensor x = small.to(dtype), row = x.narrow(0, 7, 1);
    const Tensor flat = ops::add(x, x), broadcast = ops::add(x, row);
    for (std::int64_t first = 0; first < rows; first += part) {
      const Tensor some = x.narrow(0, first, part);
      const auto differ = [&](const Tensor& all, const Tensor& expected) {
        return ops::max(ops::ne(all.narrow(0, first, part), expected).to(DType::f32)).item();
      };
      CHECK(differ(flat, ops::add(some, some)) == 0);
      CHECK(differ(broadcast, ops::add(some, row)) == 0);
    }
  }
}
