#include "crisol/ops/reduce.h"

#include <cmath>
#include <functional>
#include <limits>

#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "ops/reduce/reduce_cases.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/skip.h"
#include "tensor/impl.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

const double nan_value = std::nan(""), infinity = std::numeric_limits<double>::infinity();

/// All variants. The arguments say how many of the problems "columns" and "items" accept.
std::vector<Expected> all_variants(int columns, int items) {
  return {some(columns, on_cpus("columns")), on_cpus("rows"), some(items, "items"), "groups"};
}

std::vector<double> transposed(const std::vector<double>& x, std::size_t rows, std::size_t columns) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i % columns * rows + i / columns] = x[i];
  return y;
}

using Reduce = std::function<Tensor(const Tensor&, const Shape&, bool)>;
using Reference = std::function<double(const std::vector<double>&)>;

struct Op {
  const char* name;
  Reduce reduce;
  Reference reference;
  Tolerance tolerance;
};

// Sums of n terms of up to 1 have about ten roundings of the total, for any n. log and sqrt have errors of 3 ulp, pow
// of 16.
Tolerance of_sum(double n) { return {10, n}; }

// One op for each kind of reduction in the kernels' table.
const Op kinds[] = {
    {"sum", ops::sum, reference::sum, of_sum(210)},
    {"prod", ops::prod, reference::product, {64}},  // One rounding for each of up to 210 factors near 1.
    {"max", ops::max, reference::largest, {0}},
    {"min", ops::min, reference::smallest, {0}},
    {"argmax", ops::argmax, reference::first_largest, {0}},
    {"argmin", ops::argmin, reference::first_smallest, {0}},
    {"logsumexp", ops::logsumexp, reference::log_sum_exp, {8, 6}},
    {"var",
     [](const Tensor& x, const Shape& axes, bool keepdim) { return ops::var(x, axes, keepdim); },
     [](const std::vector<double>& v) { return reference::variance(v, 1); },
     {16}},
};

Op norm_op(double p) {
  return {"norm",
          [p](const Tensor& x, const Shape& axes, bool keepdim) { return ops::norm(x, p, axes, keepdim); },
          [p](const std::vector<double>& v) { return reference::norm(v, p); },
          {32}};
}

// Ops that differ from the kinds above only before or after the reduction.
const Op others[] = {
    {"mean", ops::mean, reference::mean, {10, 1}},
    {"any", ops::any, reference::any, {0}},
    {"all", ops::all, reference::all, {0}},
    {"stddev",
     [](const Tensor& x, const Shape& axes, bool keepdim) { return ops::stddev(x, axes, keepdim, 0); },
     [](const std::vector<double>& v) { return std::sqrt(reference::variance(v, 0)); },
     {16}},
    norm_op(0),
    norm_op(1),
    norm_op(2),
    norm_op(3.5),
    norm_op(infinity),
    norm_op(-infinity),
};

std::vector<ReduceCase> all_cases() {
  std::vector<ReduceCase> cases = every_set_of_axes({3, 2, 5, 7});
  const ReduceCase more[] = {{{1}, {0}, {}, {1}},
                             {{}, {}, {}, {}},
                             {{1, 6, 1}, {1}, {1, 1}, {1, 1, 1}},
                             {{2, 100}, {1}, {2}, {2, 1}},
                             {{37, 19}, {1}, {37}, {37, 1}},
                             {{100, 2}, {0}, {2}, {1, 2}},
                             {{2, 150}, {1}, {2}, {2, 1}},
                             {{21, 70}, {0}, {70}, {1, 70}},
                             {{2, 2, 2, 2, 2, 2, 2, 2}, {1, 3, 5, 7}, {2, 2, 2, 2}, {2, 1, 2, 1, 2, 1, 2, 1}}};
  cases.insert(cases.end(), std::begin(more), std::end(more));
  return cases;
}

void check_op(const Op& op, const ReduceCase& c, const Tensor& t, const std::vector<double>& x, bool keepdim) {
  CAPTURE(op.name);
  CAPTURE(c.shape);
  CAPTURE(c.axes);
  check_close(op.reduce(t, c.axes, keepdim), keepdim ? c.kept : c.result, expect(x, c, op.reference), op.tolerance);
}

}  // namespace

