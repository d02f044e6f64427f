// scatter, scatter_reduce, index_copy, index_reduce and nonzero, compared with the reference.
#include <algorithm>
#include <cmath>
#include <limits>

#include "crisol/ops/copy.h"
#include "crisol/ops/index.h"
#include "doctest/doctest.h"
#include "reference/indexing.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/skip.h"

namespace crisol {

namespace {

using reference::Values;
using testing::all_layouts;
using testing::check_close;
using testing::check_error;
using testing::for_each_variant;
using testing::Layout;
using testing::MustRun;
using testing::random_integers;
using testing::tensor_of;
using testing::values_of;
using testing::view_of;

using Reduction = std::optional<ScatterReduction>;
constexpr Reduction replace = std::nullopt, prod = ScatterReduction::prod, amax = ScatterReduction::amax,
                    amin = ScatterReduction::amin;

Tensor tensor(const Values& x, DType dtype = DType::f32, Layout layout = Layout::contiguous) {
  return view_of(x.values, x.shape, layout, dtype);
}

// The product of several of these numbers fits into every dtype.
Values some(std::uint64_t seed, const Shape& shape, int least = -2, int most = 2) {
  return {shape, random_integers(seed, shape.numel(), least, most)};
}

// Positions from one before the axis to one after it.
Values positions(std::uint64_t seed, const Shape& shape, std::int64_t size) {
  return {shape, random_integers(seed, shape.numel(), -1, static_cast<int>(size))};
}

Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& src, Reduction how) {
  return how ? ops::scatter_reduce(x, axis, index, src, *how) : ops::scatter(x, axis, index, src);
}

Tensor scatter_slices(const Tensor& x, int axis, const Tensor& index, const Tensor& src, Reduction how) {
  return how ? ops::index_reduce(x, axis, index, src, *how) : ops::index_copy(x, axis, index, src);
}

bool has_wrong(const Values& index, std::int64_t size) {
  return std::any_of(index.values.begin(), index.values.end(),
                     [&](double i) { return i < 0 || i >= static_cast<double>(size); });
}

}  // namespace

TEST_CASE("scatter and scatter_reduce: every axis, repeated and wrong indices, smaller indices, every variant") {
  // GPUs take "owner" for up to 64 positions. The last case has none.
  const MustRun replaces("scatter", {testing::all_on_cpus("owner", 4), "sorted", "any_owner"});
  const MustRun reduces("scatter_reduce", {testing::all_on_cpus("owner", 12), "sorted", "any_owner"});
  struct Case {
    Shape x;
    int axis;
    Shape index;
  };
  for (const Case& c : {Case{{7}, 0, {90}}, Case{{3, 5}, 0, {4, 5}}, Case{{3, 5}, 1, {3, 40}},
                        Case{{2, 3, 37}, 1, {2, 5, 37}}, Case{{4, 3, 5}, 0, {6, 2, 4}}, Case{{3, 4}, 0, {0, 4}}}) {
    CAPTURE(c.x);
    CAPTURE(c.axis);
    CAPTURE(c.index);
    const Values x = some(1, c.x), index = positions(2, c.index, c.x[c.axis]);
    Shape larger = c.index;
    for (int i = 0; i < larger.rank(); ++i) larger[i] += 2;
    const Values src = some(3, larger);
    for (const Reduction how : {replace, prod, amax, amin}) {
      const Values expected = reference::scatter(x, c.axis, index, src, how);
      for_each_variant(how ? reduces : replaces, [&] {
        const Tensor y = scatter(tensor(x), c.axis, tensor(index, DType::i64), tensor(src), how);
        if (has_wrong(index, c.x[c.axis])) testing::check_wrong_index(y);
        check_close(y, c.x, expected.values, {0});
      });
    }
  }
}

TEST_CASE("index_copy and index_reduce: every axis, repeated and wrong indices, wide slices, every variant") {
  // GPUs take "owner" for up to 64 positions. The last case has none.
  const MustRun copies("index_copy", {testing::all_on_cpus("owner", 4), "sorted", "any_owner"});
  const MustRun reduces("index_reduce", {testing::all_on_cpus("owner", 12), "sorted", "any_owner"});
  struct Case {
    Shape x;
    int axis;
    std::int64_t picked;
  };
  for (const Case& c : {Case{{7}, 0, 70}, Case{{5, 37}, 0, 9}, Case{{2, 300}, 0, 9}, Case{{3, 6, 9}, 1, 20},
                        Case{{3, 6, 9}, 2, 13}, Case{{2, 4, 40}, 1, 0}}) {
    CAPTURE(c.x);
    CAPTURE(c.axis);
    Shape shape = c.x;
    shape[c.axis] = c.picked;
    const Values x = some(4, c.x), src = some(6, shape), index = positions(5, {c.picked}, c.x[c.axis]);
    for (const Reduction how : {replace, prod, amax, amin}) {
      const Values expected = reference::scatter_slices(x, c.axis, index.values, src, how);
      for_each_variant(how ? reduces : copies, [&] {
        const Tensor y = scatter_slices(tensor(x), c.axis, tensor(index, DType::i64), tensor(src), how);
        if (has_wrong(index, c.x[c.axis])) testing::check_wrong_index(y);
        check_close(y, c.x, expected.values, {0});
      });
    }
  }
}

