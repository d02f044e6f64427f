// x[…]: reading, writing, gradients and refusals.
#include "crisol/indexing.h"

#include <limits>

#include "crisol/functions/arrange.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/grad_mode.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

namespace {

using testing::check_error;
using testing::check_gradients;
using testing::random_values;
using testing::tensor_of;

using Floats = std::vector<float>;

Floats values(const Tensor& x) { return x.to_vector<float>(); }

Tensor counted(const Shape& shape) { return arange(0, static_cast<double>(shape.numel())).reshape(shape); }

// Every second column, so that views of views are tested.
Tensor strided(const Shape& shape) {
  Shape wide = shape;
  wide[wide.rank() - 1] *= 2;
  Tensor x = zeros(wide);
  Tensor part = x[{Ellipsis, Slice({}, {}, 2)}];
  part.copy_from(counted(shape));
  return part;
}

}  // namespace

TEST_CASE("index: positions, slices, ellipsis and new axes are views") {
  for (const Tensor& x : {counted({3, 4, 5}), strided({3, 4, 5})}) {
    const auto is = [&](const Tensor& part, const Shape& shape, const Floats& expected) {
      CHECK(part.shape() == shape);
      CHECK(values(part) == expected);
      CHECK(part.shares_storage_with(x));
    };
    is(x[{1, 2}], {5}, {30, 31, 32, 33, 34});
    is(x[{-1, -1, -1}], {}, {59});
    is(x[2][{Slice(1, 3), 0}], {2}, {45, 50});
    is(x[{0, Slice(1, 4, 2), Slice(3)}], {2, 2}, {8, 9, 18, 19});
    is(x[{Ellipsis, 0}], {3, 4}, {0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55});
    is(x[{0, Ellipsis, 4}], {4}, {4, 9, 14, 19});
    is(x[{0, 1, Ellipsis, NewAxis, 2}], {1}, {7});
    is(x[{NewAxis, 0, NewAxis, 3}], {1, 1, 5}, {15, 16, 17, 18, 19});
    is(x[{0, 0, Slice(-2)}], {2}, {3, 4});
    is(x[{0, 0, Slice({}, -3)}], {2}, {0, 1});
    is(x[{0, 0, Slice(-100, 100, 4)}], {2}, {0, 4});
    is(x[{0, 0, Slice(1, {}, std::numeric_limits<std::int64_t>::max() / 4)}], {1}, {1});
    is(x[{0, 0, Slice(3, 1)}], {0}, {});
    is(x[Slice(9)], {0, 4, 5}, {});
  }
  CHECK(counted({4})[Ellipsis].shape() == Shape{4});
  CHECK(full({}, 3.0)[NewAxis].shape() == Shape{1});
  CHECK(counted({4})[std::size_t{3}].item() == 3);
}

TEST_CASE("index: negative steps copy") {
  const Tensor x = counted({2, 5});
  CHECK(values(x[{0, Slice({}, {}, -1)}]) == Floats{4, 3, 2, 1, 0});
  CHECK(values(x[{0, Slice({}, {}, -2)}]) == Floats{4, 2, 0});
  CHECK(values(x[{0, Slice(3, 0, -2)}]) == Floats{3, 1});
  CHECK(values(x[{0, Slice(-2, -5, -1)}]) == Floats{3, 2, 1});
  CHECK(values(x[{Slice({}, {}, -1), 0}]) == Floats{5, 0});
  CHECK(values(x[{Slice({}, {}, -1), Slice({}, {}, -3)}]) == Floats{9, 6, 4, 1});
  CHECK(x[{0, Slice(0, 3, -1)}].numel() == 0);
  CHECK_FALSE(x[Slice({}, {}, -1)].shares_storage_with(x));
}

TEST_CASE("index: a tensor of positions picks along one axis") {
  const Tensor x = counted({3, 4});
  for (const DType dtype : {DType::u8, DType::i32, DType::i64}) {
    const Tensor picks = from_vector<int>({3, 0, 3}, dtype);
    CHECK(values(x[{Slice(), picks}]) == Floats{3, 0, 3, 7, 4, 7, 11, 8, 11});
    CHECK(values(x[{1, picks}]) == Floats{7, 4, 7});
    CHECK(x[from_vector<int>({1, 0, 2, 1}, {2, 2}, dtype)].shape() == Shape{2, 2, 4});
    CHECK(values(x[full({}, 2, dtype)]) == Floats{8, 9, 10, 11});
  }
}