TEST_CASE("reduce: short rows, with ties and NaN") {
  for (const std::int64_t n : {1, 2, 3, 5, 8, 9}) {
    const ReduceCase c{{70, n}, {1}, {70}, {70, 1}};
    // Quarters of whole numbers, so that many elements of a row are equal.
    std::vector<double> x = testing::random_integers(static_cast<std::uint64_t>(n), 70 * n, 2, 5);
    for (double& value : x) value /= 4;
    for (const Layout layout : all_layouts)
      for (const Op& op : kinds) check_op(op, c, view_of(x, c.shape, layout), x, false);
    x[static_cast<std::size_t>(n)] = x[static_cast<std::size_t>(20 * n - 1)] = NAN;
    const Tensor found = ops::argmax(tensor_of(x, c.shape), {1});
    CHECK(found.to_vector<std::int64_t>()[1] == 0);
    CHECK(found.to_vector<std::int64_t>()[19] == n - 1);
  }
}

TEST_CASE("reduce: every kind over every set of axes, layout and variant") {
  const std::vector<ReduceCase> cases = all_cases();
  // GPU kernels are compiled separately for each number of axes and each vector width. So each kind runs only a part of
  // the cases.
  const auto check_every = [&](const MustRun& variants, std::size_t share) {
    for (const Op& op : kinds) {
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::vector<double> x = random_values(i, cases[i].shape.numel(), 0.5, 1.5);
        for (const Layout layout : all_layouts) {
          if ((i + 5 * static_cast<std::size_t>(layout) + static_cast<std::size_t>(&op - kinds)) % share != 0) continue;
          CAPTURE(name_of(layout));
          for_each_variant(variants,
                           [&] { check_op(op, cases[i], view_of(x, cases[i].shape, layout), x, i % 2 == 0); });
        }
      }
    }
  };
  check_every({"reduce", {some(176, on_cpus("columns")), on_cpus("rows")}}, slow_device() ? 12 : 1);
  check_every({"reduce", {some(8, "items"), "groups"}},
              slow_device() || Device().info().type == DeviceType::cpu ? 36 : 4);
}

// First, sizes are multiples of 16, the widest vector, so that every device reads whole vectors. Then axes have other
// sizes.
TEST_CASE("reduce: whole vectors, one axis, two and more, on GPUs") {
  const ReduceCase cases[] = {{{3, 48}, {1}, {3}, {3, 1}},
                              {{9, 32}, {0}, {32}, {1, 32}},
                              {{3, 4, 3, 32}, {1, 3}, {3, 3}, {3, 1, 3, 1}},
                              {{3, 2, 2, 2, 3, 16}, {1, 3, 5}, {3, 2, 3}, {3, 1, 2, 1, 3, 1}},
                              {{2, 3, 3, 16}, {0, 2}, {3, 16}, {1, 3, 1, 16}},
                              {{2, 2, 2, 3, 2, 16}, {0, 2, 4}, {2, 3, 16}, {1, 2, 1, 3, 1, 16}},
                              {{4, 5003}, {1}, {4}, {4, 1}},
                              {{40003}, {0}, {}, {1}}};
  const MustRun variants("reduce", {some(7, "items"), "groups"});
  for (const Op& op : kinds) {
    const std::string name = op.name;
    if (name != "sum" && name != "argmax" && name != "var") continue;
    for (const ReduceCase& c : cases) {
      if (name == "var" && c.shape.rank() > 2) continue;  // Compiling this takes longer than the rest.
      if (slow_launches() && c.shape.numel() > 10000) continue;
      const std::vector<double> x = random_values(3, c.shape.numel(), 0.5, 1.5);
      const Op wide{op.name, op.reduce, op.reference, name == "sum" ? of_sum(40003) : op.tolerance};
      for_each_variant(variants, [&] { check_op(wide, c, tensor_of(x, c.shape), x, false); });
    }
  }
}

TEST_CASE("reduce: those that map their elements, or finish, in their own way") {
  for (const Op& op : others) {
    for (const ReduceCase& c : {ReduceCase{{9, 35}, {1}, {9}, {9, 1}}, ReduceCase{{150}, {}, {}, {1}}}) {
      std::vector<double> x = random_values(2, c.shape.numel());
      if (c.shape.rank() == 2)
        for (std::size_t i = 0; i < 35; ++i) x[i] = 0, x[35 + i] = i == 3 ? 0.25 : 0, x[70 + i] = i == 30 ? 0 : 1;
      for (const Layout layout : {Layout::contiguous, Layout::strided})
        check_op(op, c, view_of(x, c.shape, layout), x, layout == Layout::strided);
    }
  }
}