TEST_CASE("scattering: every dtype and layout; the input stays as it is") {
  const Values index = positions(7, {3, 6, 5}, 4), row = positions(8, {6}, 4);
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean})
    for (const Layout layout : all_layouts) {
      if (testing::slow_device() && dtype != DType::f32 && layout != Layout::contiguous) continue;
      CAPTURE(dtype);
      CAPTURE(testing::name_of(layout));
      const int most = dtype == DType::boolean ? 1 : 3;
      const Values x = some(9, {3, 4, 5}, 0, most), src = some(10, {3, 6, 5}, 0, most);
      const Tensor to = tensor(x, dtype, layout), from = tensor(src, dtype, layout);
      const Tensor at = tensor(index, DType::i64, layout), slices = tensor(row, DType::i32, layout);
      for (const Reduction how : {replace, prod, amax, amin}) {
        if (dtype == DType::boolean && how) continue;
        const Tensor y = scatter(to, 1, at, from, how);
        CHECK(y.dtype() == dtype);
        if (has_wrong(index, 4)) testing::check_wrong_index(y);
        check_close(y, x.shape, reference::scatter(x, 1, index, src, how).values, {0});
        const Tensor of_slices = scatter_slices(to, 1, slices, from, how);
        if (has_wrong(row, 4)) testing::check_wrong_index(of_slices);
        check_close(of_slices, x.shape, reference::scatter_slices(x, 1, row.values, src, how).values, {0});
      }
      CHECK(values_of(to) == x.values);
    }
  // 8-bit products wrap. NaN wins. The lowest bits of large whole numbers are kept.
  const Tensor zero = zeros({2}, DType::i64);
  const double nan = std::nan("");
  check_close(ops::index_reduce(tensor_of({100}, {1}, DType::u8), 0, zero, full({2}, 3, DType::u8), *prod), {132}, {0});
  for (const Reduction how : {amax, amin}) {
    check_close(ops::index_reduce(tensor_of({1}, {1}), 0, zero, tensor_of({nan, 2}, {2}), *how), {nan}, {0});
    check_close(ops::index_reduce(tensor_of({1}, {1}), 0, zero, tensor_of({2, nan}, {2}), *how), {nan}, {0});
  }
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  CHECK(ops::index_copy(zeros({1}, DType::i64), 0, zero.narrow(0, 0, 1), from_vector<std::int64_t>({large}))
            .item<std::int64_t>() == large);
}

TEST_CASE("scattering refuses what does not fit") {
  const Tensor x = zeros({3, 4}), index = zeros({3, 4}, DType::i64), row = zeros({2}, DType::i64);
  check_error([&] { ops::scatter(x, 0, row, x); }, {"[scatter]", "(2)", "(3, 4)", "ranks"});
  check_error([&] { ops::scatter(x, 2, index, x); }, {"[scatter]", "2"});
  check_error([&] { ops::scatter(x, 0, index, zeros({2, 4})); }, {"[scatter]", "(2, 4)", "axis 0"});
  check_error([&] { ops::scatter(x, 0, index, zeros({3, 4}, DType::f16)); }, {"[scatter]", "f32", "f16"});
  check_error([&] { ops::scatter_reduce(x, 0, zeros({3, 4}), x, *amax); }, {"[scatter_reduce]", "i64", "f32"});
  const Tensor mask = zeros({3, 4}, DType::boolean);
  check_error([&] { ops::scatter_reduce(mask, 0, index, mask, *amin); }, {"[scatter_reduce]", "bool"});
  check_error([&] { ops::index_copy(x, 0, row, zeros({3, 4})); }, {"[index_copy]", "(2, 4)", "(3, 4)"});
  check_error([&] { ops::index_reduce(x, 1, index, x, *prod); }, {"[index_reduce]", "rank 1", "(3, 4)"});
}

TEST_CASE("nonzero: every dtype and layout, no element, scalars, many elements") {
  for (const Shape& shape : {Shape{7}, Shape{3, 5}, Shape{2, 3, 4}, Shape{2, 1, 2, 1, 2, 1, 2, 3}, Shape{0, 3}}) {
    CAPTURE(shape);
    const Values x = some(11, shape, 0, 1), expected = reference::nonzero(x);
    for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean})
      for (const Layout layout : all_layouts)
        check_close(ops::nonzero(tensor(x, dtype, layout)), expected.shape, expected.values, {0});
  }
  CHECK(ops::nonzero(zeros({4, 5})).shape() == Shape{0, 2});
  CHECK(ops::nonzero(tensor_of({3}, {})).shape() == Shape{1, 0});
  CHECK(ops::nonzero(tensor_of({0}, {})).shape() == Shape{0, 0});
  check_close(ops::nonzero(tensor_of({0, std::nan(""), -0.0, -1}, {4})), {2, 1}, {1, 3}, {0});
  const Values many = some(12, testing::slow_device() ? Shape{300} : Shape{400, 301}, 0, 1);
  check_close(ops::nonzero(tensor(many)), reference::nonzero(many).values, {0});
  check_error([] { ops::nonzero(Tensor()); }, {"[nonzero]", "undefined"});
}

}  // namespace crisol
