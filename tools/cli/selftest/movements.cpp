// Ops that move elements: copies and casts, cat, pad, indexing, sorting.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "cli/selftest/check.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/elementwise.h"
#include "crisol/ops/cat.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/index.h"
#include "crisol/ops/pad.h"
#include "crisol/ops/sort.h"
#include "crisol/ops/triangle.h"
#include "crisol/ops/view.h"
#include "reference/cat.h"
#include "reference/indexing.h"
#include "reference/whole.h"

namespace crisol::cli::selftest {

namespace {

using reference::random_integers;
using reference::random_values;
using reference::Values;

Values random_of(std::uint64_t seed, const Shape& shape) { return {shape, random_values(seed, shape.numel())}; }

Values picks_of(std::uint64_t seed, const Shape& shape, std::int64_t size) {
  return {shape, random_integers(seed, shape.numel(), 0, size - 1)};
}

Tensor tensor(const Values& v, DType dtype = DType::f32) { return tensor_of(v.values, v.shape, dtype); }

void check_equal(Check& check, const Tensor& actual, const Values& expected) {
  check.equal(actual, expected.shape, expected.values);
}

void check_casts(Check& check) {
  const std::int64_t n = 517;
  for (const DType from : computed_dtypes())
    for (const DType to : computed_dtypes()) {
      const bool binary = from == DType::boolean || to == DType::boolean;
      const auto values = random_integers(1, n, 0, binary ? 1 : 100);  // Every dtype can hold these values.
      check.equal(ops::cast(tensor_of(values, {n}, from), to), {n}, values);
    }
}

void check_copies(Check& check) {
  for (const DType dtype : all_dtypes) {
    const auto values = random_integers(2, 6 * 35 * 40, 0, 1);
    const Values x{{6, 35, 40}, values};
    std::vector<double> transposed;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t k = 0; k < 40; ++k)
        for (std::size_t j = 0; j < 35; ++j) transposed.push_back(values[(i * 35 + j) * 40 + k]);
    check.equal(ops::contiguous(ops::transpose(tensor(x, dtype), 1, 2)), {6, 40, 35}, transposed);
    check.equal(full({517}, 1, dtype), {517}, std::vector<double>(517, 1));
  }
}

/// Halves are converted to f32, computed, and rounded once; whole numbers are exact.
void check_dtypes(Check& check) {
  const std::int64_t n = 517;
  const auto a = random_integers(3, n, 1, 11), b = random_integers(4, n, 1, 11);  // i8 holds the products.
  std::vector<double> sums, products;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sums.push_back(a[i] + b[i]);
    products.push_back(a[i] * b[i]);
  }
  for (const DType dtype : computed_dtypes()) {
    if (kind_of(dtype) == DTypeKind::boolean) continue;
    const Tensor x = tensor_of(a, {n}, dtype), y = tensor_of(b, {n}, dtype);
    check.equal(x + y, {n}, sums);
    check.equal(x * y, {n}, products);
  }
  std::vector<double> roots;
  roots.reserve(a.size());
  for (const double value : a) roots.push_back(std::sqrt(value));
  check.close(sqrt(tensor_of(a, {n}, DType::f16)), {n}, roots, {1});
}

void check_cat(Check& check) {
  const std::vector<Values> parts{random_of(5, {3, 4, 5}), random_of(6, {3, 1, 5}), random_of(7, {3, 33, 5})};
  check_equal(check, ops::cat({tensor(parts[0]), tensor(parts[1]), tensor(parts[2])}, 1), reference::cat(parts, 1));
  const std::vector<Values> same{random_of(8, {7, 9}), random_of(9, {7, 9})};
  for (int axis = 0; axis < 3; ++axis)
    check_equal(check, ops::stack({tensor(same[0]), tensor(same[1])}, axis), reference::stack(same, axis));
}

void check_pad(Check& check) {
  const Values x = random_of(10, {3, 5, 7});
  const std::vector<AxisPadding> paddings{{0, 0}, {2, 1}, {0, 4}};
  check_equal(check, ops::pad(tensor(x), paddings, 0.5), reference::pad(x, paddings, 0.5));
}

void check_triangle(Check& check) {
  const Values x = random_of(11, {2, 17, 21});
  for (const std::int64_t diagonal : {-3, 0, 5}) {
    check_equal(check, ops::tril(tensor(x), diagonal), reference::triangle(x, diagonal, false));
    check_equal(check, ops::triu(tensor(x), diagonal), reference::triangle(x, diagonal, true));
  }
}

