// sort, argsort and topk, compared with the reference.
#include "crisol/ops/sort.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "reference/indexing.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/skip.h"

namespace crisol {

namespace {

using reference::Sorted;
using reference::Values;
using testing::all_layouts;
using testing::check_close;
using testing::check_error;
using testing::for_each_variant;
using testing::Layout;
using testing::MustRun;
using testing::on_cpus;
using testing::random_integers;
using testing::random_values;
using testing::some;
using testing::tensor_of;
using testing::view_of;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void check_sorted(const SortResult& result, const Sorted& expected) {
  CHECK(result.indices.dtype() == DType::i64);
  check_close(result.values, expected.values.shape, expected.values.values, {0});
  check_close(result.indices, expected.indices.shape, expected.indices.values, {0});
}

void check_sort(const Values& x, int axis, DType dtype = DType::f32, Layout layout = Layout::contiguous) {
  for (const bool descending : {false, true}) {
    CAPTURE(descending);
    const Tensor from = view_of(x.values, x.shape, layout, dtype);
    const SortResult result = ops::sort(from, axis, descending);
    CHECK(result.values.dtype() == dtype);
    check_sorted(result, reference::sort(x, axis, descending));
  }
}

// The first k of each line.
Sorted first_of(const Sorted& all, int axis, std::int64_t k) {
  return {reference::narrow(all.values, axis, 0, k), reference::narrow(all.indices, axis, 0, k)};
}

void check_topk(const Values& x, std::int64_t k, int axis, DType dtype = DType::f32,
                Layout layout = Layout::contiguous) {
  for (const bool largest : {true, false}) {
    CAPTURE(k);
    CAPTURE(largest);
    check_sorted(ops::topk(view_of(x.values, x.shape, layout, dtype), k, axis, largest),
                 first_of(reference::sort(x, axis, largest), axis, k));
  }
}

// Many equal elements, including both zeros.
Values with_ties(std::uint64_t seed, const Shape& shape) {
  Values x{shape, random_integers(seed, shape.numel(), -4, 4)};
  for (std::size_t i = 0; i < x.values.size(); i += 3) x.values[i] = x.values[i] == 0 ? -0.0 : x.values[i];
  return x;
}

Values spread(std::uint64_t seed, const Shape& shape) { return {shape, random_values(seed, shape.numel(), -100, 100)}; }

}  // namespace

TEST_CASE("sort: every axis, odd and empty sizes, equal elements, every variant") {
  const MustRun variants("sort", {on_cpus("radix"), "merge"});
  for (const Shape& shape : {Shape{1}, Shape{2}, Shape{23}, Shape{24}, Shape{25}, Shape{100}, Shape{3, 1}, Shape{5, 7},
                             Shape{3, 33, 2}, Shape{2, 2, 64, 3}, Shape{0}, Shape{3, 0}, Shape{0, 3}})
    for (int axis = -1; axis < shape.rank(); ++axis) {
      CAPTURE(shape);
      CAPTURE(axis);
      const int at = axis < 0 ? shape.rank() - 1 : axis;
      for_each_variant(variants, [&] {
        check_sort(with_ties(1, shape), at);
        check_sort(spread(2, shape), at);
      });
    }
  const SortResult scalar = ops::sort(full({}, 3));
  CHECK(scalar.values.shape() == Shape{});
  check_close(scalar.indices, {0}, {0});
}

TEST_CASE("sort and topk: NaN comes last, zeros are equal, every special value") {
  const MustRun sorts("sort", {on_cpus("radix"), "merge"});
  const MustRun topks("topk", {on_cpus("select"), "group_select", "sort"});
  const Values x{{16},
                 {nan, 1, -inf, 0, -0.0, inf, nan, -1, 1e-45f, -1e-45f, 3.4028234663852886e38, -3.4028234663852886e38,
                  0, -0.0, inf, -inf}};
  for_each_variant(sorts, [&] { check_sort(x, 0); });
  for_each_variant(topks, [&] {
    for (const std::int64_t k : {1, 2, 3, 7, 16}) check_topk(x, k, 0);
  });
  // The signs of zeros and the bits of NaN are kept.
  const std::vector<float> values = ops::sort(tensor_of({0, -0.0, 0, -0.0}, {4}), 0, true).values.to_vector<float>();
  CHECK_FALSE(std::signbit(values[0]));
  CHECK(std::signbit(values[1]));
}

TEST_CASE("sort and topk: every dtype and layout") {
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean}) {
    CAPTURE(name_of(dtype));
    const bool is_unsigned = dtype == DType::u8 || dtype == DType::boolean;
    const Values x{{3, 40, 2}, random_integers(3, 240, is_unsigned ? 0 : -9, dtype == DType::boolean ? 1 : 9)};
    for (const Layout layout : all_layouts) {
      CAPTURE(testing::name_of(layout));
      if (testing::slow_device() && dtype != DType::f32 && layout != Layout::permuted) continue;
      for (const int axis : {0, 1, 2}) {
        check_sort(x, axis, dtype, layout);
        check_topk(x, 2, axis, dtype, layout);
      }
    }
  }
}