TEST_CASE("reduce: expanded inputs") {
  const std::vector<double> x = random_integers(7, 6, -9, 9);
  const Tensor t = ops::expand(tensor_of(x, {2, 1, 3}), {2, 40, 3});
  std::vector<double> rows, columns;
  for (std::size_t i = 0; i < 6; ++i) rows.push_back(40 * x[i]);
  for (std::size_t i = 0; i < 3; ++i) columns.push_back(x[i] + x[3 + i]);
  check_close(ops::sum(t, {1}), {2, 3}, rows, {0});
  std::vector<double> each;
  for (int repeat = 0; repeat < 40; ++repeat) each.insert(each.end(), columns.begin(), columns.end());
  check_close(ops::sum(t, {0}), {40, 3}, each, {0});
  check_close(ops::argmax(ops::expand(tensor_of({5}, {1}), {70})), {}, {0}, {0});
}

TEST_CASE("reduce: positions of equal elements, values with their indices") {
  // Few different values, so that equal values are common.
  const Shape shape{4, 90, 3};
  const std::vector<double> x = random_integers(2, shape.numel(), 0, 5);
  const MustRun variants("reduce", all_variants(2, 4));
  for (int axis = 0; axis < 3; ++axis) {
    const ReduceCase c{shape, {axis}, {}, {}};
    for (const Layout layout : {Layout::contiguous, Layout::permuted})
      for_each_variant(variants, [&] {
        const Tensor t = view_of(x, shape, layout);
        const ExtremeResult most = ops::max_with_indices(t, axis), least = ops::min_with_indices(t, axis - 3, true);
        CHECK(most.indices.dtype() == DType::i64);
        check_close(most.values, expect(x, c, reference::largest), {0});
        check_close(most.indices, expect(x, c, reference::first_largest), {0});
        check_close(least.values, expect(x, c, reference::smallest), {0});
        check_close(least.indices, expect(x, c, reference::first_smallest), {0});
        CHECK(least.indices.dim() == 3);
      });
  }
}

TEST_CASE("reduce: other dtypes") {
  const auto op = [](const char* name, Reduce reduce, Reference reference, Tolerance tolerance = {0}) {
    return Op{name, std::move(reduce), std::move(reference), tolerance};
  };
  const Op sum = op("sum", ops::sum, reference::sum), prod = op("prod", ops::prod, reference::product);
  const Op max = op("max", ops::max, reference::largest), min = op("min", ops::min, reference::smallest);
  const Op argmax = op("argmax", ops::argmax, reference::first_largest);
  const Op any = op("any", ops::any, reference::any), all = op("all", ops::all, reference::all);
  const Op mean = op("mean", ops::mean, reference::mean, {1});
  struct Typed {
    Op op;
    DType from, to;
    bool columns = false;  ///< The case also reduces columns. Every pair is compiled.
  };
  const Typed list[] = {{mean, DType::f16, DType::f16, true}, {argmax, DType::f16, DType::i64},
                        {sum, DType::i32, DType::i64, true},  {prod, DType::i32, DType::i64},
                        {max, DType::i32, DType::i32},        {argmax, DType::i64, DType::i64, true},
                        {min, DType::i64, DType::i64},        {sum, DType::u8, DType::i64},
                        {max, DType::u8, DType::u8},          {any, DType::i64, DType::boolean},
                        {sum, DType::boolean, DType::i64},    {all, DType::boolean, DType::boolean, true},
                        {max, DType::boolean, DType::boolean}};
  for (const Typed& typed : list) {
    CAPTURE(typed.from);
    for (const ReduceCase& c : {ReduceCase{{19, 37}, {1}, {19}, {19, 1}}, ReduceCase{{37, 19}, {0}, {19}, {1, 19}}}) {
      if (!typed.columns && c.axes[0] == 0) continue;
      const bool truth = typed.from == DType::boolean, product = std::string(typed.op.name) == "prod";
      const std::vector<double> x = random_integers(3, c.shape.numel(), product ? 1 : 0, truth ? 1 : product ? 2 : 9);
      const Tensor t = tensor_of(x, c.shape, typed.from);
      CHECK(typed.op.reduce(t, c.axes, false).dtype() == typed.to);
      check_op(typed.op, c, t, x, false);
    }
  }
  // Values that floats and ints cannot hold.
  const Tensor wide = full({3, 5}, 3e9, DType::i64);
  check_close(ops::sum(wide), {}, {45e9}, {0});
  check_close(ops::max(wide, {0}), {5}, std::vector<double>(5, 3e9), {0});
  check_close(ops::sum(full({100000}, 100000, DType::i32)), {}, {1e10}, {0});
}

