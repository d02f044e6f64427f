// nonzero, masked_select and unique.
#include "crisol/functions/select.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/skip.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::random_integers;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;
using Numbers = std::vector<std::int64_t>;

/// The expected results of unique for rows of whole numbers.
struct Groups {
  std::vector<std::vector<double>> values;
  std::vector<double> indices, inverse, counts;

  Groups(const std::vector<std::vector<double>>& rows, bool sorted) {
    std::map<std::vector<double>, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < rows.size(); ++i) places[rows[i]].push_back(i);
    std::vector<std::vector<std::size_t>> groups;
    for (const auto& [row, own] : places) groups.push_back(own);
    if (!sorted) std::sort(groups.begin(), groups.end());
    inverse.resize(rows.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      values.push_back(rows[groups[g][0]]);
      indices.push_back(static_cast<double>(groups[g][0]));
      counts.push_back(static_cast<double>(groups[g].size()));
      for (const std::size_t place : groups[g]) inverse[place] = static_cast<double>(g);
    }
  }
};

void check_groups(const UniqueResult& found, const Groups& expected) {
  const auto count = static_cast<std::int64_t>(expected.counts.size());
  check_close(found.indices, {count}, expected.indices, {0});
  check_close(found.counts, {count}, expected.counts, {0});
  check_close(found.inverse, {static_cast<std::int64_t>(expected.inverse.size())}, expected.inverse, {0});
}

}  // namespace

TEST_CASE("unique: all elements, every dtype, sorted and not") {
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean})
    for (const std::int64_t count : {1, 2, 33, 500}) {
      if (testing::slow_device() && count > 100) continue;
      CAPTURE(dtype);
      CAPTURE(count);
      const int low = dtype == DType::u8 || dtype == DType::boolean ? 0 : -5, high = dtype == DType::boolean ? 1 : 9;
      const std::vector<double> values = random_integers(1, count, low, high);
      std::vector<std::vector<double>> rows;
      for (const double value : values) rows.push_back({value});
      for (const bool sorted : {true, false}) {
        const UniqueResult found = unique(tensor_of(values, {count}, dtype), {.sorted = sorted});
        const Groups expected(rows, sorted);
        CHECK(found.values.dtype() == dtype);
        std::vector<double> wanted;
        for (const auto& row : expected.values) wanted.push_back(row[0]);
        check_close(found.values, wanted, {0});
        check_groups(found, expected);
      }
    }
}

TEST_CASE("unique: slices along each axis") {
  const Shape shape{4, 9, 2};
  const std::vector<double> x = random_integers(2, shape.numel(), 0, 1);
  const Tensor t = tensor_of(x, shape);
  for (int axis = 0; axis < 3; ++axis)
    for (const bool sorted : {true, false}) {
      CAPTURE(axis);
      std::vector<std::vector<double>> rows;
      for (std::int64_t i = 0; i < shape[axis]; ++i) rows.push_back(values_of(t.select(axis, i).contiguous()));
      const Groups expected(rows, sorted);
      const UniqueResult found = unique(t, {.sorted = sorted, .axis = axis - 3});
      check_groups(found, expected);
      REQUIRE(found.values.size(axis) == static_cast<std::int64_t>(expected.values.size()));
      for (std::size_t u = 0; u < expected.values.size(); ++u)
        CHECK(values_of(found.values.select(axis, static_cast<std::int64_t>(u)).contiguous()) == expected.values[u]);
    }
}

TEST_CASE("unique: nothing, scalars, NaN, zeros of both signs, the gradient") {
  const UniqueResult none = unique(zeros({0}));
  CHECK(none.values.shape() == Shape{0});
  CHECK(none.counts.shape() == Shape{0});
  CHECK(unique(zeros({3, 0}), {.axis = 0}).values.shape() == Shape{1, 0});
  CHECK(unique(tensor_of({7}, {})).values.shape() == Shape{1});
  const double nan = std::nan("");
  const UniqueResult odd = unique(tensor_of({nan, 1, -0.0, nan, 0, 1}, {6}));
  check_close(odd.values, {0, 1, nan, nan}, {0});
  check_close(odd.counts, {2, 2, 1, 1}, {0});
  check_close(odd.inverse, {2, 1, 0, 3, 0, 1}, {0});
  Tensor x = tensor_of({3, 1, 3}, {3}).requires_grad_();
  unique(x).values.backward(tensor_of({10, 20}, {2}));
  check_close(x.grad(), {20, 10, 0}, {0});
  check_error([] { unique(Tensor()); }, {"[unique]", "undefined"});
  check_error([] { unique(zeros({2}), {.axis = 1}); }, {"[unique]", "1"});
}

TEST_CASE("masked_select: broadcasting, the gradient, and what is refused") {
  const Tensor x = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor row = tensor_of({1, 0, 1}, {3}, DType::boolean), column = tensor_of({0, 1}, {2, 1}, DType::boolean);
  check_close(masked_select(x, row), {4}, {1, 3, 4, 6}, {0});
  check_close(masked_select(x, column), {3}, {4, 5, 6}, {0});
  check_close(masked_select(x.narrow(0, 0, 1), column), {3}, {1, 2, 3}, {0});
  CHECK(masked_select(x, zeros({3}, DType::boolean)).shape() == Shape{0});
  CHECK(nonzero(row).to_vector<std::int64_t>() == Numbers{0, 2});
  testing::check_gradients([&](const std::vector<Tensor>& in) { return masked_select(in[0], row); },
                           {tensor_of(random_values(3, 12), {4, 3})});
  check_error([&] { masked_select(x, zeros({3})); }, {"[masked_select]", "bool", "f32"});
  check_error([&] { masked_select(x, zeros({2}, DType::boolean)); }, {"[masked_select]", "(2, 3)", "(2)"});
}

}  // namespace crisol
