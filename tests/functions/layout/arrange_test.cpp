// flip, roll, repeat, tile, meshgrid, isclose and allclose.
#include "crisol/functions/arrange.h"

#include <cmath>
#include <limits>

#include "crisol/functions/compare.h"
#include "crisol/functions/elementwise.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

namespace {

using testing::all_layouts;
using testing::check_error;
using testing::check_gradients;
using testing::random_integers;
using testing::random_values;
using testing::tensor_of;
using testing::view_of;

using Inputs = std::vector<Tensor>;
using Values = std::vector<double>;

// The element of `values` (of `shape`) that each element of the result comes from, by its index.
template <class Source>
Values picked(const Values& values, const Shape& shape, const Shape& result, Source source) {
  Values expected;
  for (std::int64_t i = 0; i < result.numel(); ++i) {
    Shape index = result;
    std::int64_t rest = i;
    for (int axis = result.rank() - 1; axis >= 0; --axis) {
      index[axis] = rest % result[axis];
      rest /= result[axis];
    }
    const Shape from = source(index);
    std::int64_t at = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) at = at * shape[axis] + from[axis];
    expected.push_back(values[static_cast<std::size_t>(at)]);
  }
  return expected;
}

}  // namespace

TEST_CASE("flip: every dtype and layout, odd and large sizes") {
  for (const Shape& shape : {Shape{3, 5, 7}, Shape{1, 4, 1}, Shape{130, 3, 67}}) {
    const Values values = random_integers(1, shape.numel(), 0, 100);
    for (const Shape& axes : {Shape{0}, Shape{2}, Shape{0, -1}, Shape{0, 1, 2}}) {
      const Values expected = picked(values, shape, shape, [&](Shape index) {
        for (const std::int64_t axis : axes) {
          std::int64_t& i = index[static_cast<int>(axis < 0 ? axis + 3 : axis)];
          i = shape[static_cast<int>(axis < 0 ? axis + 3 : axis)] - 1 - i;
        }
        return index;
      });
      for (const auto layout : all_layouts) {
        for (const DType dtype : {DType::f32, DType::f16, DType::i64, DType::u8}) {
          CAPTURE(shape);
          CAPTURE(axes);
          CAPTURE(dtype);
          testing::check_close(flip(view_of(values, shape, layout, dtype), axes), shape, expected, {});
        }
      }
    }
  }
}

TEST_CASE("flip: no axes, a scalar, an empty tensor, refusals") {
  const Tensor x = arange(0, 6).reshape({2, 3});
  CHECK(flip(x, {}).to_vector<float>() == x.to_vector<float>());
  CHECK_FALSE(flip(x, {}).shares_storage_with(x));
  CHECK(flip(full({}, 4), 0).item() == 4);
  CHECK(flip(zeros({0, 3}), {0, 1}).shape() == Shape{0, 3});
  check_error([&] { flip(x, 2); }, {"[flip]", "axis 2", "rank 2"});
  check_error([&] { flip(x, {0, -2}); }, {"[flip]", "axis -2", "twice"});
  check_error([] { flip(Tensor(), 0); }, {"[flip]", "undefined"});
}

TEST_CASE("roll: axes, several axes, no axis, shifts beyond the size") {
  const Shape shape{3, 5};
  const Values values = random_values(1, 15);
  const Tensor x = tensor_of(values, shape);
  const auto is = [&](const Tensor& y, std::int64_t rows, std::int64_t columns) {
    testing::check_close(y, shape,
                         picked(values, shape, shape,
                                [&](Shape index) {
                                  return Shape{((index[0] - rows) % 3 + 3) % 3, ((index[1] - columns) % 5 + 5) % 5};
                                }),
                         {});
  };
  is(roll(x, 1, 0), 1, 0);
  is(roll(x, -2, -1), 0, -2);
  is(roll(x, {7, 11}, {0, 1}), 7, 11);
  is(roll(x, {1, 1}, {1, 1}), 0, 2);
  CHECK(roll(arange(0, 6).reshape({2, 3}), 2).to_vector<float>() == std::vector<float>{4, 5, 0, 1, 2, 3});
  CHECK_FALSE(roll(x, 5, 1).shares_storage_with(x));
  CHECK(roll(zeros({0, 2}), 1, 0).shape() == Shape{0, 2});
  check_error([&] { roll(x, {1, 2}, 0); }, {"[roll]", "2 shifts", "1 axes"});
  check_error([&] { roll(x, {1, 2}); }, {"[roll]", "without axes"});
  check_error([&] { roll(x, 1, 2); }, {"[roll]", "axis 2"});
}