TEST_CASE("reduce: many elements into few outputs, in parts") {
  if (slow_device()) CRISOL_SKIP("too large for this device");
  const ReduceCase large[] = {{{700003}, {}, {}, {}},          {{270001, 3}, {0}, {3}, {}},
                              {{3, 270001}, {1}, {3}, {}},     {{99, 8, 999}, {0, 2}, {8}, {}},
                              {{999, 8, 99}, {0, 2}, {8}, {}}, {{12000, 65}, {0}, {65}, {}}};
  const auto variance = [](const std::vector<double>& v) { return reference::variance(v, 1); };
  // The kinds in addition to sums. There are all of them, or one per case, because GPU kernels are compiled for each
  // kind.
  const auto check_large = [&](const MustRun& variants, bool every_kind) {
    for (const ReduceCase& c : large) {
      const std::size_t turn = (&c - large) % 4;
      const auto takes = [&](std::size_t kind) { return every_kind || kind == turn; };
      const std::vector<double> x = random_integers(3, c.shape.numel(), -8, 8);
      CAPTURE(c.shape);
      CAPTURE(c.axes);
      const Tensor t = tensor_of(x, c.shape);
      std::vector<double> peaked = x;
      peaked[peaked.size() / 3] = 100;
      const Tensor with_peak = tensor_of(peaked, c.shape);
      for_each_variant(variants, [&] {
        // Whole numbers below 2^24 are exact.
        check_close(ops::sum(t, c.axes), c.result, expect(x, c, reference::sum), {0});
        if (takes(0)) check_close(ops::max(with_peak, c.axes), c.result, expect(peaked, c, reference::largest), {0});
        if (takes(1))
          check_close(ops::argmax(with_peak, c.axes), c.result, expect(peaked, c, reference::first_largest), {0});
        if (takes(2)) check_close(ops::var(t, c.axes), c.result, expect(x, c, variance), {16});
        if (takes(3)) check_close(ops::logsumexp(t, c.axes), c.result, expect(x, c, reference::log_sum_exp), {8, 16});
      });
    }
  };
  check_large({"reduce", {some(2, on_cpus("columns")), on_cpus("rows")}}, true);
  check_large({"reduce", {some(1, "items"), "groups"}}, false);
}

TEST_CASE("reduce: sums of many equal values stay accurate, and repeat to the bit") {
  if (slow_device()) CRISOL_SKIP("2^24 elements are too many for this device");
  const std::int64_t count = std::int64_t{1} << 24;
  const double value = static_cast<double>(0.1f);
  for (const Shape& shape : {Shape{count}, Shape{1024, count / 1024}, Shape{count / 8, 8}}) {
    CAPTURE(shape);
    const Tensor x = full(shape, 0.1);
    const double total = ops::sum(x).item<double>(), exact = value * static_cast<double>(count);
    CHECK(std::abs(total / exact - 1) < 1e-6);
    CHECK(ops::sum(x).item<double>() == total);
    CHECK(std::abs(ops::mean(x).item<double>() / value - 1) < 1e-6);
    for (int axis = 0; axis < shape.rank(); ++axis)
      for (const double part : values_of(ops::sum(x, {axis})))
        if (std::abs(part / value / static_cast<double>(shape[axis]) - 1) >= 1e-6) FAIL("axis ", axis, " gives ", part);
    CHECK(std::abs(ops::norm(x).item<double>() / (value * 4096) - 1) < 1e-6);
  }
}

TEST_CASE("reduce: two runs give the same bits") {
  const std::int64_t rows = slow_device() ? 9 : 33, columns = slow_device() ? 130 : 1031;
  const Tensor x = tensor_of(random_values(9, rows * columns), {rows, columns});
  const MustRun variants("reduce", all_variants(8, 8));
  for (const Op& op : kinds) {
    CAPTURE(op.name);
    for (const Shape& axes : {Shape{}, Shape{0}, Shape{1}})
      for_each_variant(variants, [&] {
        const Tensor once = op.reduce(x, axes, false);
        check_close(op.reduce(x, axes, false), once.shape(), values_of(once), {0});
      });
  }
}

