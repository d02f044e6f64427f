// gather, index_select, scatter_add, index_add, embedding and one_hot, compared with the reference.
#include "crisol/ops/index.h"

#include <cmath>
#include <limits>

#include "crisol/functions/compare.h"
#include "crisol/ops/copy.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "reference/indexing.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

namespace crisol {

namespace {

using reference::Values;
using testing::all_layouts;
using testing::check_close;
using testing::check_error;
using testing::check_wrong_index;
using testing::for_each_variant;
using testing::Layout;
using testing::MustRun;
using testing::on_cpus;
using testing::random_integers;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;
using testing::view_of;

constexpr DType all_dtypes[] = {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean};
constexpr DType sum_dtypes[] = {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8};

// Whole numbers. Every dtype holds them and their sums in these tests.
Values some(std::uint64_t seed, const Shape& shape, std::int64_t most = 9) {
  return {shape, random_integers(seed, shape.numel(), 0, most)};
}

Values indices(std::uint64_t seed, const Shape& shape, std::int64_t size) {
  return {shape, random_integers(seed, shape.numel(), 0, size - 1)};
}

Tensor tensor_of_values(const Values& x, DType dtype = DType::f32, Layout layout = Layout::contiguous) {
  return view_of(x.values, x.shape, layout, dtype);
}

struct Case {
  Shape x;
  int axis;
  Shape index;
};

// Every axis, odd sizes, sizes of 1 and 0. There are fewer or more indices than elements, or fewer along other axes.
const std::vector<Case>& cases() {
  static const std::vector<Case> list{{{7}, 0, {11}},
                                      {{1}, 0, {3}},
                                      {{3, 5}, 0, {4, 5}},
                                      {{3, 5}, 1, {3, 9}},
                                      {{2, 3, 37}, 1, {2, 5, 37}},
                                      {{2, 37, 3}, 1, {2, 20, 3}},
                                      {{2, 3, 5}, 2, {1, 2, 8}},
                                      {{4, 3, 5}, 0, {6, 2, 4}},
                                      {{2, 3, 1, 5}, 1, {2, 4, 1, 3}},
                                      {{3, 4}, 0, {0, 4}},
                                      {{0, 4}, 1, {0, 4}},
                                      {{3, 4}, 1, {0, 2}},
                                      {{0, 4}, 0, {0, 4}}};
  return list;
}

}  // namespace

TEST_CASE("gather: every axis, odd and empty sizes, smaller indices, every variant") {
  const MustRun variants("gather", {on_cpus("runs"), "elements"});
  for (const Case& c : cases()) {
    CAPTURE(c.x);
    CAPTURE(c.axis);
    CAPTURE(c.index);
    const Values x = some(1, c.x, 100), index = indices(2, c.index, std::max<std::int64_t>(1, c.x[c.axis]));
    const Values expected = reference::gather(x, c.axis, index);
    for (const DType dtype : {DType::i64, DType::i32})
      for_each_variant(variants, [&] {
        const Tensor picks = tensor_of_values(index, dtype);
        check_close(ops::gather(tensor_of_values(x), c.axis, picks), c.index, expected.values, {0});
        check_close(ops::gather(tensor_of_values(x), c.axis - c.x.rank(), picks), c.index, expected.values, {0});
      });
  }
}

TEST_CASE("gather and index_select: every dtype and layout") {
  const Values x = some(3, {3, 4, 5}, 1), index = indices(4, {3, 6, 5}, 4), row = indices(5, {6}, 4);
  const Values gathered = reference::gather(x, 1, index), selected = reference::index_select(x, 1, row.values);
  for (const DType dtype : all_dtypes)
    for (const Layout layout : all_layouts) {
      CAPTURE(name_of(dtype));
      CAPTURE(testing::name_of(layout));
      const Tensor from = tensor_of_values(x, dtype, layout);
      const Tensor y = ops::gather(from, 1, tensor_of_values(index, DType::i64, layout));
      CHECK(y.dtype() == dtype);
      check_close(y, gathered.shape, gathered.values, {0});
      const Tensor z = ops::index_select(from, 1, tensor_of_values(row, DType::i32, layout));
      CHECK(z.dtype() == dtype);
      check_close(z, selected.shape, selected.values, {0});
    }
}

TEST_CASE("index_select: every axis, odd and empty sizes, every variant") {
  const MustRun variants("index_select", {testing::some(4, on_cpus("rows")), on_cpus("runs"), "elements"});
  const std::vector<Case> list{{{7}, 0, {11}},       {{5, 1}, 0, {9}},    {{5, 3}, 0, {9}},    {{5, 16}, 0, {9}},
                               {{5, 33}, 0, {9}},    {{5, 70}, 0, {1}},   {{3, 6, 9}, 1, {4}}, {{3, 6, 9}, 2, {20}},
                               {{2, 4, 40}, 1, {0}}, {{0, 4, 5}, 1, {3}}, {{3, 2, 0}, 1, {3}}};
  for (const Case& c : list) {
    CAPTURE(c.x);
    CAPTURE(c.axis);
    const Values x = some(6, c.x, 100), index = indices(7, c.index, c.x[c.axis]);
    const Values expected = reference::index_select(x, c.axis, index.values);
    for_each_variant(variants, [&] {
      check_close(ops::index_select(tensor_of_values(x), c.axis, tensor_of_values(index, DType::i64)), expected.shape,
                  expected.values, {0});
    });
  }
  check_close(ops::index_select(tensor_of({1, 2, 3}, {3}), 0, tensor_of({2}, {}, DType::i64)), {1}, {3}, {0});
}

TEST_CASE("picking outside the axis gives the dtype's mark and reads nothing") {
  const MustRun gathers("gather", {on_cpus("runs"), "elements"});
  const MustRun selects("index_select", {on_cpus("rows"), on_cpus("runs"), "elements"});
  const std::vector<double> wrong{-1, 3, 2, -9.3e18, 9.2e18, 0};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  struct Mark {
    DType dtype;
    double value;
  };
  for (const Mark& mark : {Mark{DType::f32, nan}, Mark{DType::f16, nan}, Mark{DType::i32, -0x1p31},
                           Mark{DType::i64, -0x1p63}, Mark{DType::u8, 255}, Mark{DType::boolean, 1}}) {
    CAPTURE(name_of(mark.dtype));
    const Tensor x = tensor_of({1, 0, 1}, {3}, mark.dtype);
    const std::vector<double> expected{mark.value, mark.value, 1, mark.value, mark.value, 1};
    std::vector<std::int64_t> values;
    for (const double index : wrong) values.push_back(static_cast<std::int64_t>(index));
    values[3] = std::numeric_limits<std::int64_t>::min();
    values[4] = std::numeric_limits<std::int64_t>::max();
    const Tensor index = from_vector(values);
    for_each_variant(gathers, [&] {
      const Tensor y = ops::gather(x, 0, index);
      check_wrong_index(y, {"[gather]", "index ", "is not in [0, 3)"});
      check_close(y, expected, {0});
    });
    const Tensor table = tensor_of({1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1}, {3, 5}, mark.dtype);
    for_each_variant(selects, [&] {
      const Tensor y = ops::index_select(table, 0, index);
      check_wrong_index(y, {"[index_select]", "index ", "is not in [0, 3)"});
      const std::vector<double> rows = values_of(y);
      for (std::size_t i = 0; i < 5; ++i) {
        CHECK((rows[i] == mark.value || (std::isnan(mark.value) && std::isnan(rows[i]))));
        CHECK(rows[10 + i] == values_of(table)[10 + i]);
      }
    });
  }
}

TEST_CASE("scatter_add: every axis, repeated indices, smaller indices, every variant") {
  const MustRun variants("scatter_add", {"owner", "sorted", "any_owner"});
  for (const Case& c : cases()) {
    CAPTURE(c.x);
    CAPTURE(c.axis);
    CAPTURE(c.index);
    const Values x = some(8, c.x), index = indices(9, c.index, std::max<std::int64_t>(1, c.x[c.axis]));
    Shape larger = c.index;
    for (int i = 0; i < larger.rank(); ++i) larger[i] += 2;
    for (const Shape& shape : {c.index, larger}) {
      const Values src = some(10, shape);
      const Values expected = reference::scatter_add(x, c.axis, index, src);
      for_each_variant(variants, [&] {
        check_close(
            ops::scatter_add(tensor_of_values(x), c.axis, tensor_of_values(index, DType::i64), tensor_of_values(src)),
            c.x, expected.values, {0});
      });
    }
  }
}

TEST_CASE("index_add: every axis, repeated indices, long segments, every variant") {
  // GPUs take "owner" for few positions or many columns.
  const MustRun variants("index_add", {testing::all_on_cpus("owner", 3), "sorted", "any_owner"});
  const std::vector<Case> list{{{7}, 0, {110}},    {{1}, 0, {100}},      {{5, 1}, 0, {200}},   {{5, 37}, 0, {90}},
                               {{2, 300}, 0, {9}}, {{3, 6, 9}, 1, {40}}, {{3, 6, 9}, 2, {20}}, {{2, 4, 40}, 1, {0}},
                               {{0, 4}, 1, {3}},   {{300, 2}, 0, {70}}};
  for (const Case& c : list) {
    CAPTURE(c.x);
    CAPTURE(c.axis);
    Shape shape = c.x;
    shape[c.axis] = c.index[0];
    const Values x = some(11, c.x), index = indices(12, c.index, c.x[c.axis]), src = some(13, shape);
    const Values expected = reference::index_add(x, c.axis, index.values, src);
    for_each_variant(variants, [&] {
      check_close(
          ops::index_add(tensor_of_values(x), c.axis, tensor_of_values(index, DType::i64), tensor_of_values(src)), c.x,
          expected.values, {0});
    });
  }
}

TEST_CASE("adding by index: every dtype and layout, wrong indices left out") {
  const MustRun scatters("scatter_add", {"owner", "sorted"}), adds("index_add", {"owner", "sorted"});
  const Values x = some(14, {3, 4, 5}), src = some(15, {3, 6, 5});
  Values index = indices(16, {3, 6, 5}, 4), row = indices(17, {6}, 4);
  index.values[3] = row.values[2] = -1;
  index.values[8] = row.values[4] = 4;
  const Values scattered = reference::scatter_add(x, 1, index, src);
  const Values added = reference::index_add(x, 1, row.values, src);
  for (const DType dtype : sum_dtypes)
    for (const Layout layout : all_layouts) {
      if (testing::slow_device() && dtype != DType::f32 && layout != Layout::contiguous) continue;
      CAPTURE(name_of(dtype));
      CAPTURE(testing::name_of(layout));
      const Tensor to = tensor_of_values(x, dtype, layout), more = tensor_of_values(src, dtype, layout);
      const std::vector<double> before = values_of(to);
      for_each_variant(scatters, [&] {
        const Tensor y = ops::scatter_add(to, 1, tensor_of_values(index, DType::i64, layout), more);
        CHECK(y.dtype() == dtype);
        check_wrong_index(y, {"[scatter_add]", "is not in [0, 4)"});
        check_close(y, x.shape, scattered.values, {0});
      });
      for_each_variant(adds, [&] {
        const Tensor z = ops::index_add(to, 1, tensor_of_values(row, DType::i32, layout), more);
        CHECK(z.dtype() == dtype);
        check_wrong_index(z, {"[index_add]", "is not in [0, 4)"});
        check_close(z, x.shape, added.values, {0});
      });
      CHECK(values_of(to) == before);
    }
  // 8-bit sums wrap. Halves are added in f32: in f16, adding 1 to 2048 one by one would stay at 2048.
  const Tensor zero = zeros({200}, DType::i64);
  check_close(ops::index_add(tensor_of({100}, {1}, DType::u8), 0, zero, ones({200}, DType::u8)), {44}, {0});
  check_close(ops::index_add(tensor_of({2048}, {1}, DType::f16), 0, zero, ones({200}, DType::f16)), {2248}, {0});
}

TEST_CASE("adding by index gives the same bits every time, whatever repeats") {
  const std::int64_t size = 50, rows = testing::slow_device() ? 200 : 5000, width = 3;
  // Many indices pick the same few elements, and the sum of the values depends on their order.
  std::vector<double> index = random_integers(18, rows, 0, size - 1);
  for (std::size_t i = 0; i < index.size(); i += 3) index[i] = 7;
  std::vector<double> values = random_values(19, rows * width);
  for (std::size_t i = 0; i < values.size(); i += 5) values[i] *= 1000;
  const Tensor picks = tensor_of(index, {rows}, DType::i64), src = tensor_of(values, {rows, width});
  const Values expected = reference::index_add(
      {{size, width}, std::vector<double>(static_cast<std::size_t>(size * width))}, 0, index, {{rows, width}, values});
  // A GPU does not share out three columns.
  for_each_variant(MustRun("index_add", {on_cpus("owner"), "sorted", "any_owner"}), [&] {
    const std::vector<float> first = ops::index_add(zeros({size, width}), 0, picks, src).to_vector<float>();
    for (int i = 0; i < 3; ++i) CHECK(ops::index_add(zeros({size, width}), 0, picks, src).to_vector<float>() == first);
    // Sums of up to `rows` numbers below 1000, added one after another.
    check_close(ops::index_add(zeros({size, width}), 0, picks, src), expected.values,
                {std::sqrt(static_cast<double>(rows)), 1e5});
  });
}

TEST_CASE("embedding and its gradient") {
  const MustRun variants("embedding_backward", {"owner", "sorted", "any_owner"});
  const std::int64_t rows = 9;
  for (const std::int64_t width : {1, 5, 16, 130}) {
    CAPTURE(width);
    const Values weight = some(20, {rows, width}, 100), index = indices(21, {4, 7}, rows);
    const Values expected = reference::index_select(weight, 0, index.values);
    const Tensor picks = tensor_of_values(index, DType::i64);
    check_close(ops::embedding(tensor_of_values(weight), picks), {4, 7, width}, expected.values, {0});
    const Values dy = some(22, {28, width});
    Values sums = reference::index_add({{rows, width}, std::vector<double>(static_cast<std::size_t>(rows * width))}, 0,
                                       index.values, dy);
    for (const bool padded : {false, true}) {
      if (padded)
        for (std::int64_t c = 0; c < width; ++c) sums.values[static_cast<std::size_t>(3 * width + c)] = 0;
      for_each_variant(variants, [&] {
        check_close(ops::embedding_backward(tensor_of(dy.values, {4, 7, width}), picks, rows,
                                            padded ? std::optional<std::int64_t>(3) : std::nullopt),
                    {rows, width}, sums.values, {0});
      });
    }
  }
  CHECK(ops::embedding(ones({3, 2}), tensor_of({1}, {}, DType::i64)).shape() == Shape{2});
  CHECK(ops::embedding(ones({3, 2}), zeros({0, 4}, DType::i64)).shape() == Shape{0, 4, 2});
  check_close(ops::embedding_backward(zeros({0, 2}), zeros({0}, DType::i64), 2), {2, 2}, {0, 0, 0, 0}, {0});
}

TEST_CASE("one_hot: dtypes, layouts, the largest class") {
  const Values index{{2, 3}, {0, 4, 2, 2, 7, -1}};
  for (const DType dtype : all_dtypes)
    for (const Layout layout : all_layouts) {
      const Tensor y = ops::one_hot(tensor_of_values(index, DType::i32, layout), 5, dtype);
      CHECK(y.dtype() == dtype);
      check_wrong_index(y, {"[one_hot]", "is not in [0, 5)"});
      check_close(y, {2, 3, 5}, reference::one_hot(index, 5).values, {0});
    }
  const Values right{{2, 3}, {0, 4, 2, 2, 7, 1}};
  const Tensor open = ops::one_hot(tensor_of_values(right, DType::i64));
  CHECK(open.dtype() == DType::i64);
  check_close(open, {2, 3, 8}, reference::one_hot(right, 8).values, {0});
  CHECK(ops::one_hot(zeros({0, 3}, DType::i64), 4).shape() == Shape{0, 3, 4});
  CHECK(ops::one_hot(zeros({3}, DType::i64), 0).shape() == Shape{3, 0});
  check_close(ops::one_hot(tensor_of({1}, {}, DType::i64), 3), {3}, {0, 1, 0}, {0});
  const Tensor wrong = ops::one_hot(tensor_of({1, 3, -1}, {3}, DType::i64), 3);
  check_wrong_index(wrong, {"[one_hot]", "is not in [0, 3)"});
  check_close(wrong, {3, 3}, {0, 1, 0, 0, 0, 0, 0, 0, 0}, {0});
  check_error([] { ops::one_hot(tensor_of({1, -2}, {2}, DType::i64)); }, {"[one_hot]", "index -2 is negative"});
}

TEST_CASE("large picks and sums: beyond one work-item's share") {
  if (testing::slow_device()) CRISOL_SKIP("millions of elements");
  const std::int64_t size = 3000, rows = 70000;
  const std::vector<double> index = random_integers(23, rows, 0, size - 1);
  const Tensor picks = tensor_of(index, {rows}, DType::i64);
  const Values table = some(24, {size, 5}, 3), src = some(25, {rows, 5}, 3), line = some(26, {rows}, 3);
  check_close(ops::index_select(tensor_of_values(table), 0, picks), reference::index_select(table, 0, index).values,
              {0});
  const Values added = reference::index_add(table, 0, index, src);
  const Values single{{size}, random_integers(27, size, 0, 9)};
  const Values scattered = reference::scatter_add(single, 0, {{rows}, index}, line);
  // A GPU does not share out so few columns.
  for_each_variant(MustRun("index_add", {on_cpus("owner"), "sorted"}), [&] {
    check_close(ops::index_add(tensor_of_values(table), 0, picks, tensor_of_values(src)), added.values, {0});
  });
  for_each_variant(MustRun("scatter_add", {on_cpus("owner"), "sorted"}), [&] {
    check_close(ops::scatter_add(tensor_of_values(single), 0, picks, tensor_of_values(line)), scattered.values, {0});
  });
}

TEST_CASE("indexing refuses what does not fit") {
  const Tensor x = ones({3, 4}), index = zeros({3, 4}, DType::i64), row = zeros({2}, DType::i64);
  check_error([&] { ops::gather(Tensor(), 0, index); }, {"[gather]", "undefined"});
  check_error([&] { ops::gather(x, 0, x); }, {"[gather]", "i32, i64, u8, i8, i16, u16, u32 or u64", "f32"});
  check_error([&] { ops::gather(x, 2, index); }, {"[gather]", "axis 2", "rank 2"});
  check_error([&] { ops::gather(x, 0, row); }, {"[gather]", "(2)", "(3, 4)", "ranks"});
  check_error([&] { ops::gather(x, 0, zeros({3, 5}, DType::i64)); }, {"[gather]", "(3, 5)", "(3, 4)", "axis 1"});
  check_error([&] { ops::index_select(x, 0, index); }, {"[index_select]", "rank 1", "(3, 4)"});
  check_error([&] { ops::index_select(x, -3, row); }, {"[index_select]", "axis -3"});
  check_error([&] { ops::scatter_add(x, 1, index, ones({3, 3})); }, {"[scatter_add]", "(3, 3)", "axis 1"});
  check_error([&] { ops::scatter_add(x, 1, zeros({4, 4}, DType::i64), ones({4, 4})); }, {"[scatter_add]", "axis 0"});
  check_error([&] { ops::scatter_add(x, 1, index, ones({3, 4}, DType::i32)); }, {"[scatter_add]", "f32", "i32"});
  check_error([&] { ops::scatter_add(index.to(DType::boolean), 1, index, index.to(DType::boolean)); }, {"bool"});
  check_error([&] { ops::index_add(x, 0, row, ones({3, 4})); }, {"[index_add]", "(2, 4)", "(3, 4)"});
  check_error([&] { ops::index_add(x, 0, row, Tensor()); }, {"[index_add]", "undefined"});
  check_error([&] { ops::embedding(ones({3}), row); }, {"[embedding]", "(V, D)", "(3)"});
  check_error([&] { ops::embedding_backward(ones({3, 4}), row, 5); }, {"[embedding_backward]", "(2, 4)", "(3, 4)"});
  check_error([&] { ops::embedding_backward(ones({2, 4}), row, 5, 5); }, {"[embedding_backward]", "padding_idx 5"});
  check_error([&] { ops::one_hot(x, 3); }, {"[one_hot]", "f32"});
  check_error([&] { ops::one_hot(row, -2); }, {"[one_hot]", "-2"});
  check_error([&] { ops::one_hot(zeros({0}, DType::i64)); }, {"[one_hot]", "no indices"});
  check_close(x, std::vector<double>(12, 1), {0});
}

TEST_CASE("child: indices are checked" * doctest::skip()) {
  const Tensor x = ones({3, 4}), src = ones({2, 4});
  const Tensor row = tensor_of({1, 3}, {2}, DType::i64), negative = tensor_of({-1, 0}, {2}, DType::i32);
  check_error([&] { ops::index_select(x, 0, row); }, {"[index_select]", "index 3", "position 1", "[0, 3)"});
  check_error([&] { ops::index_add(x, 0, negative, src); }, {"[index_add]", "index -1", "position 0", "[0, 3)"});
  check_error([&] { ops::gather(src, 0, full({2, 4}, 2, DType::i64)); }, {"[gather]", "index 2", "[0, 2)"});
  check_error([&] { ops::scatter_add(x, 0, full({2, 4}, 3, DType::i64), src); }, {"[scatter_add]", "index 3"});
  check_error([&] { ops::embedding(x, row); }, {"[embedding]", "index 3", "[0, 3)"});
  check_error([&] { ops::embedding_backward(src, row, 3); }, {"[embedding_backward]", "index 3", "[0, 3)"});
  check_error([&] { ops::one_hot(row, 3); }, {"[one_hot]", "index 3", "[0, 3)"});
  check_close(ops::index_select(x, 0, row.narrow(0, 0, 1)), {1, 1, 1, 1}, {0});
}

TEST_CASE("check_range: the next read tells an element outside the bounds") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    CAPTURE(dtype);
    const Tensor x = rand({300, 7}).to(dtype).transpose(0, 1);
    check_range("within", x, 0, 1);
    check_range("within", full({2}, inf, dtype), 0, inf);
    check_range("none", zeros({0}, dtype), 0, 1);
    CHECK(ones({1}).item<float>() == 1);
    for (const double wrong : {-0.25, 1.25, std::numeric_limits<double>::quiet_NaN()}) {
      ops::fill_into(x.narrow(0, 3, 1).narrow(1, 298, 1), wrong);
      check_range("shares", x, 0, 1);
      check_error([] { ones({1}).item<float>(); }, {"[shares]", "an element is ", "which is not in [0, 1]"});
      CHECK(ones({1}).item<float>() == 1);
    }
  }
  check_error([] { check_range("shares", zeros({2}, DType::i32), 0, 1); }, {"[shares]", "i32"});
}

TEST_CASE("CRISOL_CHECK_INDICES finds the wrong index") {
  const testing::ProcessResult result =
      testing::run_child("child: indices are checked", {{"CRISOL_CHECK_INDICES", "1"}});
  INFO(result.output);
  CHECK(result.status == 0);
}

}  // namespace crisol
