// Fused functions that end in a reduction.
#include <algorithm>
#include <cmath>
#include <limits>

#include "crisol/autograd.h"
#include "crisol/functions/compare.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/fuse.h"
#include "crisol/profile.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/gradcheck.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

// sum, mean, max and min of (a - b)^2 + b over all axes or the last axis, in double.
std::vector<double> reduced(const std::vector<double>& a, const std::vector<double>& b, std::int64_t rows,
                            const char* kind) {
  const auto columns = static_cast<std::int64_t>(a.size()) / rows;
  std::vector<double> y;
  for (std::int64_t r = 0; r < rows; ++r) {
    double total = 0, top = -std::numeric_limits<double>::infinity(), low = -top;
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto i = static_cast<std::size_t>(r * columns + c);
      const double v = (a[i] - b[i]) * (a[i] - b[i]) + b[i];
      total += v;
      top = std::max(top, v);
      low = std::min(low, v);
    }
    const std::string name = kind;
    y.push_back(name == "sum"    ? total
                : name == "mean" ? total / static_cast<double>(columns)
                : name == "max"  ? top
                                 : low);
  }
  return y;
}

const struct {
  const char* kind;
  Expr (*reduce)(const Expr&, const Shape&, bool);
} kinds[] = {{"sum", sum}, {"mean", mean}, {"max", max}, {"min", min}};

Tensor run(Expr (*reduce)(const Expr&, const Shape&, bool), const Shape& axes, bool keepdim, const Tensor& a,
           const Tensor& b) {
  return fuse([=](const Expr& u, const Expr& v) { return reduce(square(u - v) + v, axes, keepdim); })(a, b);
}

}  // namespace

TEST_CASE("fuse: every trailing reduction over all and over the last axis, at odd sizes, in one pass") {
  const Shape shapes[] = {{1}, {17}, {3, 5}, {5, 1}, {1, 300}, {7, 33}, {2, 3, 65}, {40, 129}};
  const MustRun variants("reduce", {some(4, on_cpus("columns")), on_cpus("rows"), some(32, "items"), "groups"});
  for (const Shape& shape : shapes) {
    if (slow_device() && shape.numel() > 1000) continue;
    CAPTURE(shape);
    const std::vector<double> a = random_values(1, shape.numel()), b = random_values(2, shape.numel());
    const Tensor x = tensor_of(a, shape), y = tensor_of(b, shape);
    const std::int64_t rows = shape.numel() / shape.back();
    Shape kept = shape, without = shape;
    kept[shape.rank() - 1] = 1;
    without.erase(shape.rank() - 1);
    for (const auto& [kind, reduce] : kinds) {
      CAPTURE(std::string(kind));
      const Tolerance bound{2, kind == std::string("sum") ? 2.0 * static_cast<double>(shape.numel()) : 4};
      const std::vector<double> total = reduced(a, b, 1, kind), of_rows = reduced(a, b, rows, kind);
      for_each_variant(variants, [&] { check_close(run(reduce, {}, false, x, y), {}, total, bound); });
      for_each_variant(variants, [&] {
        check_close(run(reduce, {-1}, false, x, y), without, of_rows, bound);
        check_close(run(reduce, {-1}, true, x, y), kept, of_rows, bound);
      });
    }
  }
}

TEST_CASE("fuse: reductions read views and broadcast inputs") {
  const Shape shape{4, 6, 19};
  const std::vector<double> a = random_values(3, shape.numel());
  const auto f = fuse([](const Expr& u, const Expr& v) { return std::array<Expr, 2>{sum(u * v), sum(u * v, {-1})}; });
  for (const Layout layout : all_layouts) {
    CAPTURE(std::string(testing::name_of(layout)));
    const Tensor x = view_of(a, shape, layout);
    for (const Shape& other : {Shape{19}, Shape{6, 1}, Shape{4, 1, 19}, Shape{4, 6, 1}, Shape{}}) {
      CAPTURE(other);
      const Tensor y = tensor_of(random_values(4, other.numel()), other);
      const std::array<Tensor, 2> both = f(x, y);
      const Tensor product = x * y;
      check_close(both[0], values_of(sum(product)), {2, 100});
      check_close(both[1], values_of(sum(product, {-1})), {2, 19});
    }
  }
  // Each of the two inputs is broadcast, because the joint shape is larger than either.
  const Tensor column = tensor_of(random_values(5, 40), {40, 1}), row = tensor_of(random_values(6, 70), {70});
  const std::array<Tensor, 2> both = f(column, row);
  check_close(both[0], values_of(sum(column * row)), {4, 300});
  check_close(both[1], values_of(sum(column * row, {-1})), {4, 30});
}