TEST_CASE("reduce: the variance of numbers far from zero") {
  const Shape shape{5, 4001};
  std::vector<double> x = random_values(8, shape.numel());
  for (double& value : x) value = static_cast<double>(static_cast<float>(value + 3e4));
  const ReduceCase rows{shape, {1}, {5}, {}}, columns{{4001, 5}, {0}, {5}, {}};
  const auto variance = [](const std::vector<double>& v) { return reference::variance(v, 1); };
  // The means of blocks have errors of half an ulp of 3e4, which is 2e-3 of the deviation. The variance contains the
  // square of such an error.
  check_close(ops::var(tensor_of(x, shape), {1}), expect(x, rows, variance), {64});
  check_close(ops::var(tensor_of(x, columns.shape), {0}), expect(x, columns, variance), {64});
}

TEST_CASE("reduce: no elements") {
  check_close(ops::sum(zeros({0, 3})), {}, {0}, {0});
  check_close(ops::sum(zeros({0, 3}), {0}), {3}, {0, 0, 0}, {0});
  check_close(ops::sum(zeros({0, 3}), {1}), {0}, {}, {0});
  check_close(ops::sum(zeros({2, 0}, DType::i32), {1}), {2}, {0, 0}, {0});
  check_close(ops::mean(zeros({2, 0}), {1}), {2}, {nan_value, nan_value}, {0});
  check_close(ops::prod(zeros({0, 2}), {0}), {2}, {1, 1}, {0});
  check_close(ops::any(zeros({0, 2}), {0}), {2}, {0, 0}, {0});
  check_close(ops::all(zeros({2, 0}), {1}), {2}, {1, 1}, {0});
  check_close(ops::norm(zeros({2, 0}), 2, {1}), {2}, {0, 0}, {0});
  check_close(ops::logsumexp(zeros({2, 0}), {1}), {2}, {-infinity, -infinity}, {0});
  check_close(ops::var(zeros({2, 0}), {1}), {2}, {nan_value, nan_value}, {0});
  check_close(ops::var(ones({2, 1}), {1}), {2}, {nan_value, nan_value}, {0});
  check_close(ops::var(ones({2, 1}), {1}, false, 0), {2}, {0, 0}, {0});
  check_close(ops::max(zeros({0, 3}), {1}), {0}, {}, {0});
  check_close(ops::argmax(zeros({0, 3}), {1}), {0}, {}, {0});
  check_error([] { ops::max(zeros({0, 3}), {0}); }, {"[max]", "no elements", "(0, 3)"});
  check_error([] { ops::min(zeros({0})); }, {"[min]", "no elements"});
  check_error([] { ops::argmax(zeros({2, 0}), {1}); }, {"[argmax]", "no elements", "(2, 0)"});
  check_error([] { ops::norm(zeros({2, 0}), HUGE_VAL); }, {"[norm]", "no elements", "(2, 0)"});
}

