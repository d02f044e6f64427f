// Operators of tensors.
#include "crisol/functions/arrange.h"
#include "crisol/functions/bitwise.h"
#include "crisol/functions/elementwise.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

Tensor mask_of(const std::vector<double>& values) {
  return tensor_of(values, {static_cast<std::int64_t>(values.size())}, DType::boolean);
}

void check_mask(const Tensor& actual, const std::vector<double>& expected) {
  CHECK(actual.dtype() == DType::boolean);
  check_close(actual, expected, {0});
}

}  // namespace

TEST_CASE("operators: masks are combined by the logical functions, and stay bool") {
  const Tensor a = mask_of({0, 0, 1, 1}), b = mask_of({0, 1, 0, 1});
  check_mask(a & b, {0, 0, 0, 1});
  check_mask(a | b, {0, 1, 1, 1});
  check_mask(a ^ b, {0, 1, 1, 0});
  check_mask(~a, {1, 1, 0, 0});
  check_mask(!a, {1, 1, 0, 0});
  check_mask(a & true, {0, 0, 1, 1});
  check_mask(true ^ a, {1, 1, 0, 0});
  const Tensor x = tensor_of({-2, 0, 3, 7}, {4});
  check_mask((x > 0) & ~(x > 5), {0, 0, 1, 0});
  check_mask(!x, {0, 1, 0, 0});
  check_error([&] { x& a; }, {"[bitwise_and]", "f32"});
  check_error([&] { ~x; }, {"[bitwise_not]", "f32"});
  check_error([&] { a | Tensor(); }, {"[bitwise_or]", "undefined"});
  check_error([&] { a << 1.5; }, {"[bitwise_left_shift]", "f32"});
}

TEST_CASE("operators: whole numbers by their bits, with a number on either side") {
  const Tensor x = from_vector<std::int32_t>({12, -9, 7});
  const auto same = [](const Tensor& actual, const std::vector<double>& expected) {
    CHECK(actual.dtype() == DType::i32);
    check_close(actual, expected, {0});
  };
  same(x & 10, {8, 2, 2});
  same(3 | x, {15, -9, 7});
  same(x ^ x, {0, 0, 0});
  same(~x, {-13, 8, -8});
  same(x << 2, {48, -36, 28});
  same(x >> 1, {6, -5, 3});
  same(1 << from_vector<std::int32_t>({0, 3, 4}), {1, 8, 16});
  same(x % 5, {2, 1, 2});
  // A mask with a number is a number.
  CHECK((mask_of({1, 0}) & 1).dtype() == DType::i64);
}

TEST_CASE("operators: forms that change their left side write its elements, in its dtype") {
  Tensor mask = mask_of({1, 1, 0, 0, 1, 0});
  const Tensor view = mask.reshape({2, 3});
  mask &= mask_of({1, 0, 1, 0, 1, 1});
  check_mask(mask, {1, 0, 0, 0, 1, 0});
  check_mask(view, {1, 0, 0, 0, 1, 0});
  view[1] |= true;
  check_mask(mask, {1, 0, 0, 1, 1, 1});
  mask[Slice({}, {}, -1)] ^= mask_of({1, 0, 0, 0, 0, 0});
  check_mask(mask, {1, 0, 0, 1, 1, 0});
  Tensor whole = from_vector<std::int32_t>({1, 2, 3});
  whole <<= from_vector<std::int64_t>({1, 2, 3});
  CHECK(whole.dtype() == DType::i32);
  check_close(whole, {2, 8, 24}, {0});
  whole >>= 1;
  whole %= 5;
  check_close(whole, {1, 4, 2}, {0});
  whole[Slice({}, {}, -1)] %= 2;
  check_close(whole, {1, 0, 0}, {0});
  check_error([&] { whole |= zeros({2, 3}, DType::i32); }, {"(2, 3)", "(3)"});
}

TEST_CASE("comparisons with a number that the type of whole numbers does not hold") {
  constexpr std::int64_t above = std::int64_t{1} << 31, below = -above - 1;
  for (const DType dtype : {DType::i8, DType::u8, DType::i32, DType::boolean}) {
    const Tensor x = tensor_of({0, 1}, {2}, dtype);
    check_mask(x < above, {1, 1});
    check_mask(x <= above, {1, 1});
    check_mask(x > above, {0, 0});
    check_mask(x >= above, {0, 0});
    check_mask(x == above, {0, 0});
    check_mask(x != above, {1, 1});
    check_mask(x < below, {0, 0});
    check_mask(x >= below, {1, 1});
    check_mask(above > x, {1, 1});
    check_mask(below >= x, {0, 0});
  }
  const Tensor most = from_vector<std::int64_t>({INT64_MAX, INT64_MIN});
  check_mask(most < (std::uint64_t{1} << 63), {1, 1});
  check_mask(most == (std::uint64_t{1} << 63), {0, 0});
  check_mask(from_vector<std::uint64_t>({0, UINT64_MAX}) > -1, {1, 1});
  const Tensor whole = from_vector<std::int32_t>({1, -2});
  check_close(minimum(whole, above), {1, -2}, {0});
  check_close(maximum(below, whole), {1, -2}, {0});
  check_error([&] { maximum(whole, above); }, {"[maximum]", "2147483648", "i32"});
  check_error([&] { add(whole, above); }, {"[add]", "2147483648", "i32"});
}

TEST_CASE("arange by its end alone begins at 0") {
  check_close(arange(4), {4}, {0, 1, 2, 3}, {0});
  CHECK(arange(4).dtype() == DType::f32);
  const Tensor whole = arange(2.5, DType::i64);
  CHECK(whole.dtype() == DType::i64);
  check_close(whole, {3}, {0, 1, 2}, {0});
  CHECK(arange(0).shape() == Shape{0});
}
