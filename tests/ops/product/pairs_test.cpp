// Products of whole numbers of one byte, against sums in i64.
#include "ops/product/pairs.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "crisol/ops/matmul.h"
#include "dispatch/target.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/launches.h"

using namespace crisol;

namespace {

using Numbers = std::vector<std::int64_t>;

/// Numbers of a dtype, with its least and its greatest number among them.
Numbers numbers(std::int64_t count, DType dtype, std::uint32_t seed, bool extreme) {
  const std::int64_t least = dtype == DType::u8 ? 0 : -128, greatest = least + 255;
  std::mt19937 random(seed);
  Numbers list(static_cast<std::size_t>(count));
  for (auto& x : list)
    x = extreme ? (random() % 2 != 0 ? least : greatest) : least + static_cast<std::int64_t>(random() % 256);
  return list;
}

Tensor tensor(const Numbers& list, const Shape& shape, DType dtype) {
  std::vector<std::int32_t> narrow(list.begin(), list.end());
  return from_vector(narrow, shape).to(dtype);
}

std::int64_t zero_of(const Numbers& zero, std::int64_t line) {
  return zero.empty() ? 0 : zero[zero.size() == 1 ? 0 : static_cast<std::size_t>(line)];
}

/// (m, k) times (k, n), minus the zero points.
Numbers product(const Numbers& a, const Numbers& a_zero, const Numbers& b, const Numbers& b_zero, std::int64_t m,
                std::int64_t k, std::int64_t n) {
  Numbers y(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t t = 0; t < k; ++t)
      for (std::int64_t j = 0; j < n; ++j)
        y[static_cast<std::size_t>(i * n + j)] += (a[static_cast<std::size_t>(i * k + t)] - zero_of(a_zero, i)) *
                                                  (b[static_cast<std::size_t>(t * n + j)] - zero_of(b_zero, j));
  return y;
}

Numbers numbers_of(const Tensor& x) {
  const auto list = x.to(DType::i32).to_vector<std::int32_t>();
  return Numbers(list.begin(), list.end());
}

struct Operands {
  Operands(DType a_type, DType b_type, std::int64_t rows, std::int64_t depth, std::int64_t columns,
           std::int64_t a_zeros, std::int64_t b_zeros, bool extreme = false)
      : m(rows),
        k(depth),
        n(columns),
        a(numbers(m * k, a_type, 1, extreme)),
        b(numbers(k * n, b_type, 2, extreme)),
        a_zero(numbers(a_zeros, a_type, 3, extreme)),
        b_zero(numbers(b_zeros, b_type, 4, extreme)),
        left(tensor(a, {m, k}, a_type)),
        right(tensor(b, {k, n}, b_type)),
        left_zero(a_zeros == 0 ? Tensor() : tensor(a_zero, {a_zeros, 1}, a_type)),
        right_zero(b_zeros == 0 ? Tensor() : tensor(b_zero, {b_zeros}, b_type)) {}

  Numbers expected() const { return product(a, a_zero, b, b_zero, m, k, n); }
  Tensor scaled(const ops::Scaling& by) const {
    return ops::multiply_pairs(ops::pack_rows(left, left_zero), ops::pack_panels(right, right_zero), n, by);
  }

  std::int64_t m, k, n;
  Numbers a, b, a_zero, b_zero;
  Tensor left, right, left_zero, right_zero;
};

void check_sums(const Operands& o) { CHECK(numbers_of(o.scaled({})) == o.expected()); }

}  // namespace

TEST_CASE("pairs: all types of bytes, odd sizes and zero points") {
  for (const DType a : {DType::u8, DType::i8})
    for (const DType b : {DType::u8, DType::i8}) {
      CAPTURE(name_of(a));
      CAPTURE(name_of(b));
      check_sums({a, b, 1, 1, 1, 0, 0});
      check_sums({a, b, 7, 33, 17, 1, 0});
      check_sums({a, b, 13, 40, 35, 13, 35});
      check_sums({a, b, 6, 70, 16, 0, 1});
      check_sums({a, b, 9, 131, 50, 1, 50, true});
      // Parts of tiles of 16 and 32 rows, and depths of several tiles.
      check_sums({a, b, 17, 256, 49, 1, 49, true});
      check_sums({a, b, 47, 290, 33, 1, 33, true});
      check_sums({a, b, 33, 545, 16, 0, 0, true});
      // One row, one column, and a zero point of its own for each row and column.
      check_sums({a, b, 1, 100, 33, 1, 1, true});
      check_sums({a, b, 37, 100, 1, 37, 1, true});
      check_sums({a, b, 40, 64, 40, 40, 40, true});
      check_sums({a, b, 16, 63, 32, 1, 0});
      check_sums({a, b, 18, 65, 3, 0, 3});
    }
}

