// Fused functions forward: values against eager ops and a reference in double, the recordings, and the compiled
// kernels.
#include "crisol/fuse.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "doctest/doctest.h"
#include "functions/fuse/expr_node.h"
#include "functions/fuse/gate.h"
#include "ops/pointwise/pointwise_graph.h"
#include "runtime/device/device_state.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/launches.h"
#include "support/pointwise/pointwise_calls.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

double gate_of(double a, double b) { return std::tanh(a * b + b) / (1 + std::exp(-a)); }

std::vector<double> gates_of(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> y;
  for (std::size_t i = 0; i < a.size(); ++i) y.push_back(gate_of(a[i], b[i]));
  return y;
}

std::size_t programs() { return state_of(empty({1})).programs().program_count(); }

// Groups of table rows for floats whose inputs come from the same range. A group is small, because one function may
// have a limited number of scalar arguments.
std::vector<std::vector<RowUnderTest>> rows_by_range() {
  constexpr std::size_t rows_at_once = 10, numbers_at_once = 8;
  std::map<std::pair<double, double>, std::vector<RowUnderTest>> by_range;
  for (const RowUnderTest& row : table_rows())
    if (row.row->rule == ops::RowRule::any || row.row->rule == ops::RowRule::number ||
        row.row->rule == ops::RowRule::floating)
      by_range[{row.reference->low, row.reference->high}].push_back(row);
  std::vector<std::vector<RowUnderTest>> all;
  for (const auto& [range, rows] : by_range) {
    std::size_t numbers = numbers_at_once + 1;
    for (const RowUnderTest& row : rows) {
      numbers += row.row->scalar_count;
      if (numbers > numbers_at_once || all.back().size() == rows_at_once) {
        all.emplace_back();
        numbers = row.row->scalar_count;
      }
      all.back().push_back(row);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("fuse: a chain is what the eager ops and a reference give, at every size and layout") {
  const auto gate = fuse(Gate());
  for (const std::int64_t count : {1, 3, 15, 16, 17, 33, 1000, 4099}) {
    CAPTURE(count);
    const std::vector<double> a = random_values(1, count, -3, 3), b = random_values(2, count, -3, 3);
    // tanh and exp may have errors of 5 and 3 ulp, and the product adds both errors.
    check_close(gate(tensor_of(a, {count}), tensor_of(b, {count})), {count}, gates_of(a, b), {12, 1});
    check_close(Gate()(tensor_of(a, {count}), tensor_of(b, {count})), {count}, gates_of(a, b), {12, 1});
  }
  const Shape shape{3, 5, 7};
  const std::vector<double> a = random_values(3, 105), b = random_values(4, 105);
  const MustRun variants("pointwise", {on_cpus("chunks"), "items"});
  for_each_variant(variants, [&] {
    for (const Layout first : all_layouts)
      for (const Layout second : all_layouts) {
        CAPTURE(std::string(testing::name_of(first)));
        CAPTURE(std::string(testing::name_of(second)));
        const Tensor y = gate(view_of(a, shape, first), view_of(b, shape, second));
        CHECK(y.is_contiguous());
        check_close(y, shape, gates_of(a, b), {12, 1});
      }
  });
}

TEST_CASE("fuse: inputs broadcast as the eager ops' do") {
  const auto f = fuse([](const Expr& a, const Expr& b, const Expr& c) { return (a - b) * c + a; });
  const struct {
    Shape a, b, c, y;
  } cases[] = {{{2, 3, 4}, {4}, {3, 1}, {2, 3, 4}},          {{3, 1}, {1, 5}, {}, {3, 5}}, {{1}, {7}, {1, 1}, {1, 7}},
               {{2, 1, 4, 1}, {3, 1, 5}, {1}, {2, 3, 4, 5}}, {{0, 3}, {3}, {1}, {0, 3}},   {{}, {}, {}, {}}};
  for (const auto& c : cases) {
    CAPTURE(c.y);
    const Tensor x = tensor_of(random_values(5, c.a.numel()), c.a), y = tensor_of(random_values(6, c.b.numel()), c.b),
                 z = tensor_of(random_values(7, c.c.numel()), c.c);
    check_close(f(x, y, z), c.y, values_of((x - y) * z + x), {2, 4});
  }
}

TEST_CASE("fuse: several results come from one kernel") {
  const std::vector<double> a = random_values(8, 37), b = random_values(9, 37);
  const Tensor x = tensor_of(a, {37}), y = tensor_of(b, {37});
  const auto pair = fuse([](const Expr& u, const Expr& v) { return std::array<Expr, 2>{u + v, u * v}; });
  const auto triple = fuse([](const Expr& u, const Expr& v) { return std::make_tuple(u - v, u < v, -u); });
  const auto many = fuse([](const Expr& u, const Expr& v) {
    std::vector<Expr> all;
    for (int i = 1; i <= 6; ++i) all.push_back(u * i + v);
    return all;
  });
  const std::array<Tensor, 2> two = pair(x, y);
  check_close(two[0], values_of(x + y), {0});
  check_close(two[1], values_of(x * y), {0});
  const auto [difference, less, negative] = triple(x, y);
  check_close(difference, values_of(x - y), {0});
  CHECK(less.dtype() == DType::boolean);
  check_close(less, values_of(lt(x, y)), {0});
  check_close(negative, values_of(-x), {0});
  const std::vector<Tensor> six = many(x, y);
  REQUIRE(six.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) check_close(six[i], values_of(x * static_cast<double>(i + 1) + y), {1});
  CHECK(launches_of([&] { pair(x, y); }) == 1);
  const std::int64_t kernels = (6 + ops::PointwiseGraph::max_outputs - 1) / ops::PointwiseGraph::max_outputs;
  CHECK(launches_of([&] { many(x, y); }) == kernels);
  // Each result has the shape of the inputs that it uses, as in eager mode.
  const Tensor column = tensor_of({1, 2, 3}, {3, 1}), row = tensor_of({4, 5}, {2});
  const auto mixed = fuse([](const Expr& u, const Expr& v) { return std::make_tuple(u + v, u * 2, sum(v)); });
  const auto [all, twice, total] = mixed(column, row);
  check_close(all, {3, 2}, {5, 6, 6, 7, 7, 8}, {0});
  check_close(twice, {3, 1}, {2, 4, 6}, {0});
  check_close(total, {}, {9}, {0});
}

TEST_CASE("fuse: numbers are arguments; neither they nor shapes nor equal functions compile anything") {
  const Tensor x = tensor_of(random_values(10, 33), {33});
  const auto scaled = [&](double factor, double shift) {
    return fuse([=](const Expr& u) { return leaky_relu(u * factor + shift, 0.25); });
  };
  const auto expected = [&](double factor, double shift) {
    std::vector<double> y = values_of(x);
    for (double& v : y) {
      v = v * static_cast<float>(factor) + static_cast<float>(shift);
      v = v > 0 ? v : 0.25 * v;
    }
    return y;
  };
  check_close(scaled(2.5, -0.5)(x), expected(2.5, -0.5), {2});
  const std::size_t before = programs();
  check_close(scaled(3.5, 0.25)(x), expected(3.5, 0.25), {2});
  check_close(scaled(0, 1)(x), expected(0, 1), {2});
  // Two constants that happen to be equal remain two arguments.
  check_close(scaled(1.5, 1.5)(x), expected(1.5, 1.5), {2});
  CHECK(programs() == before);
  scaled(2, 1)(tensor_of(random_values(11, 70), {70}));
  CHECK(programs() == before);

  const auto gate = fuse([](const Expr& u, const Expr& s) { return u * s + s; });
  check_close(gate(x, 0.5), values_of(x * 0.5 + 0.5), {1});
  const std::size_t with_number = programs();
  check_close(gate(x, -2.0), values_of(x * -2.0 + -2.0), {1});
  CHECK(programs() == with_number);
  // Whole numbers keep integers as integers; other numbers do not.
  const Tensor whole = tensor_of({1, 2, 3}, {3}, DType::i32);
  CHECK(gate(whole, 2).dtype() == DType::i32);
  check_close(gate(whole, 2), {4, 6, 8}, {0});
  CHECK(gate(whole, 0.5).dtype() == DType::f32);
  check_close(gate(whole, 0.5), {1, 1.5, 2}, {0});
}

TEST_CASE("fuse: dtypes promote as eagerly; casts, comparisons and where") {
  const std::vector<double> values = random_integers(12, 40, -5, 5), others = random_integers(13, 40, 1, 5);
  const auto f = fuse([](const Expr& a, const Expr& b) { return where(a > b, a * 2, b - a); });
  const DType dtypes[] = {DType::f32, DType::f16, DType::i32, DType::i64};
  for (const DType first : dtypes)
    for (const DType second : dtypes) {
      CAPTURE(std::string(crisol::name_of(first)));
      CAPTURE(std::string(crisol::name_of(second)));
      const Tensor a = tensor_of(values, {40}, first), b = tensor_of(others, {40}, second);
      const Tensor eager = where(gt(a, b), a * 2, b - a), fused = f(a, b);
      CHECK(fused.dtype() == eager.dtype());
      check_close(fused, values_of(eager), {0});
    }
  const auto casts = fuse([](const Expr& a) {
    return std::array<Expr, 3>{a.to(DType::i32), a.to(DType::boolean), a.to(DType::f16)};
  });
  const Tensor x = tensor_of({-1.75, 0, 0.5, 3.25, 1000.25}, {5});
  const auto [whole, truth, half] = casts(x);
  check_close(whole, {-1, 0, 0, 3, 1000}, {0});
  check_close(truth, {1, 0, 1, 1, 1}, {0});
  CHECK(half.dtype() == DType::f16);
  check_close(half, values_of(x.to(DType::f16)), {0});
  // A conversion inside an expression is a real conversion.
  const auto floors = fuse([](const Expr& a) { return a.to(DType::i32) + 0.5; });
  check_close(floors(x), {-0.5, 0.5, 0.5, 3.5, 1000.5}, {0});
  // A condition that becomes a float is 1 or 0, in vectors too.
  const auto halves = fuse([](const Expr& a, const Expr& b) { return (a > b).to(DType::f32) * 0.5; });
  const Tensor p = tensor_of(values, {40}), q = tensor_of(others, {40});
  check_close(halves(p, q), values_of(gt(p, q).to(DType::f32) * 0.5), {0});
}

TEST_CASE("fuse: a fused function is a part of another; an argument may be handed through") {
  const auto gate = fuse(Gate());
  const auto outer = fuse([&](const Expr& a, const Expr& b) { return gate(a, b) + gate(b, a); });
  const std::vector<double> a = random_values(14, 21), b = random_values(15, 21);
  const Tensor x = tensor_of(a, {21}), y = tensor_of(b, {21});
  check_close(outer(x, y), values_of(Gate()(x, y) + Gate()(y, x)), {2});
  CHECK(launches_of([&] { outer(x, y); }) == 1);
  const auto same = fuse([](const Expr& u, const Expr&) { return u; });
  check_close(same(x, y), a, {0});
  const auto unused = fuse([](const Expr& u, const Expr&) { return u + 1; });
  check_close(unused(x, tensor_of(random_values(16, 6), {2, 3})), values_of(x + 1), {0});
}

TEST_CASE("fuse: what cannot be is refused by name, and nothing runs") {
  const auto f = fuse([](const Expr& a, const Expr& b) { return a * b; }, "scale");
  const Tensor x = tensor_of({1, 2, 3}, {3}), y = tensor_of({1, 2}, {2});
  check_error([&] { f(x, y); }, {"[scale]", "(3)", "(2)"});
  check_error([&] { f(x, Tensor()); }, {"[scale]", "argument 1", "undefined"});
  const auto logarithm = fuse([](const Expr& a, const Expr& b) { return remainder(a, b); });
  check_error([&] { logarithm(tensor_of({1}, {1}, DType::boolean), tensor_of({1}, {1}, DType::boolean)); }, {"bool"});
  const auto inside = fuse([](const Expr& a) { return a / sum(a); }, "normalised");
  check_error([&] { inside(x); }, {"[normalised]", "sum", "only be returned"});
  const auto slope = fuse([](const Expr& a) { return leaky_relu(a, a); });
  check_error([&] { slope(x); }, {"leaky_relu", "slope", "number"});
  const auto constant = fuse([](const Expr&) { return Expr(1.0) + 2.0; });
  check_error([&] { constant(x); }, {"depends on no tensor"});
  const auto nothing = fuse([](const Expr&) { return std::vector<Expr>(); });
  check_error([&] { nothing(x); }, {"no results"});
  const auto nine = fuse([](const Expr& a, const Expr& b, const Expr& c, const Expr& d, const Expr& e, const Expr& g,
                            const Expr& h, const Expr& i, const Expr& j) { return a + b + c + d + e + g + h + i + j; });
  check_error([&] { nine(x, x, x, x, x, x, x, x, x); }, {"9 tensors", "8"});
  using E = const Expr&;
  const auto sixteen = fuse([](E a, E, E, E, E, E, E, E, E, E, E, E, E, E, E, E) { return a; });
  check_error([&] { sixteen(x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16); }, {"16 arguments, at most 15"});
  const auto numbers = fuse([](E a) { return a * 2 + 3 - pow(a, 5) * 7 + a * 11 - a * 13 + a * 17 - a * 19 + a * 23; });
  check_error([&] { numbers(x); }, {"more than 8 numbers"});
  check_error([&] { fuse([](const Expr& a) { return sum(a, {0}); })(x); }, {"[sum]", "{-1}", "(0)"});
}

TEST_CASE("fuse: every row of the table exists for expressions under its name") {
  const Expr e(1.0);
  std::vector<const ops::PointwiseRow*> recorded;
#define NUMBERS_NONE
#define NUMBERS_ONE(...) , e
#define NUMBERS_TWO(...) , e, e
#define CRISOL_UNARY(name, x, scalars, ...) recorded.push_back(crisol::name(e NUMBERS_##scalars).node()->row);
#define CRISOL_BINARY(name, a, b, scalars, ...) recorded.push_back(crisol::name(e, e NUMBERS_##scalars).node()->row);
#define CRISOL_TERNARY(name, a, b, c, scalars, ...) \
  recorded.push_back(crisol::name(e, e, e NUMBERS_##scalars).node()->row);
#include "crisol/ops/pointwise.def"
  CHECK(recorded == std::vector(ops::all_rows().begin(), ops::all_rows().end()));
}

TEST_CASE("fuse: rows of the table added up in one function, forward and backward") {
  constexpr std::int64_t count = 37;
  for (const std::vector<RowUnderTest>& rows : rows_by_range()) {
    std::string names;
    for (const RowUnderTest& row : rows) names += std::string(row.row->name) + ' ';
    CAPTURE(names);
    std::vector<double> values[3], expected(count), gradients[3];
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < 3; ++i) {
      values[i] = random_values(40 + i, count, rows[0].reference->low, rows[0].reference->high);
      inputs.push_back(tensor_of(values[i], {count}).requires_grad_());
      gradients[i].assign(count, 0);
    }
    for (const RowUnderTest& row : rows)
      for (std::size_t i = 0; i < count; ++i) {
        const double in[] = {values[0][i], values[1][i], values[2][i]};
        const double* numbers = row.reference->scalars.data();
        const double y = row.reference->forward(in, numbers);
        expected[i] += y;
        for (std::size_t k = 0; k < row.row->input_count; ++k)
          if (row.reference->derivatives[k] != nullptr)
            gradients[k][i] += row.reference->derivatives[k](1, in, y, numbers);
      }
    const auto sum_of_rows = fuse([&](const Expr& a, const Expr& b, const Expr& c) {
      Expr total = a - a;
      for (const RowUnderTest& row : rows) {
        std::vector<Expr> operands{a, b, c};
        operands.resize(row.row->input_count, a);
        for (const double number : row.reference->scalars) operands.emplace_back(number);
        total = total + detail::apply(*row.row, operands);
      }
      return total;
    });
    const Tensor y = sum_of_rows(inputs[0], inputs[1], inputs[2]);
    // A sum of ten values. Each value's error is at most some ulp of the largest value.
    check_close(y, {count}, expected, {64, 16});
    y.backward(ones({count}));
    for (std::size_t k = 0; k < 3; ++k)
      if (inputs[k].grad().defined()) check_close(inputs[k].grad(), {count}, gradients[k], {256, 16});
  }
}

TEST_CASE("fuse: a row that is in no table") {
  using Name = ops::RowExpression;
  constexpr auto by_a = [] { return Name("dy") * (Name("b") + Name("k")); };
  constexpr auto by_b = [] { return Name("dy") * Name("a"); };
  static constexpr ops::PointwiseRow row{"bump",
                                         ops::RowRule::floating,
                                         2,
                                         {"a", "b"},
                                         1,
                                         {"k"},
                                         "a * b + k * a",
                                         nullptr,
                                         {ops::parts_of(by_a), ops::parts_of(by_b)},
                                         "a b + k a"};
  const auto f = fuse([](const Expr& a, const Expr& b) {
    const Expr operands[] = {a, b, 3};
    return square(detail::apply(row, operands));
  });
  const Tensor a = tensor_of({1, -2, 0.5}, {3}).requires_grad_(), b = tensor_of({2, 1, -1}, {3}).requires_grad_();
  const Tensor y = f(a, b);
  check_close(y, {25, 64, 1}, {2});
  y.backward(ones({3}));
  check_close(a.grad(), {2 * 5 * 5, 2 * -8 * 4, 2 * 1 * 2}, {2});
  check_close(b.grad(), {2 * 5 * 1, 2 * -8 * -2, 2 * 1 * 0.5}, {2});
}

TEST_CASE("fuse: backward of more results than a kernel can read") {
  const auto many = fuse([](const Expr& a, const Expr& b, const Expr& c) {
    std::vector<Expr> all;
    for (int i = 0; i < 7; ++i) all.push_back(i % 2 == 0 ? a * b + i : max(square(a) * c));
    return all;
  });
  std::vector<Tensor> fused, eager;
  for (std::uint64_t i = 0; i < 3; ++i) {
    fused.push_back(tensor_of(random_values(50 + i, 12), {3, 4}).requires_grad_());
    eager.push_back(fused[i].detach().requires_grad_());
  }
  Tensor total = zeros({}), expected = zeros({});
  for (const Tensor& y : many(fused[0], fused[1], fused[2])) total = total + sum(y);
  for (int i = 0; i < 7; ++i)
    expected = expected + (i % 2 == 0 ? sum(eager[0] * eager[1] + i) : max(square(eager[0]) * eager[2]));
  CHECK(total.item() == doctest::Approx(expected.item()).epsilon(1e-5));
  total.backward();
  expected.backward();
  for (std::size_t i = 0; i < 3; ++i) check_close(fused[i].grad(), values_of(eager[i].grad()), {8, 8});
}

TEST_CASE("fuse: several threads may call one function, and its first calls too") {
  if (slow_device()) CRISOL_SKIP("the simulator aborts when two threads launch at once");
  const auto f = fuse([](const Expr& a, const Expr& b) { return tanh(a - b) * 0.375; });
  const std::vector<double> a = random_values(60, 50), b = random_values(61, 50);
  const Tensor x = tensor_of(a, {50}), y = tensor_of(b, {50});
  const std::vector<double> expected = values_of(tanh(x - y) * 0.375);
  std::vector<std::vector<double>> results(4), gradients(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < results.size(); ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 5; ++round) {
        Tensor leaf = x.detach();
        const Tensor z = f(leaf.requires_grad_(), y);
        z.backward(ones({50}));
        results[t] = values_of(z);
        gradients[t] = values_of(leaf.grad());
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < results.size(); ++t) {
    CHECK(results[t] == results[0]);
    CHECK(gradients[t] == gradients[0]);
  }
  check_close(f(x, y), expected, {4});
}

TEST_CASE("fuse: tensors of two devices are refused") {
  if (devices().size() < 2) CRISOL_SKIP("there is one device");
  const auto f = fuse([](const Expr& a, const Expr& b) { return a * b; });
  const Device other = devices()[0] == Device() ? devices()[1] : devices()[0];
  if (!other.info().has_compiler) CRISOL_SKIP("the other device has no compiler");
  const Tensor x = zeros({3});
  check_error([&] { f(x, empty({3}, DType::f32, other)); }, {"[fuse]", "move it with to(device)"});
}

TEST_CASE("fuse: source shows the generated code") {
  const auto gate = fuse(Gate());
  const Tensor x = zeros({4});
  const std::string source = gate.source(x, x);
  for (const char* part : {"tanh_", "sigmoid_", "x0 * x1", "y0"}) CHECK(source.find(part) != std::string::npos);
}