TEST_CASE("fuse: reductions of other dtypes, of no elements and of NaN are as the eager ones") {
  const auto total = fuse([](const Expr& u) { return sum(u * 2); });
  const auto most = fuse([](const Expr& u) { return max(u + 1, {-1}); });
  const Tensor whole = tensor_of({1, 2, 3, 1 << 30, 1 << 30, 1 << 30}, {2, 3}, DType::i32);
  CHECK(total(whole.to(DType::i64)).item<std::int64_t>() == 2 * (6 + 3 * (std::int64_t{1} << 30)));
  check_close(most(tensor_of({1, 5, 3, -4, -6, -5}, {2, 3}, DType::i32)), {2}, {6, -3}, {0});
  const Tensor half = tensor_of({1.5, 2.5, -1}, {3}, DType::f16);
  CHECK(total(half).dtype() == DType::f16);
  check_close(total(half), {}, {6}, {0});
  const auto count = fuse([](const Expr& u) { return sum(u > 2); });
  CHECK(count(half).dtype() == DType::i64);
  check_close(count(half), {}, {1}, {0});
  check_error([&] { fuse([](const Expr& u) { return mean(u); })(whole); }, {"mean", "i32"});

  check_close(total(zeros({0, 3})), {}, {0}, {0});
  check_close(most(zeros({0, 3})), {0}, std::vector<double>{}, {0});
  check_error([&] { most(zeros({3, 0})); }, {"[fuse]", "no elements", "(3, 0)"});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_close(most(tensor_of({1, nan, 2, 3, 4, 5}, {2, 3})), {2}, {nan, 6}, {0});
}

TEST_CASE("fuse: long sums are exact to a few roundings and the same every time") {
  if (slow_device()) CRISOL_SKIP("16 million elements take too long here");
  const std::int64_t count = std::int64_t{1} << 24;
  const auto f = fuse([](const Expr& u, const Expr& v) { return sum(square(u - v)); });
  const Tensor x = full({count}, 0.5), y = full({count}, 0.5 - std::sqrt(0.1));
  const float difference = 0.5f - static_cast<float>(0.5 - std::sqrt(0.1));
  const float first = f(x, y).item();
  CHECK(first ==
        doctest::Approx(static_cast<double>(difference * difference) * static_cast<double>(count)).epsilon(1e-6));
  CHECK(f(x, y).item() == first);
}

TEST_CASE("fuse: gradients through trailing reductions") {
  const Tensor a = tensor_of(random_values(7, 60), {3, 4, 5}), b = tensor_of(random_values(8, 5), {5});
  for (const Shape& axes : {Shape{}, Shape{-1}})
    for (const bool keepdim : {false, true}) {
      CAPTURE(axes);
      CAPTURE(keepdim);
      const auto total = fuse([=](const Expr& u, const Expr& v) { return sum(tanh(u * v), axes, keepdim); });
      const auto average = fuse([=](const Expr& u, const Expr& v) { return mean(square(u - v), axes, keepdim); });
      check_gradients([&](const std::vector<Tensor>& v) { return total(v[0], v[1]); }, {a, b});
      check_gradients([&](const std::vector<Tensor>& v) { return average(v[0], v[1]); }, {a, b});
    }
  // A plain sum only passes its gradient on.
  const auto plain = fuse([](const Expr& u) { return sum(u, {-1}); });
  check_gradients([&](const std::vector<Tensor>& v) { return plain(v[0]); }, {a});
}

TEST_CASE("fuse: the gradient of max and min goes to the elements that they came from") {
  Tensor x = tensor_of({1, 3, 3, 2, -1, -1, -1, 0}, {2, 4}).requires_grad_();
  const auto most = fuse([](const Expr& u) { return max(u * 2, {-1}); });
  most(x).backward(tensor_of({6, 5}, {2}));
  check_close(x.grad(), {0, 6, 6, 0, 0, 0, 0, 10}, {0});
  x = tensor_of({1, 3, 3, 2, -1, -1, -1, 0}, {2, 4}).requires_grad_();
  const auto least = fuse([](const Expr& u) { return min(u); });
  least(x).backward();
  check_close(x.grad(), {0, 0, 0, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0}, {1});
}

