// Tables of all bytes, against the obvious loop.
#include "ops/quantized/byte_table.h"

#include "crisol/dtype_table.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/elementwise.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;

TEST_CASE("look_up_bytes: both types of bytes, and elements of each size") {
  manual_seed(43);
  for (const DType type : {DType::u8, DType::i8})
    for (const DType element : {DType::u8, DType::i16, DType::f32, DType::i64})
      for (const Shape& shape : {Shape{}, Shape{0}, Shape{7}, Shape{3, 5, 9}, Shape{20011}}) {
        CAPTURE(type);
        CAPTURE(element);
        CAPTURE(shape);
        const Tensor table = (rand({256}) * 100).to(element), x = floor(rand(shape) * 256 - 64).to(DType::i32).to(type);
        const Tensor y = ops::look_up_bytes(table, x);
        CHECK(y.dtype() == element);
        CHECK(y.shape() == shape);
        const auto numbers = x.to(DType::i32).to_vector<std::int32_t>();
        const auto values = table.to(DType::f64).to_vector<double>();
        std::vector<double> expected;
        for (const std::int32_t q : numbers) expected.push_back(values[static_cast<std::size_t>((q + 256) % 256)]);
        CHECK(y.to(DType::f64).to_vector<double>() == expected);
      }
}

TEST_CASE("look_up_bytes: views, and all bytes in their order") {
  const Tensor x = ops::all_bytes(DType::i8, Device());
  CHECK(x.narrow(0, 126, 4).to_vector<std::int8_t>() == std::vector<std::int8_t>{126, 127, -128, -127});
  CHECK(ops::all_bytes(DType::u8, Device()).narrow(0, 254, 2).to_vector<std::uint8_t>() ==
        std::vector<std::uint8_t>{254, 255});
  const Tensor squares = x.to(DType::i32) * x.to(DType::i32), turned = x.reshape({16, 16}).t().narrow(0, 3, 5);
  CHECK(ops::look_up_bytes(squares, turned).to_vector<std::int32_t>() ==
        (turned.to(DType::i32) * turned.to(DType::i32)).to_vector<std::int32_t>());
}

TEST_CASE("look_up_bytes: refusals") {
  const Tensor table = ops::all_bytes(DType::u8, Device());
  testing::check_error([&] { ops::look_up_bytes(table, zeros({3}, DType::i16)); }, {"[look_up_bytes]", "i16"});
  testing::check_error([&] { ops::look_up_bytes(table.narrow(0, 0, 255), zeros({3}, DType::u8)); },
                       {"[look_up_bytes]", "(255)", "256"});
}
