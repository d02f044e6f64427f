#include <cmath>
#include <functional>
#include <limits>

#include "crisol/ops/reduce.h"
#include "crisol/ops/workspace.h"
#include "doctest/doctest.h"
#include "reference/reduce.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

/// "rows" and "groups" take contiguous axes, and "columns" takes the others. The arguments are their numbers.
std::vector<Expected> variants(int contiguous, int others) {
  return {some(contiguous, on_cpus("rows")), some(others, on_cpus("columns")), some(contiguous, "groups"), "items"};
}

std::vector<double> expect(const std::vector<double>& x, const Shape& shape, int axis, bool reverse) {
  return reference::running(x, shape, axis, std::plus<>(), reverse);
}

// A forced variant accepts only contiguous axes, or only other axes.
void check_axis(const MustRun& variants, const Tensor& t, const std::vector<double>& x, int axis) {
  CAPTURE(t.shape());
  CAPTURE(axis);
  for (const bool reverse : {false, true}) {
    for_each_variant(variants, [&] {
      // Sums of whole numbers are exact, and halves are rounded once.
      const std::vector<double> sums = expect(x, t.shape(), axis < 0 ? axis + t.dim() : axis, reverse);
      check_close(reverse ? ops::cumsum_backward(t, axis) : ops::cumsum(t, axis), t.shape(),
                  values_of(tensor_of(sums, t.shape(), t.dtype())), {0});
    });
  }
}

}  // namespace

TEST_CASE("cumsum: every axis, layout and variant") {
  const MustRun cumsums("cumsum", variants(40, 48));
  for (const Shape& shape : {Shape{3, 50, 7}, Shape{1}, Shape{37}, Shape{2, 1, 3}, Shape{5, 3, 20}}) {
    if (slow_device() && shape.numel() > 250) continue;
    const std::vector<double> x = random_integers(1, shape.numel(), -9, 9);
    for (const Layout layout : all_layouts)
      for (int axis = 0; axis < shape.rank(); ++axis)
        check_axis(cumsums, view_of(x, shape, layout), x, axis - shape.rank());
  }
}

TEST_CASE("cumsum: long axes, in blocks") {
  if (slow_device()) CRISOL_SKIP("too large for this device");
  const MustRun cumsums("cumsum", variants(6, 6));
  for (const Shape& shape : {Shape{400003}, Shape{2, 150001}, Shape{70001, 5}, Shape{3, 20001, 18}}) {
    const std::vector<double> x = random_integers(2, shape.numel(), -9, 9);
    check_axis(cumsums, tensor_of(x, shape), x, shape.rank() == 1 ? 0 : 1);
    if (shape.rank() == 2) check_axis(cumsums, tensor_of(x, shape), x, 0);
  }
}

TEST_CASE("cumsum: halves, in blocks too") {
  const MustRun cumsums("cumsum", variants(2, 2));
  for (const DType dtype : {DType::f16, DType::bf16})
    for (const Shape& shape : {Shape{3, 85}, Shape{2, 150001}}) {
      if (slow_device() && shape.numel() > 1000) continue;
      CAPTURE(name_of(dtype));
      const std::vector<double> x = random_integers(2, shape.numel(), -9, 9);
      check_axis(cumsums, tensor_of(x, shape, dtype), x, 1);
      check_axis(cumsums, tensor_of(x, shape, dtype), x, 0);
    }
}

TEST_CASE("cumsum: other dtypes") {
  const std::vector<double> x = random_integers(3, 60, 0, 1);
  for (const DType dtype : {DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean}) {
    CAPTURE(dtype);
    for (const int axis : {0, 1}) {
      const Tensor y = ops::cumsum(tensor_of(x, {3, 20}, dtype), axis);
      CHECK(y.dtype() == (dtype == DType::f16 ? DType::f16 : DType::i64));
      check_close(y, {3, 20}, expect(x, {3, 20}, axis, false), {0});
    }
  }
  check_close(ops::cumsum(full({4}, 3e9, DType::i64), 0), {4}, {3e9, 6e9, 9e9, 12e9}, {0});
}

TEST_CASE("cumsum: stays accurate over a million places") {
  if (slow_device()) CRISOL_SKIP("too large for this device");
  const std::int64_t n = 1 << 20;
  for (const Shape& shape : {Shape{n}, Shape{n / 4, 4}}) {
    const std::vector<double> y = values_of(ops::cumsum(full(shape, 0.1), 0));
    const std::int64_t step = shape.numel() / shape[0];
    for (std::int64_t j = 0; j < shape[0]; j += 1 + j / 64) {
      const double exact = static_cast<double>(0.1f) * static_cast<double>(j + 1);
      if (std::abs(y[static_cast<std::size_t>(j * step)] / exact - 1) > 4e-7) FAIL("place ", j);
    }
  }
}

TEST_CASE("cumsum: NaN, infinity and nothing") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  std::vector<double> x(40, 1), y(40);
  for (std::size_t i = 0; i < 40; ++i) {
    x[i] = i == 20 ? infinity : i == 35 ? nan : 1;
    y[i] = i < 20 ? static_cast<double>(i + 1) : i < 35 ? infinity : nan;
  }
  for (const Shape& shape : {Shape{40}, Shape{40, 1}})
    for_each_variant(MustRun("cumsum", {on_cpus("rows"), "groups", "items"}),
                     [&] { check_close(ops::cumsum(tensor_of(x, shape), 0), y, {0}); });
  check_close(ops::cumsum(zeros({0, 3}), 0), {0, 3}, {}, {0});
  check_close(ops::cumsum(zeros({3, 0}), 0), {3, 0}, {}, {0});
  check_error([] { ops::cumsum(zeros({2, 3}), 2); }, {"[cumsum]", "axis 2", "rank 2"});
  check_error([] { ops::cumsum(zeros({}), 1); }, {"[cumsum]", "axis 1"});
  check_error([] { ops::cumsum_backward(Tensor(), 0); }, {"[cumsum_backward]", "undefined"});
}

TEST_CASE("cumsum and sums of parts run under any limit on workspaces") {
  if (slow_device()) CRISOL_SKIP("too large for this device");
  struct Lift {
    ~Lift() { ops::set_workspace_limit(0); }
  } lift;
  const Shape shape{1 << 20};
  const std::vector<double> x = random_integers(4, shape.numel(), -9, 9);
  const Tensor t = tensor_of(x, shape);
  const std::vector<double> sums = expect(x, shape, 0, false);
  for (const std::uint64_t limit : {std::uint64_t{1}, std::uint64_t{1} << 30}) {
    ops::set_workspace_limit(limit);
    check_close(ops::cumsum(t, 0), shape, sums, {0});
    CHECK(ops::sum(t).item<double>() == sums.back());
  }
}