TEST_CASE("pairs: the instruction that adds products to sums is used where the device has it") {
  std::ifstream processor("/proc/cpuinfo");
  const std::string text((std::istreambuf_iterator<char>(processor)), {});
  const auto has = [&](const char* feature) { return text.find(feature) != std::string::npos; };
  const bool has_vnni = has(" avx512_vnni"), has_tiles = has(" amx_tile") && has(" amx_int8");
  const std::string found = ops::found_pairs(Device().state()).found;
  // PoCL names the instructions for which it compiles. The system may refuse the permission for tiles.
  if (has_vnni && Device().info().name.find("avx512") != std::string::npos)
    CHECK((found == "vpdpwssd" || (has_tiles && found == "tdpbssd")));
  if (!has_vnni && !text.empty()) CHECK(found != "vpdpwssd");
  if (!has_tiles && !text.empty()) CHECK(found != "tdpbssd");
  CHECK(ops::pair_columns(Device().state()) == (found == "vpdpwssd" || found == "tdpbssd" ? 32 : 16));
  CHECK(ops::pair_rows(Device().state()) == (found == "tdpbssd" ? 32 : 6));
}

TEST_CASE("pairs: products of bytes by products of floats are exact where there is no instruction") {
  // The sums of 259 products of 255 and 255 are above 2^24.
  for (const DType a : {DType::u8, DType::i8})
    for (const std::int64_t depth : {0, 1, 257, 518, 1025}) {
      CAPTURE(depth);
      const Operands o(a, DType::u8, 3, depth, 5, 0, 0, true);
      CHECK(numbers_of(ops::matmul_of_bytes(o.left, o.right)) == o.expected());
    }
}

TEST_CASE("pairs: sums of a long depth are exact") {
  check_sums({DType::u8, DType::u8, 2, 3999, 3, 0, 0, true});
  check_sums({DType::i8, DType::u8, 3, 2048, 18, 1, 1, true});
}

TEST_CASE("pairs: sums near the ends of i32") {
  // 33025 products of 255 and 255. One more would not fit.
  constexpr std::int64_t depth = 33025, greatest = depth * 255 * 255;
  const auto line = [](std::int64_t number, DType dtype) { return full({1, depth}, number, dtype); };
  const auto zero = [](std::int64_t number, DType dtype) { return full({}, number, dtype); };
  CHECK(numbers_of(ops::matmul_of_bytes(line(255, DType::u8), line(255, DType::u8).t())) == Numbers{greatest});
  if (dispatch::traits_of(Device().state()).loop_budget < 8 * depth) {
    testing::check_error([&] { ops::pack_panels(line(0, DType::u8).t(), {}); }, {"a depth of 33025"});
    return;
  }
  const Tensor above = ops::pack_rows(line(255, DType::u8), zero(0, DType::u8)),
               below = ops::pack_rows(line(-128, DType::i8), zero(127, DType::i8)),
               panels = ops::pack_panels(line(0, DType::u8).t(), zero(255, DType::u8));
  CHECK(numbers_of(ops::multiply_pairs(above, panels, 1)) == Numbers{-greatest});
  CHECK(numbers_of(ops::multiply_pairs(below, panels, 1)) == Numbers{greatest});
  CHECK(ops::multiply_pairs(below, panels, 1, {.result = DType::f32}).item() == static_cast<float>(greatest));
  // Sums beyond the ends are right modulo 2^32.
  const Tensor white = full({2, 33100}, 255, DType::u8);
  CHECK(numbers_of(ops::multiply_pairs(ops::pack_rows(white, {}), ops::pack_panels(white.narrow(0, 0, 1).t(), {}),
                                       1)) == Numbers(2, 33100LL * 255 * 255 - (1LL << 32)));
  const Tensor one = full({}, 1.0);
  for (const DType dtype : {DType::u8, DType::i8}) {
    const ops::Scaling by{.result = dtype, .left = one, .right = one, .zero = zero(100, dtype)};
    const std::int64_t least = dtype == DType::u8 ? 0 : -128;
    CHECK(numbers_of(ops::multiply_pairs(above, panels, 1, by)) == Numbers{least});
    CHECK(numbers_of(ops::multiply_pairs(below, panels, 1, by)) == Numbers{least + 255});
  }
}