TEST_CASE("repeat and tile") {
  const Shape shape{2, 1, 3};
  const Values values = random_values(1, 6);
  const Tensor x = tensor_of(values, shape);
  const auto is = [&](const Tensor& y, const Shape& result) {
    testing::check_close(y, result,
                         picked(values, shape, result,
                                [&](const Shape& index) {
                                  const int ahead = index.rank() - 3;
                                  return Shape{index[ahead] % 2, 0, index[ahead + 2] % 3};
                                }),
                         {});
  };
  is(repeat(x, {2, 3, 2}), {4, 3, 6});
  is(repeat(x, {1, 1, 4}), {2, 1, 12});
  is(repeat(x, {5, 1, 1, 2, 1}), {5, 1, 2, 2, 3});
  is(tile(x, 2), {2, 1, 6});
  is(tile(x, {3, 1, 1, 2}), {3, 2, 1, 6});
  CHECK(repeat(x, {1, 0, 1}).shape() == Shape{2, 0, 3});
  CHECK_FALSE(repeat(x, {1, 1, 1}).shares_storage_with(x));
  CHECK(repeat(ones({1, 1, 1, 1, 1, 1, 1, 2}), {2, 1, 1, 1, 1, 1, 1, 2}).shape() == Shape{2, 1, 1, 1, 1, 1, 1, 4});
  check_error([&] { repeat(x, {2, 2}); }, {"[repeat]", "2 counts", "(2, 1, 3)"});
  check_error([&] { repeat(x, {2, 2, -1}); }, {"[repeat]", "-1"});
  check_error([&] { tile(Tensor(), 2); }, {"[tile]", "undefined"});
}

TEST_CASE("meshgrid: both orders") {
  const Tensor a = arange(0, 2), b = arange(10, 13), c = full({}, 5);
  const std::vector<Tensor> grids = meshgrid({a, b, c});
  CHECK(grids[0].shape() == Shape{2, 3, 1});
  CHECK(grids[0].to_vector<float>() == std::vector<float>{0, 0, 0, 1, 1, 1});
  CHECK(grids[1].to_vector<float>() == std::vector<float>{10, 11, 12, 10, 11, 12});
  CHECK(grids[2].to_vector<float>() == std::vector<float>(6, 5));
  const std::vector<Tensor> xy = meshgrid({a, b}, true);
  CHECK(xy[0].shape() == Shape{3, 2});
  CHECK(xy[0].to_vector<float>() == std::vector<float>{0, 1, 0, 1, 0, 1});
  CHECK(xy[1].to_vector<float>() == std::vector<float>{10, 10, 11, 11, 12, 12});
  CHECK(meshgrid({}).empty());
  check_error([] { meshgrid({ones({2, 2})}); }, {"[meshgrid]", "(2, 2)"});
}

TEST_CASE("repeat and tile: each element has its own memory") {
  for (const Shape& shape : {Shape{2, 1, 3}, Shape{1, 3, 1}, Shape{1, 1, 1}}) {
    CAPTURE(shape);
    const Tensor x = zeros(shape);
    Tensor y = tile(x, {2, 2, 2});
    y[{0, 0, 0}] = 1;
    CHECK(y.sum().item<float>() == 1);
    CHECK(x.sum().item<float>() == 0);
  }
}

TEST_CASE("gradients of flip, roll, repeat and meshgrid") {
  const Tensor x = tensor_of(random_values(2, 12), {3, 4});
  check_gradients([](const Inputs& in) { return flip(in[0], {0, 1}); }, {x});
  check_gradients([](const Inputs& in) { return roll(in[0], {1, -1}, {0, 1}); }, {x});
  check_gradients([](const Inputs& in) { return roll(in[0], 5); }, {x});
  check_gradients([](const Inputs& in) { return repeat(in[0], {2, 3, 2}); }, {x});
  check_gradients([](const Inputs& in) { return tile(in[0], 3); }, {x});
  check_gradients(
      [](const Inputs& in) {
        return meshgrid({in[0], in[1]})[0] * meshgrid({in[0], in[1]})[1];
      },
      {tensor_of(random_values(3, 3), {3}), tensor_of(random_values(4, 4), {4})});
}

TEST_CASE("isclose and allclose") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor a = from_vector<float>({1, 1, inf, inf, nan, 0, 1e9f}),
               b = from_vector<float>({1.000001f, 1.1f, inf, -inf, nan, 1e-9f, inf});
  CHECK(isclose(a, b).to_vector<bool>() == std::vector<bool>{true, false, true, false, false, true, false});
  CHECK(isclose(a, b, 1e-5, 1e-8, true).to_vector<bool>() ==
        std::vector<bool>{true, false, true, false, true, true, false});
  CHECK(isclose(a, b, 0, 0).to_vector<bool>() == std::vector<bool>{false, false, true, false, false, false, false});
  CHECK(isclose(a, b, 0, 0.2).to_vector<bool>()[1]);
  CHECK(allclose(from_vector<float>({1, 2}), from_vector<float>({1.000001f, 2})));
  CHECK_FALSE(allclose(from_vector<float>({1, 2}), from_vector<float>({1, 2.1f})));
  CHECK(allclose(ones({2, 3}), ones({3})));
  CHECK(allclose(zeros({0}), zeros({0})));
  CHECK(allclose(from_vector<std::int64_t>({3}), from_vector<std::int64_t>({3})));
  CHECK_FALSE(allclose(from_vector<std::int64_t>({3}), from_vector<std::int64_t>({4})));
  check_error([] { isclose(zeros({2}), zeros({2}, DType::i64)); }, {"[isclose]", "f32", "i64"});
  check_error([] { isclose(zeros({2}), zeros({3})); }, {"(2)", "(3)"});
  check_error([] { isclose(zeros({2}), zeros({2}), -1); }, {"[isclose]", "-1"});
}

}  // namespace crisol