TEST_CASE("index: several tensors of positions, and masks") {
  const Tensor x = counted({3, 4, 2});
  const Tensor a = from_vector<std::int64_t>({2, -3, 1}), b = from_vector<std::int32_t>({1, 0, 1});
  CHECK(values(x[{a, Slice(1, 3), b}]) == Floats{19, 21, 2, 4, 11, 13});
  CHECK(x[{Slice(1, 3), NewAxis, from_vector<std::int64_t>({3, 0, 1}, {3, 1}), b}].shape() == Shape{2, 1, 3, 3});
  CHECK(values(x[{a, 0, b}]) == Floats{17, 0, 9});
  const Tensor one = full({}, 1, DType::i64);
  CHECK(x[{one, Slice(), b}].shape() == Shape{4, 3});
  CHECK(values(x[{one, Slice(), b}]) == values(x[{1, Slice(), b}]));
  CHECK(values(x[{a, one, b}]) == values(x[{a, 1, b}]));
  CHECK(values(x[{Ellipsis, Slice({}, {}, -1), b}][{0, 0}]) == Floats{7, 6, 7});
  const Tensor rows = from_vector<bool>({true, false, true}, {3}),
               columns = from_vector<bool>({false, true, true, false}, {4});
  CHECK(x[rows].shape() == Shape{2, 4, 2});
  CHECK(values(x[{rows, columns}]) == Floats{2, 3, 20, 21});
  CHECK(values(x[{Slice({}, 1), columns, 0}]) == Floats{2, 4});
  CHECK(values(x[{NewAxis, x.select(2, 0).gt(17), 1}]) == Floats{19, 21, 23});
  CHECK(values(full({}, 3.0)[ones({}, DType::boolean)]) == Floats{3});
}

TEST_CASE("index: assigning to positions and masks") {
  Tensor x = counted({3, 4});
  const Tensor a = from_vector<std::int64_t>({0, 2, 0}), b = from_vector<std::int64_t>({1, -1, 1});
  x[{a, b}] = from_vector<float>({10, 20, 30});
  CHECK(values(x) == Floats{0, 30, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20});
  x[{a, b}] += 1;  // Each element once, as in NumPy.
  CHECK(values(x) == Floats{0, 31, 2, 3, 4, 5, 6, 7, 8, 9, 10, 21});
  x[x.gt(8)] = -1;
  CHECK(values(x) == Floats{0, -1, 2, 3, 4, 5, 6, 7, 8, -1, -1, -1});
  x[{Slice({}, {}, -1), from_vector<std::int64_t>({0})}] = from_vector<std::int64_t>({70, 80, 90}, {3, 1});
  CHECK(values(x.select(1, 0)) == Floats{90, 80, 70});
  x[{from_vector<bool>({true, false, true}, {3}), Slice(2)}] = from_vector<float>({5, 6});
  CHECK(values(x) == Floats{90, -1, 5, 6, 80, 5, 6, 7, 70, -1, 5, 6});
  x.t()[{from_vector<std::int64_t>({3, 1}), 1}] *= 2;
  CHECK(values(x[1]) == Floats{80, 10, 6, 14});
}

TEST_CASE("index: assigning to an unnamed part writes, naming it rebinds") {
  Tensor x = counted({2, 3});
  x[0] = 7;
  CHECK(values(x) == Floats{7, 7, 7, 3, 4, 5});
  x[{1, Slice(0, 2)}] = from_vector<float>({1, 2});
  CHECK(values(x) == Floats{7, 7, 7, 1, 2, 5});
  x[{Ellipsis, 2}] = from_vector<std::int64_t>({8, 9});  // Cast.
  CHECK(values(x) == Floats{7, 7, 8, 1, 2, 9});
  x[Slice()] = from_vector<float>({4, 5}, {2, 1});  // Broadcast.
  CHECK(values(x) == Floats{4, 4, 4, 5, 5, 5});
  x[0] = x[1];
  CHECK(values(x[0]) == Floats{5, 5, 5});
  x[{0, 1}] += 1;
  x[1] -= x[0];
  x[{0, Slice(0, 2)}] *= 2.0;
  x[{0, 0}] /= 4;
  CHECK(values(x) == Floats{2.5f, 12, 5, 0, -1, 0});

  Tensor row = x[0];
  const Tensor other = zeros({4});
  row = other;
  CHECK(row.shape() == Shape{4});
  CHECK(values(x[0]) == Floats{2.5f, 12, 5});
  const Tensor constant = x;
  constant[{1, 0}] = 3;
  CHECK(x[{1, 0}].item() == 3);
}