TEST_CASE("sort: the whole range of 64-bit integers") {
  using Limits = std::numeric_limits<std::int64_t>;
  const std::vector<std::int64_t> x{5,
                                    Limits::max(),
                                    -1,
                                    Limits::min(),
                                    std::int64_t{1} << 32,
                                    5,
                                    -(std::int64_t{1} << 32),
                                    0,
                                    Limits::max() - 1,
                                    4294967295,
                                    -4294967296,
                                    1};
  std::vector<std::int64_t> sorted = x;
  std::stable_sort(sorted.begin(), sorted.end());
  for_each_variant(MustRun("sort", {on_cpus("radix"), "merge"}), [&] {
    const SortResult up = ops::sort(from_vector(x)), down = ops::sort(from_vector(x), 0, true);
    CHECK(up.values.to_vector<std::int64_t>() == sorted);
    CHECK(down.values.to_vector<std::int64_t>() == std::vector<std::int64_t>(sorted.rbegin(), sorted.rend()));
    const std::vector<std::int64_t> where = up.indices.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[static_cast<std::size_t>(where[i])] == sorted[i]);
    CHECK(where[static_cast<std::size_t>(std::find(sorted.begin(), sorted.end(), 5) - sorted.begin())] == 0);
  });
  const SortResult top = ops::topk(from_vector(x), 2);
  CHECK(top.indices.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 8});
}

TEST_CASE("sort: rows of several runs, sorted and reversed ones") {
  const MustRun variants("sort", {on_cpus("radix"), "merge"});
  const bool slow = testing::slow_device();
  for (const std::int64_t n : {slow ? 1100 : 3001, slow ? 2048 : 40000}) {
    Values x{{2, n}, random_integers(4, 2 * n, -1000, 1000)};
    for (std::int64_t i = 0; i < n; ++i)
      x.values[static_cast<std::size_t>(n + i)] = static_cast<double>(i % 2 == 0 ? -i : i);
    CAPTURE(n);
    for_each_variant(variants, [&] { check_sort(x, 1); });
  }
  if (slow) return;
  const std::int64_t n = 300007;
  Values x{{n}, random_values(5, n)};
  const Sorted expected = reference::sort(x, 0, false);
  for_each_variant(variants, [&] { check_sorted(ops::sort(tensor_of(x.values, x.shape)), expected); });
}

TEST_CASE("topk: every variant, few and all elements, equal keys, long rows") {
  const MustRun variants("topk", {on_cpus("select", 1'000'000), some(16, "group_select"), "sort"});
  const bool slow = testing::slow_device();
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 7}, Shape{2, 100}, Shape{slow ? 1 : 3, 300}})
    for (const std::int64_t k : {std::int64_t{1}, std::int64_t{5}, std::int64_t{50}, std::int64_t{150}, shape.back()}) {
      if (k > shape.back() || (slow && k > 50)) continue;
      CAPTURE(shape);
      for_each_variant(variants, [&] {
        check_topk(with_ties(6, shape), k, 1);
        if (slow) return;
        check_topk(spread(7, shape), k, 1);
        check_topk({shape, std::vector<double>(static_cast<std::size_t>(shape.numel()), 2)}, k, 1);
      });
    }
  for (const std::int64_t k : {0, 3}) {
    check_topk(spread(8, {4, 9, 5}), k, 1);
    check_topk(spread(8, {4, 9, 5}), k, 0);
  }
  CHECK(ops::topk(zeros({0, 5}), 2).values.shape() == Shape{0, 2});
  CHECK(ops::topk(zeros({3, 0}), 0).indices.shape() == Shape{3, 0});
  // Above 128, k needs a larger tile of local memory. Above 1024, it uses no tile.
  for (const std::int64_t k : {40, 1024, 2000}) {
    if (slow && k > 40) continue;
    for_each_variant(variants, [&] { check_topk(spread(9, {2, slow ? 400 : 50000}), k, 1); });
  }
  if (slow) for_each_variant(MustRun("topk", {"group_select"}), [&] { check_topk(spread(10, {1, 200}), 130, 1); });
}

TEST_CASE("sort and topk refuse what does not fit") {
  const Tensor x = tensor_of({3, 1, 2}, {3});
  check_error([&] { ops::sort(Tensor()); }, {"[sort]", "undefined"});
  check_error([&] { ops::sort(x, 1); }, {"[sort]", "axis 1", "rank 1"});
  check_error([&] { ops::topk(x, 4); }, {"[topk]", "k is 4", "(3)", "3 elements"});
  check_error([&] { ops::topk(x, -1); }, {"[topk]", "k is -1"});
  check_error([&] { ops::topk(x, 1, -2); }, {"[topk]", "axis -2"});
  // 2^32 elements that share one place in storage.
  check_error([&] { ops::sort(ops::expand(ones({1}), {std::int64_t{1} << 32})); }, {"[sort]", "2^32"});
  check_close(x, {3, 1, 2}, {0});
}

}  // namespace crisol
