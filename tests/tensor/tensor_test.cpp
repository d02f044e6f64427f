#include "crisol/tensor.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "crisol/error.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using crisol::testing::check_error;

TEST_CASE("values survive the way to the device and back, in every dtype") {
  CHECK(from_vector(std::vector<float>{1.5f, -2}, {2}).to_vector<float>() == std::vector<float>{1.5f, -2});
  CHECK(from_vector(std::vector<std::int32_t>{7, -8}).to_vector<std::int32_t>() == std::vector<std::int32_t>{7, -8});
  CHECK(from_vector(std::vector<std::int64_t>{1LL << 40}).item<std::int64_t>() == 1LL << 40);
  CHECK(from_vector(std::vector<std::uint8_t>{0, 255}).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{0, 255});
  CHECK(from_vector(std::vector<Half>{Half(0.5f)}).item() == 0.5f);
  CHECK(ones({2}, DType::boolean).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{1, 1});
}

TEST_CASE("every half survives conversion, and floats round to the nearest half, ties to even") {
  for (int bits = 0; bits < 0x10000; ++bits) {
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float value = static_cast<float>(half);
    if (std::isnan(value))
      CHECK(std::isnan(static_cast<float>(Half(value))));
    else if (Half(value).bits != half.bits)
      FAIL_CHECK("half " << bits << " became " << Half(value).bits);
  }
  CHECK(Half(65519.0f).bits == 0x7bff);
  CHECK(Half(65520.0f).bits == 0x7c00);
  CHECK(Half(1.0f + 0x1p-11f).bits == 0x3c00);
  CHECK(Half(1.0f + 3 * 0x1p-11f).bits == 0x3c02);
  CHECK(Half(0x1p-25f).bits == 0);
  CHECK(Half(0x1.8p-25f).bits == 1);
}

TEST_CASE("creation gives shape, contiguous strides and values") {
  const Tensor x = full({2, 3, 4}, -1.5);
  CHECK(x.shape() == Shape{2, 3, 4});
  CHECK(x.strides() == Shape{12, 4, 1});
  CHECK(x.numel() == 24);
  CHECK(x.size(-1) == 4);
  CHECK(x.is_contiguous());
  CHECK(x.to_vector<float>() == std::vector<float>(24, -1.5f));
  CHECK(arange(0, 1, 0.25).to_vector<float>() == std::vector<float>{0, 0.25f, 0.5f, 0.75f});
  CHECK(arange(3, 0, -1, DType::i64).to_vector<std::int64_t>() == std::vector<std::int64_t>{3, 2, 1});
  CHECK(arange(2, 2).numel() == 0);
  const Tensor scalar = full({}, 4);
  CHECK(scalar.dim() == 0);
  CHECK(scalar.item<int>() == 4);
  const Tensor nothing = empty({3, 0, 2});
  CHECK(nothing.numel() == 0);
  CHECK(nothing.to_vector<float>().empty());
}

TEST_CASE("handles of one tensor see each other's writes") {
  const Tensor a = zeros({3});
  Tensor b = a;
  b.copy_from(std::vector<float>{1, 2, 3});
  CHECK(a.to_vector<float>() == std::vector<float>{1, 2, 3});
  b.fill_(9);
  CHECK(a.to_vector<float>() == std::vector<float>{9, 9, 9});
}

TEST_CASE("views read and write the memory of their base") {
  const Tensor base = arange(0, 24).reshape({2, 3, 4});
  CHECK(base.transpose(0, 2).shape() == Shape{4, 3, 2});
  CHECK(base.transpose(0, 2).to_vector<float>()[1] == 12.0f);
  CHECK(base.permute({1, 2, 0}).to_vector<float>()[1] == 12.0f);
  CHECK(base.narrow(2, 1, 2).to_vector<float>() == std::vector<float>{1, 2, 5, 6, 9, 10, 13, 14, 17, 18, 21, 22});
  CHECK(base.select(1, -1).to_vector<float>() == std::vector<float>{8, 9, 10, 11, 20, 21, 22, 23});
  CHECK(base.select(0, 1).offset() == 12);
  CHECK(base.flatten(1).shape() == Shape{2, 12});
  CHECK(base.reshape({-1, 6}).shape() == Shape{4, 6});
  CHECK(base.unsqueeze(1).shape() == Shape{2, 1, 3, 4});
  CHECK(base.unsqueeze(-1).squeeze(-1).shape() == Shape{2, 3, 4});
  CHECK(arange(0, 3).unsqueeze(1).expand({2, 3, 2}).to_vector<float>() ==
        std::vector<float>{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2});
  for (const Tensor& view : {base.transpose(0, 1), base.narrow(0, 1, 1), base.reshape({24}), base.select(2, 0)})
    CHECK(view.shares_storage_with(base));
  CHECK_FALSE(base.transpose(0, 2).reshape({24}).shares_storage_with(base));
  Tensor column = base.select(2, 3);
  column.fill_(-1);
  CHECK(base.to_vector<float>()[3] == -1.0f);
  CHECK(base.to_vector<float>()[2] == 2.0f);
  column.copy_from(std::vector<float>{50, 51, 52, 53, 54, 55});
  CHECK(base.to_vector<float>()[23] == 55.0f);
}