TEST_CASE("index: whole numbers are written exactly") {
  Tensor x = zeros({3}, DType::i64);
  constexpr std::int64_t large = (std::int64_t{1} << 62) + 1;
  x[1] = large;
  x[2] = -2.75;
  CHECK(x.to_vector<std::int64_t>() == std::vector<std::int64_t>{0, large, -2});
  check_error([&] { x[0] += 0.5; }, {"[add_]", "i64"});
}

TEST_CASE("index: writing through a negative step reaches the elements") {
  Tensor x = zeros({2, 5});
  x[{0, Slice({}, {}, -1)}] = from_vector<float>({1, 2, 3, 4, 5});
  x[{1, Slice(4, {}, -2)}] = from_vector<float>({1, 2, 3});
  CHECK(values(x) == Floats{5, 4, 3, 2, 1, 3, 0, 2, 0, 1});
  x[Slice({}, {}, -1)] = from_vector<float>({10, 20}, {2, 1});
  CHECK(values(x) == Floats{20, 20, 20, 20, 20, 10, 10, 10, 10, 10});
  x[{Slice({}, {}, -1), Slice(3, 1, -1)}] += from_vector<float>({1, 2});
  CHECK(values(x) == Floats{20, 20, 22, 21, 20, 10, 10, 12, 11, 10});
}

TEST_CASE("index: refusals") {
  Tensor x = counted({2, 3});
  check_error([&] { x[2]; }, {"[index]", "position 2", "axis 0", "(2, 3)"});
  check_error([&] { x[{0, -4}]; }, {"[index]", "position -4", "axis 1"});
  check_error([&] { x[{0, 0, 0}]; }, {"[index]", "3 entries", "2 axes", "(2, 3)"});
  check_error([&] { x[{Ellipsis, Ellipsis}]; }, {"[index]", "2 times Ellipsis"});
  check_error([&] { x[Slice(0, 2, 0)]; }, {"[index]", "step 0", "is 0"});
  check_error([&] { x[ones({3}, DType::boolean)]; }, {"[index_get]", "mask", "(3)", "(2, 3)"});
  check_error([&] { x[ones({2})]; }, {"[index_get]", "f32"});
  check_error([&] { x[{zeros({2}, DType::i64), zeros({3}, DType::i64)}]; }, {"[index_get]", "(2)", "(3)"});
  Tensor part = x.clone()[zeros({1}, DType::i64)];
  check_error([&] { std::move(part) = 5; }, {"[index]", "gone"});
  check_error([&] { x[0] = ones({2}); }, {"(2)", "(3)"});
  check_error([&] { Tensor()[0]; }, {"undefined"});
  check_error([&] { full({}, 1)[0]; }, {"[index]", "1 entries", "0 axes"});
  CHECK(values(x) == Floats{0, 1, 2, 3, 4, 5});
  Tensor leaf = ones({2, 3}).requires_grad_();
  check_error([&] { leaf[0] = 1; }, {"in place", "NoGrad"});
  check_error([&] { leaf[zeros({1}, DType::i64)] = 1; }, {"in place", "NoGrad"});
  Tensor recorded = x.clone();
  recorded[0] = leaf[0];
  CHECK(recorded.requires_grad());
  const NoGrad off;
  leaf[0] = 2;
  CHECK(values(leaf) == Floats{2, 2, 2, 1, 1, 1});
}

TEST_CASE("index: gradients") {
  const Tensor x = tensor_of(random_values(1, 60), {3, 4, 5});
  const auto check = [&](const auto& part) {
    check_gradients([&](const std::vector<Tensor>& in) { return part(in[0]); }, {x});
  };
  check([](const Tensor& t) { return t[1]; });
  check([](const Tensor& t) { return t[{0, Slice(1, 4, 2), NewAxis, Slice(1)}]; });
  check([](const Tensor& t) { return t[{Ellipsis, Slice({}, {}, -2)}]; });
  check([](const Tensor& t) { return t[{Slice({}, {}, -1), -1, Slice(3, 0, -1)}]; });
  const Tensor picks = from_vector<std::int64_t>({2, 0, 2, 1}, {2, 2});
  check([&](const Tensor& t) { return t[{Slice(1, 3), picks}]; });
}

}  // namespace crisol