TEST_CASE("fuse: some element always gets the gradient of max and min, however kernels round the expression") {
  const auto most = fuse([](const Expr& a, const Expr& b) { return max(exp(a) * b, {-1}); });
  const auto least = fuse([](const Expr& a, const Expr& b) { return min(tanh(a) * b); });
  // Each result is linear in q, so it is the sum of q times the derivative by q.
  const auto check = [](const auto& f, DType dtype, std::uint64_t draw, bool higher) {
    const Tensor p = tensor_of(random_values(2 * draw, 370, -2, 2), {10, 37}, dtype);
    const Tensor q = tensor_of(random_values(2 * draw + 1, 370, 0.5, 1.5), {10, 37}, dtype).requires_grad_();
    const Tensor y = f(p, q), seed = ones(y.shape(), dtype);
    const Tensor slope = grad({y}, {q}, {.grad_outputs = {seed}, .retain_graph = true})[0];
    CHECK(slope.dtype() == dtype);
    const Tensor parts = slope.to(DType::f32) * q.detach().to(DType::f32);
    const Tensor totals = y.dim() == 0 ? sum(parts) : sum(parts, {-1});
    CHECK(allclose(totals, y.detach().to(DType::f32), dtype == DType::f16 ? 4e-3 : 1e-5));
    if (!higher) return;
    const Tensor recorded = grad({y}, {q}, {.grad_outputs = {seed}, .create_graph = true})[0];
    CHECK(allclose(recorded.detach().to(DType::f32), slope.to(DType::f32), 1e-2, 1e-5));
  };
  const std::uint64_t draws = slow_device() ? 2 : 20;
  for (std::uint64_t draw = 0; draw < draws; ++draw) check(most, DType::f32, draw, draw == 0);
  for (std::uint64_t draw = 0; draw < draws; ++draw) check(least, DType::f32, draw, false);
  for (std::uint64_t draw = 0; draw < draws / 2; ++draw) check(most, DType::f16, draw, false);
}

TEST_CASE("fuse: gradients of several maxima, of a broadcast input and of NaN") {
  const Tensor a = tensor_of(random_values(31, 60, 0.5, 1.5), {3, 4, 5}).requires_grad_();
  const Tensor b = tensor_of(random_values(32, 5, 1, 2), {5}).requires_grad_();
  const auto most = [](const auto& u, const auto& v) { return max(u * v, {-1}); };
  const auto least = [](const auto& u, const auto& v) { return min(u * v, {-1}); };
  const auto of_sum = [](const auto& u, const auto& v) { return max(u + v); };
  const auto check = [&](const Tensor& fused, const Tensor& eager) {
    const std::vector<Tensor> actual = grad({sum(fused)}, {a, b}), expected = grad({sum(eager)}, {a, b});
    check_close(actual[0], values_of(expected[0]), {4});
    check_close(actual[1], values_of(expected[1]), {16});
  };
  // Backward of three maxima is one kernel.
  const auto three = fuse([=](const Expr& u, const Expr& v) {
    return std::array<Expr, 3>{most(u, v), least(u, v), of_sum(u, v)};
  });
  {
    const auto [first, second, third] = three(a, b);
    check(first * second + third, most(a, b) * least(a, b) + of_sum(a, b));
  }
  check(three(a, b)[1], least(a, b));  // Some results are not used.
  // One more result is too much for one kernel.
  const auto four = fuse([=](const Expr& u, const Expr& v) {
    return std::array<Expr, 4>{most(u, v), least(u, v), of_sum(u, v), u * v};
  });
  {
    const auto [first, second, third, plain] = four(a, b);
    check(first * second + third + sum(plain, {-1}), most(a, b) * least(a, b) + of_sum(a, b) + sum(a * b, {-1}));
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = tensor_of({1, nan, 2, nan, 3, 4, 5, 6}, {2, 4}).requires_grad_();
  const auto shifted = fuse([](const Expr& u) { return max(u + 1, {-1}); });
  shifted(x).backward(ones({2}));
  check_close(x.grad(), {0, 0.5, 0, 0.5, 0, 0, 0, 1}, {0});
}