TEST_CASE("contiguous() is the tensor itself where it can be, clone() never") {
  const Tensor x = arange(0, 6).reshape({2, 3});
  CHECK(x.contiguous().impl() == x.impl());
  CHECK_FALSE(x.clone().shares_storage_with(x));
  const Tensor t = x.transpose(0, 1).contiguous();
  CHECK(t.is_contiguous());
  CHECK(t.to_vector<float>() == std::vector<float>{0, 3, 1, 4, 2, 5});
  CHECK(x.to(x.device()).impl() == x.impl());
  CHECK(x.to(DType::f32).impl() == x.impl());
}

TEST_CASE("copy_from broadcasts and converts") {
  Tensor x = zeros({2, 3});
  x.copy_from(from_vector(std::vector<std::int32_t>{1, 2, 3}));
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("numbers beyond a whole dtype become its lowest bits, those beyond 64 bits the nearest, NaN 0") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::u8, DType::i32, DType::i64}) {
    CAPTURE(dtype);
    // Filled by the host, and by a kernel.
    const auto check = [&](double value, std::int64_t expected) {
      CHECK(full({1}, value, dtype).item<std::int64_t>() == expected);
      CHECK(zeros({2}, dtype).select(0, 1).fill_(value).item<std::int64_t>() == expected);
    };
    check(-1, dtype == DType::u8 ? 255 : -1);
    check(1.9, 1);
    check(std::nan(""), 0);
    check(0x1p32 + 2, dtype == DType::i64 ? (std::int64_t{1} << 32) + 2 : 2);
    check(infinity, dtype == DType::u8 ? 255 : dtype == DType::i32 ? -1 : std::numeric_limits<std::int64_t>::max());
    check(-infinity, dtype == DType::i64 ? std::numeric_limits<std::int64_t>::min() : 0);
  }
}

TEST_CASE("wrong uses of a tensor are refused with the values") {
  const Tensor x = zeros({2, 3});
  check_error([&] { x.to_vector<std::int32_t>(); }, {"holds f32", "i32"});
  check_error([&] { x.item(); }, {"[item]", "6 elements", "(2, 3)"});
  check_error([&] { x.size(2); }, {"axis 2", "rank 2"});
  check_error([&] { Tensor(x).copy_from(std::vector<float>{1}); }, {"[copy_from]", "1 values", "(2, 3)"});
  check_error([&] { from_vector(std::vector<float>{1, 2}, {3}); }, {"2 values", "(3)"});
  const std::int64_t wide = std::int64_t{1} << 32;  // The product of two overflows to 0.
  check_error([&] { from_vector(std::vector<float>{}, {wide, wide}); }, {"[from_vector]", "too many elements"});
  check_error([&] { arange(0, 1e30); }, {"[arange]", "1e+30"});
  check_error([&] { empty({2, -1}); }, {"negative size", "(2, -1)"});
  check_error([&] { arange(0, 1, 0); }, {"[arange]", "step 0"});
  check_error([&] { arange(0, 1, -1); }, {"[arange]", "leads away"});
  check_error([&] { Shape::filled(Shape::max_rank + 1, 1); }, {"at most 25", "26"});
  check_error([&] { x.reshape({4, 2}); }, {"reshape", "(2, 3)", "(4, 2)"});
  check_error([&] { x.narrow(1, 2, 2); }, {"narrow"});
  check_error([&] { x.select(0, 2); }, {"select", "index 2"});
  check_error([&] { x.flatten(1, 0); }, {"flatten"});
  check_error([] { Tensor().shape(); }, {"undefined"});
  check_error([&] { zeros({1}, DType::i32).requires_grad_(); }, {"requires_grad_", "i32"});
}

