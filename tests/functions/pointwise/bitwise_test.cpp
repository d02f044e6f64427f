// Functions on whole numbers and on bits.
#include "crisol/functions/bitwise.h"

#include <limits>

#include "crisol/c/crisol.h"
#include "crisol/functions/elementwise.h"
#include "doctest/doctest.h"
#include "ops/pointwise/whole_rows.h"
#include "reference/whole.h"
#include "support/compare.h"
#include "support/coverage.h"

namespace crisol {

namespace {

using reference::WholeFunction;
using testing::check_error;
using Numbers = std::vector<std::int64_t>;

/// All pairs of the numbers that are interesting for a dtype.
void pairs(DType dtype, Numbers& a, Numbers& b) {
  Numbers values{0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 100};
  if (dtype == DType::u8) values.insert(values.end(), {127, 128, 254, 255});
  if (dtype != DType::u8) values.insert(values.end(), {-1, -2, -7, -8, -64, 65537});
  if (dtype == DType::i32) values.insert(values.end(), {INT32_MIN, INT32_MAX});
  if (dtype == DType::i64) values.insert(values.end(), {INT64_MIN, INT64_MAX, std::int64_t{1} << 40});
  for (const std::int64_t x : values)
    for (const std::int64_t y : values) a.push_back(x), b.push_back(y);
}

}  // namespace

TEST_CASE("whole numbers: every function, every dtype, and the numbers where it wraps or has no value" *
          doctest::test_suite("long")) {
  const auto& functions = reference::whole_functions();
  REQUIRE(functions.size() == ops::whole_rows().size());
  const testing::MustRun variants("pointwise", {testing::on_cpus("chunks"), "items"});
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const WholeFunction& f = functions[i];
    CAPTURE(std::string(f.name));
    CHECK(std::string(f.name) == ops::whole_rows()[i]->name);
    CHECK(f.inputs == ops::whole_rows()[i]->input_count);
    for (const DType dtype : {DType::i32, DType::i64, DType::u8}) {
      CAPTURE(dtype);
      Numbers a, b;
      pairs(dtype, a, b);
      const Tensor x = from_vector(a, dtype), y = from_vector(b, dtype);
      testing::for_each_variant(variants, [&] {
        const Tensor z = f.call(x, y);
        CHECK(z.dtype() == dtype);
        CHECK(z.to(DType::i64).to_vector<std::int64_t>() == f.expected(a, b, dtype));
      });
    }
  }
}

TEST_CASE("whole numbers: broadcasting, promotion, and numbers as operands") {
  const Tensor column = from_vector<std::int32_t>({1, 6}, {2, 1}), row = from_vector<std::int64_t>({3, 4, 5});
  const Tensor both = bitwise_and(column, row);
  CHECK(both.dtype() == DType::i64);
  CHECK(both.shape() == Shape{2, 3});
  CHECK(both.to_vector<std::int64_t>() == Numbers{1, 0, 1, 2, 4, 4});
  const Tensor shifted = bitwise_left_shift(1, column);
  CHECK(shifted.dtype() == DType::i32);
  CHECK(shifted.to_vector<std::int32_t>() == std::vector<std::int32_t>{2, 64});
  CHECK(trunc_divide(row.narrow(0, 1, 2), -3).to_vector<std::int64_t>() == Numbers{-1, -1});
  CHECK(trunc_divide(zeros({0}, DType::i64), row.narrow(0, 0, 1)).shape() == Shape{0});
}

