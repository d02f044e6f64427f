// Convolutions of whole numbers of one byte, against sums in i64.
#include "ops/conv/conv_pairs.h"

#include <algorithm>
#include <cmath>

#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;

namespace {

using Numbers = std::vector<std::int64_t>;

struct Images {
  std::int64_t n, c, h, w;
};

/// Numbers of a dtype, of which every fifth is its least and every seventh its greatest number.
Numbers numbers(std::int64_t count, DType dtype, std::int64_t seed) {
  const std::int64_t least = dtype == DType::u8 ? 0 : -128;
  Numbers list(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < list.size(); ++i)
    list[i] = i % 5 == 0   ? least
              : i % 7 == 0 ? least + 255
                           : least + static_cast<std::int64_t>(i * 97 + 31) * seed % 256;
  return list;
}

Tensor tensor(const Numbers& list, const Shape& shape, DType dtype) {
  return from_vector(std::vector<std::int32_t>(list.begin(), list.end()), shape).to(dtype);
}

Numbers numbers_of(const Tensor& x) {
  const auto list = x.to(DType::i32).to_vector<std::int32_t>();
  return Numbers(list.begin(), list.end());
}

struct Operands {
  Operands(DType type, const Images& images, std::int64_t filter_count, const ops::PairWindows& w)
      : x_type(type), size(images), filters(filter_count), windows(w) {
    const std::int64_t taps = windows.taps[0] * windows.taps[1];
    x = numbers(size.n * size.c * size.h * size.w, x_type, 3);
    weight = numbers(filters * size.c * taps, DType::i8, 5);
    zeros = numbers(filters, DType::i8, 11);
    x_zero = x_type == DType::u8 ? 131 : -7;
  }

  Tensor convolve(const ops::Scaling& by) const {
    const Tensor packed =
        ops::pack_filters(tensor(weight, {filters, size.c, windows.taps[0] * windows.taps[1]}, DType::i8),
                          has_zeros ? tensor(zeros, {filters, 1, 1}, DType::i8) : Tensor());
    return ops::convolve_pairs(tensor(x, {size.n, size.c, size.h, size.w}, x_type), tensor({x_zero}, {1}, x_type),
                               packed, windows, by);
  }

  /// The sum for one pixel.
  std::int64_t sum(std::int64_t image, std::int64_t filter, std::int64_t row, std::int64_t column) const {
    std::int64_t all = 0;
    std::size_t at = static_cast<std::size_t>(filter * size.c * windows.taps[0] * windows.taps[1]);
    for (std::int64_t c = 0; c < size.c; ++c)
      for (std::int64_t i = 0; i < windows.taps[0]; ++i)
        for (std::int64_t j = 0; j < windows.taps[1]; ++j, ++at) {
          const std::int64_t h = row * windows.strides[0] - windows.pads[0] + i * windows.dilations[0],
                             w = column * windows.strides[1] - windows.pads[1] + j * windows.dilations[1];
          if (h < 0 || h >= size.h || w < 0 || w >= size.w) continue;
          all += (x[static_cast<std::size_t>(((image * size.c + c) * size.h + h) * size.w + w)] - x_zero) *
                 (weight[at] - (has_zeros ? zeros[static_cast<std::size_t>(filter)] : 0));
        }
    return all;
  }

  Numbers expected(const Shape& shape) const {
    Numbers list;
    for (std::int64_t n = 0; n < shape[0]; ++n)
      for (std::int64_t f = 0; f < shape[1]; ++f)
        for (std::int64_t i = 0; i < shape[2]; ++i)
          for (std::int64_t j = 0; j < shape[3]; ++j) list.push_back(sum(n, f, i, j));
    return list;
  }

  DType x_type;
  Images size;
  std::int64_t filters, x_zero;
  bool has_zeros = true;
  ops::PairWindows windows;
  Numbers x, weight, zeros;
};

void check_sums(const Operands& o) {
  const Tensor y = o.convolve({});
  CHECK(y.dtype() == DType::i32);
  CHECK(numbers_of(y) == o.expected(y.shape()));
}

}  // namespace

