// Joining, splitting and padding, compared with the reference.
#include "crisol/ops/cat.h"

#include <limits>

#include "crisol/ops/pad.h"
#include "doctest/doctest.h"
#include "reference/cat.h"
#include "support/compare.h"

namespace crisol {

namespace {

using reference::Values;
using testing::check_close;
using testing::check_error;
using testing::Layout;
using testing::random_integers;
using testing::tensor_of;
using testing::view_of;

// Whole numbers, which every dtype holds.
Values some(std::uint64_t seed, const Shape& shape) { return {shape, random_integers(seed, shape.numel(), 0, 100)}; }

Tensor tensor_of_values(const Values& x) { return tensor_of(x.values, x.shape); }

}  // namespace

TEST_CASE("cat: every axis, odd sizes, empty parts") {
  const Shape base{3, 1, 5};
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<Values> parts;
    std::vector<Tensor> tensors;
    for (const std::int64_t size : {2, 0, 7, 1}) {
      Shape shape = base;
      shape[axis] = size;
      parts.push_back(some(static_cast<std::uint64_t>(size), shape));
      tensors.push_back(tensor_of_values(parts.back()));
    }
    const Values expected = reference::cat(parts, axis);
    check_close(ops::cat(tensors, axis), expected.shape, expected.values, {0});
    check_close(ops::cat(tensors, axis - 3), expected.shape, expected.values, {0});
  }
  CHECK(ops::cat({zeros({0, 4}), zeros({0, 4})}, 0).shape() == Shape{0, 4});
}

TEST_CASE("cat and stack: strided parts of every dtype") {
  const Values a = some(1, {2, 3});
  const Values b = some(2, {2, 3});
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8}) {
    for (const Layout layout : testing::all_layouts) {
      CAPTURE(name_of(dtype));
      CAPTURE(testing::name_of(layout));
      const std::vector<Tensor> tensors{view_of(a.values, a.shape, layout, dtype), tensor_of(b.values, b.shape, dtype)};
      const Tensor joined = ops::cat(tensors, 1);
      CHECK(joined.dtype() == dtype);
      check_close(joined, {2, 6}, reference::cat({a, b}, 1).values, {0});
      for (int axis = 0; axis < 3; ++axis) {
        const Values expected = reference::stack({a, b}, axis);
        check_close(ops::stack(tensors, axis), expected.shape, expected.values, {0});
      }
    }
  }
  CHECK(ops::stack({zeros({}), zeros({})}).shape() == Shape{2});
  CHECK(ops::stack({zeros({4}), zeros({4})}, -1).shape() == Shape{4, 2});
}

TEST_CASE("split and chunk are views with the reference's elements") {
  const Values x = some(3, {2, 7, 3});
  const Tensor tensor = view_of(x.values, x.shape, Layout::strided);
  const auto check = [&](const std::vector<Tensor>& pieces, const std::vector<std::int64_t>& sizes) {
    REQUIRE(pieces.size() == sizes.size());
    std::int64_t start = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Values expected = reference::narrow(x, 1, start, sizes[i]);
      CHECK(pieces[i].shares_storage_with(tensor));
      check_close(pieces[i], expected.shape, expected.values, {0});
      start += sizes[i];
    }
  };
  check(ops::split(tensor, 3, 1), {3, 3, 1});
  check(ops::split(tensor, 9, -2), {7});
  check(ops::split(tensor, std::vector<std::int64_t>{1, 0, 6}, 1), {1, 0, 6});
  check(ops::chunk(tensor, 4, 1), {2, 2, 2, 1});
  check(ops::chunk(tensor, 5, 1), {2, 2, 2, 1});  // Fewer parts than requested, as in PyTorch.
  check(ops::chunk(tensor, 1, 1), {7});
  CHECK(ops::chunk(zeros({0, 2}), 3).size() == 3);
  CHECK(ops::split(zeros({0, 2}), 3).size() == 1);
}

TEST_CASE("cat, stack, split and chunk refuse what does not fit") {
  const Tensor a = zeros({2, 3});
  const Tensor b = zeros({4, 3});
  check_error([&] { ops::cat({}); }, {"[cat]", "no tensors"});
  check_error([&] { ops::cat({a, b}, 1); }, {"[cat]", "(2, 3)", "(4, 3)", "axis 1"});
  check_error([&] { ops::cat({a, zeros({2})}, 0); }, {"[cat]", "(2, 3)", "(2)"});
  check_error([&] { ops::cat({a, b}, 2); }, {"[cat]", "axis 2", "rank 2"});
  check_error([&] { ops::cat({a, zeros({2, 3}, DType::i32)}, 0); }, {"[cat]", "f32", "i32"});
  check_error([&] { ops::cat({zeros({}), zeros({})}, 0); }, {"[cat]", "rank 0"});
  check_error([&] { ops::stack({a, b}, 0); }, {"[stack]", "(2, 3)", "(4, 3)", "axis 0"});
  check_error([&] { ops::stack({a, a}, 3); }, {"[stack]", "axis 3"});
  check_error([&] { ops::split(a, 0, 1); }, {"[split]", "size is 0", "(2, 3)"});
  check_error([&] { ops::split(a, std::vector<std::int64_t>{1, 1}, 1); }, {"[split]", "2", "3", "axis 1"});
  check_error([&] { ops::split(a, std::vector<std::int64_t>{4, -1}, 1); }, {"[split]", "-1"});
  check_error([&] { ops::chunk(a, 0); }, {"[chunk]", "0"});
}

TEST_CASE("pad: constants around, negative paddings crop") {
  const Values x = some(4, {2, 3, 5});
  const std::vector<AxisPadding> cases[] = {
      {}, {{1, 2}}, {{0, 0}, {2, 1}}, {{1, 0}, {0, 3}, {1, 1}}, {{-1, -2}}, {{2, -1}, {-1, 1}}, {{1, -1}}, {{-5, 0}},
  };
  for (const std::vector<AxisPadding>& paddings : cases)
    for (const double value : {0.0, -3.0}) {
      const Values expected = reference::pad(x, paddings, value);
      for (const Layout layout : testing::all_layouts)
        check_close(ops::pad(view_of(x.values, x.shape, layout), paddings, value), expected.shape, expected.values,
                    {0});
      check_close(ops::pad(tensor_of(x.values, x.shape, DType::i64), paddings, value), expected.shape, expected.values,
                  {0});
    }
  check_close(ops::pad(zeros({0, 2}), {{1, 0}, {0, 1}}, 7), {1, 3}, {7, 7, 7}, {0});
  check_error([&] { ops::pad(zeros({3}), {{1, 1}, {1, 1}}); }, {"[pad]", "2 pairs", "(3)", "rank 1"});
  check_error([&] { ops::pad(zeros({2, 3}), {{-2, -2}}); }, {"[pad]", "4", "axis 1", "(2, 3)"});
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  check_error([&] { ops::pad(zeros({2, 3}), {{least, least}}); }, {"[pad]", "-9223372036854775808", "axis 1"});
  check_error([&] { ops::pad(zeros({2, 3}), {{-4, 4}}); }, {"[pad]", "4", "axis 1", "(2, 3)"});
}

}  // namespace crisol