TEST_CASE("pairs: scales in any layout") {
  const Operands o(DType::u8, DType::i8, 5, 18, 20, 1, 0);
  const Tensor rows = arange(1, 11).reshape({5, 2}).narrow(1, 1, 1), columns = full({1}, 0.5).expand({20});
  const Tensor y = o.scaled({.result = DType::f32, .left = rows, .right = columns});
  const Numbers sums = o.expected();
  const auto found = y.to_vector<float>();
  for (std::size_t i = 0; i < sums.size(); ++i)
    CHECK(found[i] == static_cast<float>(sums[i]) * static_cast<float>(i / 20 * 2 + 2) * 0.5f);
}

TEST_CASE("pairs: many rows are cut into blocks, and an empty depth gives zeros") {
  check_sums({DType::u8, DType::i8, 150, 20, 20, 1, 0});
  const Tensor y = ops::multiply_pairs(ops::pack_rows(zeros({2, 0}, DType::u8), {}),
                                       ops::pack_panels(zeros({0, 3}, DType::i8), {}), 3);
  CHECK(y.shape() == Shape{1, 2, 3});
}

TEST_CASE("pairs: matrices of any layout, and several products") {
  const Operands o(DType::u8, DType::i8, 5, 19, 21, 1, 21);
  const Tensor left = o.left.t().contiguous().t(), right = o.right.t().contiguous().t();
  const Tensor rows = ops::pack_rows(left, o.left_zero), panels = ops::pack_panels(right, o.right_zero);
  CHECK(numbers_of(ops::multiply_pairs(rows, panels, o.n)) == o.expected());

  Numbers twice = o.expected();
  twice.insert(twice.end(), twice.begin(), twice.begin() + o.m * o.n);
  const Tensor lefts = ops::pack_rows(o.left.expand({2, o.m, o.k}), o.left_zero),
               rights = ops::pack_panels(o.right.expand({2, o.k, o.n}), o.right_zero);
  CHECK(numbers_of(ops::multiply_pairs(lefts, rights, o.n)) == twice);
  CHECK(numbers_of(ops::multiply_pairs(lefts, panels, o.n)) == twice);
  CHECK(numbers_of(ops::multiply_pairs(rows, rights, o.n)) == twice);
}

TEST_CASE("pairs: the heads of attention are packed where they are") {
  const Tensor tokens = tensor(numbers(2 * 19 * 3 * 21, DType::i8, 5, false), {2, 19, 3, 21}, DType::i8);
  const Tensor heads = tokens.permute({0, 2, 1, 3}), turned = heads.transpose(2, 3);
  Tensor rows, columns, panels;
  CHECK(testing::launches_of([&] { rows = ops::pack_rows(heads, {}); }) == 1);
  CHECK(testing::launches_of([&] { columns = ops::pack_panels(turned, {}); }) == 1);
  CHECK(testing::launches_of([&] { panels = ops::pack_panels(heads, {}); }) == 1);
  CHECK(numbers_of(rows) == numbers_of(ops::pack_rows(heads.contiguous(), {})));
  CHECK(numbers_of(columns) == numbers_of(ops::pack_panels(turned.contiguous(), {})));
  CHECK(numbers_of(panels) == numbers_of(ops::pack_panels(heads.contiguous(), {})));
  const Tensor five = tokens.reshape({2, 19, 3, 3, 7}).permute({3, 2, 0, 4, 1});
  CHECK(numbers_of(ops::pack_rows(five, {})) == numbers_of(ops::pack_rows(five.contiguous(), {})));
}