// A problem whose positions are those of whole slices, or of elements.
std::string indexed(const char* op, bool slices, int kind = 0) {
  return concat(op, " outer=6 size=19 inner=7 picked=", slices ? 55 : 40, " slices=", slices ? 1 : 0, " kind=", kind,
                " dtype=", static_cast<int>(DType::f32));
}

void check_gather(Check& check) {
  check.rerun(indexed("gather", false));
  check.rerun(indexed("index_select", true));
  const Values table = random_of(15, {30, 16}), words = picks_of(16, {21}, 30);
  check_equal(check, ops::embedding(tensor(table), tensor(words, DType::i64)),
              reference::index_select(table, 0, words.values));
}

void check_scatter(Check& check) {
  check.rerun(indexed("scatter", false));
  check.rerun(indexed("index_copy", true));
  for (const ScatterReduction how : {ScatterReduction::prod, ScatterReduction::amax, ScatterReduction::amin}) {
    check.rerun(indexed("scatter_reduce", false, static_cast<int>(how)));
    check.rerun(indexed("index_reduce", true, static_cast<int>(how)));
  }
}

void check_nonzero(Check& check) {
  const Values x{{13, 7, 5}, random_integers(29, 13 * 7 * 5, 0, 1)};
  for (const DType dtype : computed_dtypes()) check_equal(check, ops::nonzero(tensor(x, dtype)), reference::nonzero(x));
}

void check_whole(Check& check) {
  const std::int64_t n = 517;
  const std::vector<double> b = random_integers(31, n, 0, 12);
  const std::vector<std::int64_t> y(b.begin(), b.end());
  for (const reference::WholeFunction& f : reference::whole_functions())
    for (const DType dtype : all_dtypes) {
      if (!is_whole(dtype)) continue;
      const std::vector<double> a = random_integers(30, n, 0, dtype_row(dtype).digits < 8 ? 127 : 255);
      const std::vector<std::int64_t> x(a.begin(), a.end());
      std::vector<double> expected;
      for (const std::int64_t bits : f.expected(x, y, dtype))
        expected.push_back(dtype == DType::u64 ? static_cast<double>(static_cast<std::uint64_t>(bits))
                                               : static_cast<double>(bits));
      check.equal(f.call(tensor_of(a, {n}, dtype), tensor_of(b, {n}, dtype)), {n}, expected);
    }
}

void check_one_hot(Check& check) {
  const Values index = picks_of(22, {3, 11}, 9);
  check_equal(check, ops::one_hot(tensor(index, DType::i64), 9), reference::one_hot(index, 9));
}

void check_sort(Check& check) {
  for (const Shape& shape : {Shape{3, 10}, Shape{2, 300}, Shape{1, 5000}}) {
    const Values x{shape, random_integers(23, shape.numel(), -50, 50)};  // Equal values must stay in order.
    for (const bool descending : {false, true}) {
      const reference::Sorted expected = reference::sort(x, 1, descending);
      const auto got = ops::sort(tensor(x), 1, descending);
      check_equal(check, got.values, expected.values);
      check_equal(check, got.indices, expected.indices);
    }
    const std::int64_t k = 7;
    const reference::Sorted expected = reference::sort(x, 1, true);
    std::vector<double> first;
    for (std::int64_t row = 0; row < shape[0]; ++row)
      for (std::int64_t i = 0; i < k; ++i)
        first.push_back(expected.values.values[static_cast<std::size_t>(row * shape[1] + i)]);
    check.equal(ops::topk(tensor(x), k, 1).values, {shape[0], k}, first);
  }
}

}  // namespace

std::vector<Op> movements() {
  return {{"cast", check_casts},
          {"copy_fill", check_copies},
          {"dtypes", check_dtypes},
          {"cat_stack", check_cat},
          {"pad", check_pad},
          {"tril_triu", check_triangle},
          {"gather", check_gather},
          from_problems("scatter_add", {indexed("scatter_add", false), indexed("index_add", true)}),
          {"scatter", check_scatter},
          {"nonzero", check_nonzero},
          {"one_hot", check_one_hot},
          {"sort_topk", check_sort},
          {"bitwise", check_whole}};
}

}  // namespace crisol::cli::selftest