TEST_CASE("conv pairs: windows of all kinds") {
  // Widths of 16, 8, 4 and odd numbers of pixels.
  for (const std::int64_t width : {16, 8, 4, 7}) {
    CAPTURE(width);
    check_sums({DType::u8, {2, 3, 5, width}, 7, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}});
  }
  check_sums({DType::i8, {3, 2, 1, 2}, 5, {{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}});
  check_sums({DType::u8, {1, 3, 15, 16}, 4, {{7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 3}}});
  check_sums({DType::i8, {2, 4, 9, 11}, 3, {{2, 3}, {2, 3}, {3, 2}, {2, 1}, {0, 3}}});
  check_sums({DType::u8, {1, 5, 8, 8}, 6, {{1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}});
  check_sums({DType::u8, {2, 1, 12, 30}, 13, {{5, 2}, {1, 3}, {1, 1}, {0, 4}, {2, 0}}});
  // Groups of channels that are not full, and rows of more than 16 pixels.
  check_sums({DType::i8, {2, 6, 9, 37}, 5, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}});
  check_sums({DType::u8, {2, 9, 20, 33}, 35, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}});
  check_sums({DType::u8, {1, 67, 7, 7}, 33, {{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}});
}

TEST_CASE("conv pairs: zero points at the ends of the range") {
  for (const std::int64_t zero : {0, 255, -128, 127}) {
    CAPTURE(zero);
    const bool has_sign = zero == -128 || zero == 127;
    Operands o(has_sign ? DType::i8 : DType::u8, {1, 3, 6, 9}, 4, {{3, 2}, {1, 2}, {1, 1}, {1, 1}, {2, 0}});
    o.x_zero = zero;
    check_sums(o);
    o.has_zeros = false;
    check_sums(o);
  }
}

TEST_CASE("conv pairs: results are scaled by filter, rounded and saturate") {
  const Operands o(DType::u8, {2, 3, 6, 10}, 8, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  std::vector<float> scales(8);
  std::vector<std::int32_t> bias(8);
  for (std::size_t i = 0; i < 8; ++i)
    scales[i] = std::ldexp(1.0f, static_cast<int>(i % 3) - 3), bias[i] = static_cast<std::int32_t>(i * 5000) - 20000;
  ops::Scaling by{.result = DType::i8,
                  .left = from_vector(scales),
                  .right = full({1}, 0.5),
                  .over = full({}, 64),
                  .bias = from_vector(bias),
                  .bias_of_rows = true,
                  .zero = tensor({-9}, {1}, DType::i8)};
  const Tensor y = o.convolve(by);
  const Numbers sums = o.expected(y.shape()), found = numbers_of(y);
  const auto filter_of = [&](std::size_t i) { return i / 60 % 8; };
  const auto scaled = [&](std::size_t i) {
    return static_cast<double>(sums[i] + bias[filter_of(i)]) * scales[filter_of(i)] / 128;
  };
  std::int64_t saturated = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double number = std::nearbyint(scaled(i)) - 9, right = std::clamp(number, -128.0, 127.0);
    saturated += number != right ? 1 : 0;
    CHECK(found[i] == right);
  }
  CHECK(saturated > 0);
  CHECK(saturated < y.numel() / 2);

  by.result = DType::f32;
  by.zero = Tensor();
  const std::vector<float> real = o.convolve(by).to_vector<float>();
  for (std::size_t i = 0; i < sums.size(); ++i) CHECK(std::abs(real[i] - scaled(i)) <= 1e-6 * std::abs(scaled(i)));
}

TEST_CASE("conv pairs: bad operands are refused") {
  const Tensor x = zeros({1, 2, 4, 4}, DType::u8), filters = ops::pack_filters(zeros({3, 2, 9}, DType::i8), {});
  const ops::PairWindows three{{3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, five{{5, 5}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  testing::check_error([&] { ops::convolve_pairs(x.to(DType::f32), {}, filters, three, {}); }, {"u8 or i8"});
  testing::check_error([&] { ops::convolve_pairs(x, zeros({2}, DType::u8), filters, three, {}); },
                       {"one number of u8"});
  const Tensor nothing = zeros({1, 0, 4, 4}, DType::u8),
               no_filters = ops::pack_filters(zeros({3, 0, 9}, DType::i8), {});
  testing::check_error([&] { ops::convolve_pairs(nothing, {}, no_filters, three, {}); }, {"without channels"});
  testing::check_error([&] { ops::convolve_pairs(x, {}, filters, five, {}); }, {"words expected"});
  testing::check_error(
      [&] {
        ops::convolve_pairs(x, {}, ops::pack_filters(zeros({3, 2, 25}, DType::i8), {}), five, {});
      },
      {"a window of 5 elements"});
}