TEST_CASE("pairs: matmul_of_bytes") {
  const Operands o(DType::u8, DType::i8, 7, 21, 18, 0, 0, true);
  CHECK(numbers_of(ops::matmul_of_bytes(o.left, o.right)) == o.expected());
  CHECK(numbers_of(ops::matmul_of_bytes(o.left.t().contiguous().t(), o.right)) == o.expected());
  testing::check_error([&] { ops::matmul_of_bytes(o.left, o.left); }, {"[matmul_of_bytes]", "(7, 21) and (7, 21)"});
  testing::check_error([&] { ops::matmul_of_bytes(o.left, o.right.to(DType::f32)); }, {"u8 or i8"});
}

TEST_CASE("pairs: scaled sums in f32") {
  const Operands o(DType::u8, DType::i8, 11, 25, 37, 1, 0);
  const Numbers sums = o.expected();
  std::vector<float> scales(37), bias(37), rows(11);
  for (std::size_t j = 0; j < 37; ++j) scales[j] = 0.01f * static_cast<float>(j + 1), bias[j] = static_cast<float>(j);
  for (std::size_t i = 0; i < 11; ++i) rows[i] = 0.5f + static_cast<float>(i);
  const ops::Scaling by{.result = DType::f32,
                        .left = from_vector(rows, {11}),
                        .right = from_vector(scales, {37}),
                        .bias = from_vector(bias, {37})};
  const std::vector<float> y = o.scaled(by).to_vector<float>();
  for (std::size_t i = 0; i < 11; ++i)
    for (std::size_t j = 0; j < 37; ++j) {
      const double right = static_cast<double>(sums[i * 37 + j]) * rows[i] * scales[j] + bias[j];
      CHECK(std::abs(y[i * 37 + j] - right) <= 1e-5 * (std::abs(right) + 100));
    }
}

TEST_CASE("pairs: results are rounded and saturate") {
  for (const DType dtype : {DType::u8, DType::i8}) {
    const Operands o(DType::i8, DType::i8, 8, 14, 20, 1, 1);
    const Numbers sums = o.expected();
    std::vector<std::int32_t> bias(20);
    for (std::size_t j = 0; j < 20; ++j) bias[j] = static_cast<std::int32_t>(j) * 100 - 1000;
    for (const bool of_rows : {false, true}) {
      const ops::Scaling by{.result = dtype,
                            .left = from_vector(std::vector<float>{0.25f}, {1}),
                            .right = from_vector(std::vector<float>{0.5f}, {1}),
                            .over = from_vector(std::vector<float>{16.0f}, {1}),
                            .bias = from_vector(bias, {20}).narrow(0, 0, of_rows ? 8 : 20),
                            .bias_of_rows = of_rows,
                            .zero = tensor({dtype == DType::u8 ? 100 : -3}, {1}, dtype)};
      const Numbers y = numbers_of(o.scaled(by));
      std::int64_t saturated = 0;
      for (std::size_t i = 0; i < 8; ++i)
        for (std::size_t j = 0; j < 20; ++j) {
          const double number = std::nearbyint(static_cast<double>(sums[i * 20 + j] + bias[of_rows ? i : j]) / 128) +
                                (dtype == DType::u8 ? 100 : -3);
          const double least = dtype == DType::u8 ? 0 : -128, right = std::clamp(number, least, least + 255);
          saturated += right != number ? 1 : 0;
          CHECK(y[i * 20 + j] == right);
        }
      CHECK(saturated > 0);
    }
  }
}

TEST_CASE("pairs: bad operands are refused") {
  const Tensor bytes = zeros({4, 6}, DType::u8);
  testing::check_error([&] { ops::pack_rows(bytes.to(DType::i32), {}); }, {"[multiply_pairs]", "u8 or i8"});
  testing::check_error([&] { ops::pack_rows(bytes, zeros({3, 1}, DType::u8)); }, {"(3, 1)"});
  testing::check_error([&] { ops::pack_panels(bytes, zeros({6}, DType::i8)); }, {"zero point of i8"});
  testing::check_error(
      [&] {
        ops::multiply_pairs(ops::pack_rows(bytes, {}), ops::pack_panels(zeros({90, 6}, DType::u8), {}), 6);
      },
      {"do not fit"});
}