TEST_CASE("reduce: the variance of f32 numbers whose squares are not finite is infinite") {
  for (const std::int64_t n : {2, 3, 9, 1000}) {
    std::vector<double> x(static_cast<std::size_t>(3 * n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 1e30 : -1e30;
    check_close(ops::var(tensor_of(x, {3, n}), {1}), {3}, {infinity, infinity, infinity}, {0});
    check_close(ops::var(tensor_of(x, {n, 3}), {0}), {3}, {infinity, infinity, infinity}, {0});
  }
}

TEST_CASE("reduce: NaN and infinity") {
  const MustRun variants("reduce", all_variants(2, 1));
  std::vector<double> values(40 * 40, 1), at(40, 7);
  for (std::size_t i = 0; i < 40; ++i) values[i * 40 + 7] = values[7 * 40 + i] = nan_value;
  at[7] = 0;
  const std::vector<double> all(40, nan_value);
  const Tensor square = tensor_of(values, {40, 40});
  for (const Shape& axes : {Shape{1}, Shape{0}}) {
    CAPTURE(axes);
    for_each_variant(variants, [&] {
      for (const Reduce& op :
           {Reduce(ops::sum), Reduce(ops::max), Reduce(ops::min), Reduce(ops::prod), Reduce(ops::logsumexp)})
        check_close(op(square, axes, false), all, {0});
      check_close(ops::var(square, axes), all, {0});
      check_close(ops::argmax(square, axes), at, {0});
      check_close(ops::argmin(square, axes), at, {0});
    });
  }
  // The rows contain: only -inf; +inf among numbers; -inf among numbers; +inf and -inf; large numbers.
  std::vector<double> rows(5 * 33, 2);
  for (std::size_t i = 0; i < 33; ++i) rows[i] = -infinity, rows[4 * 33 + i] = 1e4;
  rows[33 + 20] = infinity, rows[2 * 33 + 20] = -infinity, rows[3 * 33 + 1] = infinity, rows[3 * 33 + 30] = -infinity;
  const std::vector<double> columns = transposed(rows, 5, 33);
  for (const bool by_column : {false, true}) {
    CAPTURE(by_column);
    const ReduceCase c = by_column ? ReduceCase{{33, 5}, {0}, {5}, {}} : ReduceCase{{5, 33}, {1}, {5}, {}};
    const std::vector<double>& x = by_column ? columns : rows;
    const Tensor t = tensor_of(x, c.shape);
    for_each_variant(variants, [&] {
      check_close(ops::logsumexp(t, c.axes), expect(x, c, reference::log_sum_exp), {8});
      check_close(ops::sum(t, c.axes), expect(x, c, reference::sum), {0});
      check_close(ops::max(t, c.axes), expect(x, c, reference::largest), {0});
      check_close(ops::argmax(t, c.axes), expect(x, c, reference::first_largest), {0});
      check_close(ops::argmin(t, c.axes), expect(x, c, reference::first_smallest), {0});
    });
  }
  check_close(ops::any(tensor_of({0, nan_value}, {2})), {1}, {0});
}

TEST_CASE("sum_to takes a broadcast back") {
  const std::vector<double> x = random_integers(4, 105, -9, 9);
  const Tensor t = tensor_of(x, {3, 5, 7});
  CHECK(ops::sum_to(t, {3, 5, 7}).impl() == t.impl());
  const ReduceCase to[] = {{{3, 5, 7}, {0}, {5, 7}, {}}, {{3, 5, 7}, {0, 1}, {7}, {}}, {{3, 5, 7}, {}, {}, {}}};
  for (const ReduceCase& c : to) check_close(ops::sum_to(t, c.result), c.result, expect(x, c, reference::sum), {0});
  check_close(ops::sum_to(t, {5, 1}), {5, 1}, expect(x, {{3, 5, 7}, {0, 2}, {}, {}}, reference::sum), {0});
  check_close(ops::sum_to(t, {3, 1, 1}), {3, 1, 1}, expect(x, {{3, 5, 7}, {1, 2}, {}, {}}, reference::sum), {0});
  check_close(ops::sum_to(tensor_of({1, 2}, {1, 1, 2}), {2}), {2}, {1, 2}, {0});
  check_close(ops::sum_to(zeros({0, 2}), {1, 2}), {1, 2}, {0, 0}, {0});
  check_error([&] { ops::sum_to(t, {4, 7}); }, {"[sum_to]", "(4, 7)", "(3, 5, 7)"});
  check_error([&] { ops::sum_to(tensor_of({1}, {1}), {3}); }, {"[sum_to]", "(3)", "(1)"});
}

TEST_CASE("reduce: refusals") {
  const Tensor x = zeros({2, 3});
  check_error([&] { ops::sum(x, {2}); }, {"[sum]", "axis 2", "rank 2"});
  check_error([&] { ops::mean(x, {-3}); }, {"[mean]", "axis -3"});
  check_error([&] { ops::mean(x, {std::int64_t{1} << 32}); }, {"[mean]", "axis 4294967296"});
  check_error([&] { ops::max(x, {1, -1}); }, {"[max]", "named twice"});
  for (const DType dtype : {DType::i32, DType::i64, DType::u8, DType::boolean}) {
    const std::string name = name_of(dtype);
    check_error([&] { ops::mean(zeros({2}, dtype)); }, {"[mean]", name, "f32"});
    check_error([&] { ops::var(zeros({2}, dtype)); }, {"[var]", name, "f32"});
    check_error([&] { ops::norm(zeros({2}, dtype)); }, {"[norm]", name, "f32"});
    check_error([&] { ops::logsumexp(zeros({2}, dtype)); }, {"[logsumexp]", name, "f32"});
  }
  check_error([&] { ops::norm(x, std::nan("")); }, {"[norm]", "NaN"});
  check_error([&] { ops::argmax(Tensor()); }, {"[argmax]", "undefined"});
  check_error([&] { ops::mean(Tensor()); }, {"[mean]", "undefined"});
  check_error([&] { ops::max_with_indices(x, 2); }, {"[argmax]", "axis 2"});
  check_close(x, {2, 3}, {0, 0, 0, 0, 0, 0}, {0});
}