TEST_CASE("whole numbers: what is refused") {
  const Tensor whole = zeros({3}, DType::i32);
  check_error([&] { bitwise_and(whole, ones({3})); }, {"[bitwise_and]", "f32", "whole numbers"});
  const Tensor mask = zeros({3}, DType::boolean);
  check_error([&] { bitwise_left_shift(mask, mask); }, {"[bitwise_left_shift]", "bool"});
  check_error([&] { trunc_divide(mask, mask); }, {"[trunc_divide]", "bool"});
  check_error([&] { trunc_divide(whole, 0.5); }, {"[trunc_divide]", "f32"});
  check_error([&] { bitwise_or(whole, zeros({2}, DType::i32)); }, {"[bitwise_or]", "(3)", "(2)"});
  check_error([&] { bitwise_xor(Tensor(), whole); }, {"[bitwise_xor]", "undefined"});
  check_error([&] { bitwise_right_shift(whole, std::int64_t{1} << 40); }, {"[bitwise_right_shift]", "i32"});
}

TEST_CASE("bit_cast: the bits of f32, and what is refused") {
  const Tensor x = from_vector<float>({1, -0.0f, std::numeric_limits<float>::infinity(), 3, 4, 5}, {2, 3});
  const Tensor bits = bit_cast(x.transpose(0, 1), DType::i32);
  CHECK(bits.shape() == Shape{3, 2});
  CHECK(bits.to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{0x3f800000, 0x40400000, INT32_MIN, 0x40800000, 0x7f800000, 0x40a00000});
  CHECK(bit_cast(bits, DType::f32).to_vector<float>() == x.transpose(0, 1).to_vector<float>());
  CHECK(bit_cast(from_vector<float>({1}).narrow(0, 0, 1), DType::f32).item() == 1);
  CHECK(bit_cast(ones({2}, DType::boolean), DType::u8).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{1, 1});
  CHECK(!bit_cast(ones({2}).requires_grad_(), DType::i32).requires_grad());
  check_error([] { bit_cast(ones({3}), DType::i64); }, {"[bit_cast]", "(3)", "f32", "4", "i64", "8"});
  check_error([] { bit_cast(ones({}), DType::u8); }, {"[bit_cast]", "f32", "u8"});
  check_error([] { bit_cast(ones({2}, DType::u8), DType::boolean); }, {"[bit_cast]", "u8", "bool"});
  check_error([] { bit_cast(Tensor(), DType::i64); }, {"[bit_cast]", "undefined"});
}

TEST_CASE("bit_cast: elements of another size change the last axis") {
  const Tensor x = from_vector<std::uint16_t>({0x0102, 0x0304, 0x0506, 0x0708}, {2, 2});
  const Tensor bytes = bit_cast(x.transpose(0, 1), DType::u8);
  CHECK(bytes.shape() == Shape{2, 4});
  CHECK(bytes.to_vector<std::uint8_t>() == std::vector<std::uint8_t>{2, 1, 6, 5, 4, 3, 8, 7});
  const Tensor wide = bit_cast(bytes, DType::u32);
  CHECK(wide.shape() == Shape{2, 1});
  CHECK(wide.to_vector<std::uint32_t>() == std::vector<std::uint32_t>{0x05060102, 0x07080304});
  CHECK(bit_cast(zeros({0, 8}, DType::u8), DType::i64).shape() == Shape{0, 1});
}

TEST_CASE("whole numbers: from C by name") {
  crisol_tensor *x = nullptr, *y = nullptr;
  const std::int64_t size = 2;
  const std::int64_t values[] = {13, -9};
  crisol_device device = 0;
  REQUIRE(crisol_default_device(&device) == CRISOL_OK);
  REQUIRE(crisol_tensor_create(device, CRISOL_I64, 1, &size, values, &x) == CRISOL_OK);
  const crisol_operand operands[] = {{x, 0}, {nullptr, 4}};
  CHECK(crisol_pointwise("trunc_divide", 2, operands, 0, nullptr, &y) == CRISOL_OK);
  std::int64_t results[2] = {};
  CHECK(crisol_tensor_read(y, results, sizeof results) == CRISOL_OK);
  CHECK(results[0] == 3);
  CHECK(results[1] == -2);
  crisol_tensor_destroy(x);
  crisol_tensor_destroy(y);
}

}  // namespace crisol