TEST_CASE("printing is like PyTorch's") {
  const auto print = [](const Tensor& x) {
    std::ostringstream out;
    out << x;
    return out.str();
  };
  CHECK(print(arange(0, 6).reshape({2, 3})) == "tensor([[0., 1., 2.],\n        [3., 4., 5.]])");
  CHECK(print(from_vector(std::vector<float>{0.5f, -10})) == "tensor([  0.5000, -10.0000])");
  CHECK(print(from_vector(std::vector<float>{1e-6f, 1})) == "tensor([1.0000e-06, 1.0000e+00])");
  CHECK(print(arange(0, 3, 1, DType::i64)) == "tensor([0, 1, 2], dtype=i64)");
  CHECK(print(full({}, 2)) == "tensor(2.)");
  CHECK(print(ones({2}, DType::boolean)) == "tensor([true, true], dtype=bool)");
  CHECK(print(empty({0})) == "tensor([], shape=(0))");
  CHECK(print(Tensor()) == "tensor(undefined)");
  CHECK(print(ones({2}).mul(100000)) == "tensor([100000., 100000.])");
  CHECK(print(from_vector(std::vector<float>{NAN, 1, -INFINITY, 0})) == "tensor([nan, 1., -inf, 0.])");
  CHECK(print(arange(0, 2).to(DType::boolean)) == "tensor([false,  true], dtype=bool)");
  CHECK(print(from_vector(std::vector<std::int64_t>{1000000, 5})) == "tensor([1000000,       5], dtype=i64)");
  CHECK(print(zeros({2, 0})) == "tensor([], shape=(2, 0))");
  CHECK(
      print(arange(0, 30)) ==
      "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n        14., 15., 16., 17., 18., "
      "19., 20., 21., 22., 23., 24., 25., 26., 27.,\n        28., 29.])");
  CHECK(print(arange(0, 2000)) ==
        "tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,\n        1.9990e+03])");
  CHECK(print(arange(0, 2000, 1, DType::i64)) == "tensor([   0,    1,    2,  ..., 1997, 1998, 1999], dtype=i64)");
  CHECK(print(zeros({1, 2, 1})) == "tensor([[[0.],\n         [0.]]])");
  CHECK(print(zeros({2, 1, 1})) == "tensor([[[0.]],\n\n        [[0.]]])");
}

TEST_CASE("options of printing") {
  const auto print = [](const Tensor& x, const PrintOptions& options) {
    std::ostringstream out;
    set_print_options(options);
    out << x;
    set_print_options({});
    return out.str();
  };
  const Tensor x = from_vector(std::vector<float>{1.123456f, 3});
  CHECK(print(x, {.precision = 2}) == "tensor([1.12, 3.00])");
  CHECK(print(x, {.scientific = true}) == "tensor([1.1235e+00, 3.0000e+00])");
  CHECK(print(from_vector(std::vector<float>{1e-5f, 2}), {.scientific = false}) == "tensor([0.0000, 2.0000])");
  CHECK(print(arange(0, 10), {.threshold = 5, .edge_items = 2}) == "tensor([0., 1.,  ..., 8., 9.])");
  CHECK(print(arange(0, 4), {.line_width = 20}) == "tensor([0., 1., 2.,\n        3.])");
  check_error([] { set_print_options({.precision = -1}); }, {"[set_print_options] precision -1 is negative"});
  check_error([] { set_print_options({.edge_items = 0}); }, {"[set_print_options] edge_items 0 is less than 1"});
  CHECK(print_options().precision == 4);
}

TEST_CASE("a position or an axis that does not exist is OutOfRange") {
  const Tensor x = ones({2, 3});
  CHECK_THROWS_AS(x.transpose(0, 2), OutOfRange);
  CHECK_THROWS_AS(x.unsqueeze(4), OutOfRange);
  CHECK_THROWS_AS(x.select(1, 3), OutOfRange);
  CHECK_THROWS_AS(x[{2}], OutOfRange);
}
