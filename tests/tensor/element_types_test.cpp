// Element types that kernels compute in another type: conversion, rounding, and the ops on them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>

#include "crisol/crisol.h"
#include "crisol/dtype_table.h"
#include "crisol/ops.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/files.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The nearest bf16, with ties to even.
double as_bf16(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(value), -126) - 7);
  const double rounded = std::nearbyint(value / unit) * unit;
  return std::abs(rounded) >= 0x1p128 ? std::copysign(infinity, value) : rounded;
}

std::vector<double> as_bf16(std::vector<double> values) {
  for (double& value : values) value = as_bf16(value);
  return values;
}

/// An op on elements of a type gives what it gives on the values in f32, rounded once.
template <class F>
void check_rounded_once(const Tensor& x, const F& f) {
  const Tensor y = f(x), expected = f(x.to(DType::f32));
  const DType dtype = expected.dtype() == DType::f32 ? x.dtype() : expected.dtype();
  CHECK(y.dtype() == dtype);
  check_close(y, expected.shape(), values_of(expected.to(dtype)), {is_floating(dtype) ? 1.0 : 0.0});
}

}  // namespace

TEST_CASE("bf16: rounding to nearest even, on the host and on the device") {
  std::vector<double> values{1 + 0x1p-8,   1 + 3 * 0x1p-8, 1 + 0x1p-8 + 0x1p-20,
                             -1 - 0x1p-8,  0x1.fep127,     0x1.fefffep127,
                             0x1.ffp127,   0x1.fffffep127, -0x1.fffffep127,
                             0x1p-126,     0x1p-133,       0x1p-134,
                             0x1.8p-134,   3 * 0x1p-134,   -0x1p-149,
                             -0.0,         infinity,       -infinity,
                             std::nan(""), 65504};
  for (const double value : random_values(1, 400, -300, 300)) values.push_back(value);
  const std::vector<double> expected = as_bf16(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double rounded = static_cast<float>(BFloat16(static_cast<float>(values[i])));
    CAPTURE(values[i]);
    CHECK((std::isnan(expected[i]) ? std::isnan(rounded) : rounded == expected[i]));
  }
  const Shape shape{static_cast<std::int64_t>(values.size())};
  for (const Layout layout : all_layouts) {
    const Tensor x = view_of(values, shape, layout), y = x.to(DType::bf16);
    CHECK(y.dtype() == DType::bf16);
    check_close(y, shape, expected, {0});
    check_close(view_of(values, shape, layout, DType::bf16).to(DType::f32), shape, expected, {0});
  }
  // A NaN whose upper bits are those of infinity stays NaN.
  const float nan = std::bit_cast<float>(std::uint32_t{0xff800001u});
  CHECK(std::isnan(static_cast<float>(BFloat16(nan))));
  CHECK(std::isnan(from_vector(std::vector<float>(3, nan)).to(DType::bf16).to_vector<BFloat16>()[2].operator float()));
}

TEST_CASE("bf16: ops compute in f32 and round once") {
  const Tensor x = tensor_of(random_values(2, 7 * 131, -3, 3), {7, 131}, DType::bf16);
  const Tensor other = tensor_of(random_values(3, 131, -3, 3), {131}, DType::bf16);
  const Tensor index = tensor_of(random_integers(4, 7 * 20, 0, 130), {7, 20}, DType::i64);
  const Tensor across = x.transpose(0, 1);
  check_rounded_once(x, [](const Tensor& v) { return exp(v); });
  check_rounded_once(across, [](const Tensor& v) { return v * 2.5 + 1; });
  check_rounded_once(x, [&](const Tensor& v) { return where(v > 0, v, other.to(v.dtype())); });
  check_rounded_once(x, [&](const Tensor& v) { return add(v, other.to(v.dtype())); });
  check_rounded_once(x, [](const Tensor& v) { return sum(v, {1}); });
  check_rounded_once(x, [](const Tensor& v) { return mean(v, {0}); });
  check_rounded_once(across, [](const Tensor& v) { return max(v, {0}); });
  check_rounded_once(x, [](const Tensor& v) { return argmin(v, {1}); });
  check_rounded_once(x, [](const Tensor& v) { return var(v, {1}); });
  check_rounded_once(x, [](const Tensor& v) { return logsumexp(v, {1}); });
  check_rounded_once(x, [](const Tensor& v) { return cumsum(v, 1); });
  check_rounded_once(x, [](const Tensor& v) { return cumprod(v, 0); });
  check_rounded_once(x, [](const Tensor& v) { return logcumsumexp(v, 1); });
  check_rounded_once(x, [](const Tensor& v) { return softmax(v, 1); });
  check_rounded_once(x, [](const Tensor& v) { return ops::sort(v, 1).values; });
  check_rounded_once(x, [](const Tensor& v) { return ops::argsort(v, 0, true); });
  check_rounded_once(x, [](const Tensor& v) { return ops::topk(v, 5, 1).indices; });
  check_rounded_once(x, [&](const Tensor& v) { return gather(v, 1, index); });
  check_rounded_once(x, [&](const Tensor& v) { return scatter_add(v, 1, index, v.narrow(1, 0, 20)); });
  check_rounded_once(x, [](const Tensor& v) { return nonzero(v > 1); });
  check_rounded_once(x, [](const Tensor& v) { return matmul(v, v.transpose(0, 1)); });
  check_rounded_once(x.abs(), [](const Tensor& v) { return sqrt(v.narrow(1, 3, 100)); });
  const Tensor special = tensor_of({1, std::nan(""), -infinity, 0x1p-130, infinity}, {5}, DType::bf16);
  check_close(ops::sort(special).values, {-infinity, 0x1p-130, 1, infinity, std::nan("")}, {0});
  check_close(isnan(special), {0, 1, 0, 0, 0}, {0});
  check_close(isinf(special), {0, 0, 1, 0, 1}, {0});
  CHECK(sum(full({3}, 0x1.8p127, DType::bf16)).to(DType::f32).item() == infinity);
  CHECK(sum(full({1000}, 1, DType::bf16)).to(DType::f32).item() == 1000);
}

TEST_CASE("bf16: gradients have the type of their tensors") {
  const Tensor x = tensor_of(random_values(5, 60), {5, 12}, DType::bf16).requires_grad_();
  const Tensor w = tensor_of(random_values(6, 36), {3, 12}, DType::bf16).requires_grad_();
  const Tensor wide_x = x.detach().to(DType::f32).requires_grad_(), wide_w = w.detach().to(DType::f32).requires_grad_();
  linear(x, w).sigmoid().sum().backward();
  linear(wide_x, wide_w).sigmoid().sum().backward();
  CHECK(x.grad().dtype() == DType::bf16);
  check_close(x.grad(), {5, 12}, values_of(wide_x.grad()), {4});
  check_close(w.grad(), {3, 12}, values_of(wide_w.grad()), {4});
}

TEST_CASE("bf16: autocast computes products in it") {
  const Tensor x = tensor_of(random_values(7, 60), {5, 12}), w = tensor_of(random_values(8, 36), {3, 12});
  const Autocast autocast(DType::bf16);
  const Tensor y = linear(x, w);
  CHECK(y.dtype() == DType::bf16);
  check_close(y, {5, 3}, values_of(matmul(x.to(DType::bf16), w.to(DType::bf16).t())), {1});
  CHECK(softmax(y, 1).dtype() == DType::f32);
}

TEST_CASE("bf16: numbers, texts and files") {
  const Tensor x = full({2}, 1 + 3 * 0x1p-8, DType::bf16);
  CHECK(x.to_vector<BFloat16>()[1].bits == 0x3f82);
  CHECK(from_vector(std::vector<BFloat16>(2, BFloat16(-2.5f))).select(0, 1).item() == -2.5f);
  check_close(arange(0, 4, 1, DType::bf16), {0, 1, 2, 3}, {0});
  std::ostringstream text;
  text << x << x.dtype();
  CHECK(text.str().find("bf16") != std::string::npos);
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/halves.safetensors";
  io::save_safetensors(path, {{"x", x}});
  const Tensor loaded = io::load_safetensors(path)["x"];
  CHECK(loaded.dtype() == DType::bf16);
  check_close(loaded, values_of(x), {0});
}

namespace {

constexpr DType narrow_types[] = {DType::i8, DType::i16, DType::u16, DType::u32};

using Whole = std::vector<std::int64_t>;

/// What an element of a type holds after a whole number was stored in it: the last bits.
std::int64_t stored(std::int64_t value, DType dtype) {
  return with_host_type(dtype, [&](auto element) {
    if constexpr (std::is_integral_v<decltype(element)>) return static_cast<std::int64_t>(decltype(element)(value));
    return value;
  });
}

std::int64_t largest(DType dtype) { return (std::int64_t{1} << dtype_row(dtype).digits) - 1; }
std::int64_t least(DType dtype) { return kind_of(dtype) == DTypeKind::integer ? -largest(dtype) - 1 : 0; }

/// Whole numbers of the whole range of a type, its ends among them.
Whole range_of(DType dtype, std::uint64_t seed, std::size_t count) {
  Whole values{0, 1, 2, largest(dtype), least(dtype), largest(dtype) / 2 + 1};
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  while (values.size() < count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(stored(static_cast<std::int64_t>(state >> 31), dtype));
  }
  return values;
}

Tensor whole_tensor(const Whole& values, DType dtype) { return from_vector(values, dtype); }

Whole whole_values(const Tensor& x) { return x.to(DType::i64).to_vector<std::int64_t>(); }

void check_whole(const Tensor& x, DType dtype, const Whole& expected) {
  CHECK(x.dtype() == dtype);
  CHECK(whole_values(x) == expected);
}

template <class F>
Whole each(const Whole& a, const Whole& b, DType dtype, const F& f) {
  Whole results;
  for (std::size_t i = 0; i < a.size(); ++i) results.push_back(stored(f(a[i], b[i]), dtype));
  return results;
}

std::int64_t floored(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

TEST_CASE("whole numbers of fewer bits: conversions keep the last bits") {
  const Whole all{0,     1,      -1,     127,   128,   -128,  -129,       255,        256,        32767,
                  32768, -32768, -32769, 65535, 65536, 70000, 2147483647, 2147483648, 4294967295, 4294967296 + 5};
  const Tensor source = from_vector(all);
  for (const DType dtype : narrow_types) {
    CAPTURE(dtype);
    Whole expected;
    for (const std::int64_t value : all) expected.push_back(stored(value, dtype));
    const Tensor x = source.to(dtype);
    CHECK(x.dtype() == dtype);
    check_close(x, std::vector<double>(expected.begin(), expected.end()), {0});
    for (const DType to : all_dtypes) {
      if (to == DType::f64 && !Device().info().fp64) continue;
      CAPTURE(to);
      std::vector<double> converted;
      for (const std::int64_t value : expected) {
        const double real = static_cast<double>(value);
        converted.push_back(to == DType::boolean ? value != 0
                            : to == DType::u64   ? static_cast<double>(static_cast<std::uint64_t>(value))
                            : is_whole(to)       ? static_cast<double>(stored(value, to))
                                                 : real);
      }
      if (to == DType::f16)
        for (double& value : converted) value = static_cast<float>(Half(static_cast<float>(value)));
      if (to == DType::bf16) converted = as_bf16(converted);
      if (to == DType::f32)
        for (double& value : converted) value = static_cast<float>(value);
      check_close(x.to(to), converted, {0});
    }
    // Numbers with a fraction are cut toward zero.
    const double low = kind_of(dtype) == DTypeKind::integer ? -3 : 3;
    check_close(from_vector(std::vector<double>{low - 0.75 * (low < 0 ? 1 : -1), 0.5, 100.99}, DType::f32).to(dtype),
                {low, 0, 100}, {0});
    check_close(full({3}, largest(dtype), dtype), std::vector<double>(3, static_cast<double>(largest(dtype))), {0});
    CHECK(full({}, least(dtype), dtype).item<std::int64_t>() == least(dtype));
    check_whole(x.clone().fill_(7), dtype, Whole(all.size(), 7));
    check_whole(view_of({1, 2, 3, 4, 5, 6}, {2, 3}, Layout::strided, dtype).transpose(0, 1).contiguous(), dtype,
                {1, 4, 2, 5, 3, 6});
  }
}

TEST_CASE("whole numbers of fewer bits: pointwise functions wrap around" * doctest::test_suite("long")) {
  for (const DType dtype : narrow_types) {
    CAPTURE(dtype);
    const Whole a = range_of(dtype, 1, 67), b = [&] {
      Whole values = range_of(dtype, 2, 67);
      std::reverse(values.begin(), values.end());
      return values;
    }();
    const Tensor x = whole_tensor(a, dtype), y = whole_tensor(b, dtype);
    const auto check = [&](const Tensor& result, const auto& f) { check_whole(result, dtype, each(a, b, dtype, f)); };
    using Int = std::int64_t;
    check(x + y, [](Int p, Int q) { return p + q; });
    check(x - y, [](Int p, Int q) { return p - q; });
    check(x * y,
          [](Int p, Int q) { return static_cast<Int>(static_cast<std::uint64_t>(p) * static_cast<std::uint64_t>(q)); });
    check(neg(x), [](Int p, Int) { return -p; });
    check(abs(x), [](Int p, Int) { return p < 0 ? -p : p; });
    check(x + 1000, [](Int p, Int) { return p + 1000; });
    check(maximum(x, y), [](Int p, Int q) { return std::max(p, q); });
    check(minimum(x, 5), [](Int p, Int) { return std::min<Int>(p, 5); });
    check(floor_divide(x, y), floored);
    check(remainder(x, y), [](Int p, Int q) { return q == 0 ? 0 : p - q * floored(p, q); });
    check(bitwise_not(x), [](Int p, Int) { return ~p; });
    check(bitwise_xor(x, y), [](Int p, Int q) { return p ^ q; });
    const int bits = static_cast<int>(8 * size_of(dtype));
    check(bitwise_left_shift(x, full({}, 3, dtype)), [](Int p, Int) { return p << 3; });
    check(bitwise_left_shift(x, full({}, bits, dtype)), [](Int, Int) { return 0; });
    check(bitwise_right_shift(x, full({}, 3, dtype)), [](Int p, Int) { return p >> 3; });
    check(where(lt(x, y), x, y), [](Int p, Int q) { return p < q ? p : q; });
    // In one kernel too, each value is one of the type.
    const auto both = fuse([](const Expr& p, const Expr& q) { return maximum(p * q + p, q); });
    check(both(x, y), [&](Int p, Int q) {
      const auto product = static_cast<std::uint64_t>(p) * static_cast<std::uint64_t>(q);
      return std::max(stored(stored(static_cast<Int>(product), dtype) + p, dtype), q);
    });
    // Numbers that the type does not hold are compared as they are.
    CHECK(whole_values(gt(x, -1000000)) == Whole(67, 1));
    CHECK(whole_values(eq(x, largest(dtype) + 1 + stored(1, dtype))) == Whole(67, 0));
    Tensor in_place = x.clone();
    in_place.add_(y);
    check(in_place, [](Int p, Int q) { return p + q; });
    CHECK(div(x, 2).dtype() == DType::f32);
    check_close(sqrt(full({2}, 49, dtype)), {7, 7}, {1});
  }
}

TEST_CASE("whole numbers of fewer bits: reductions, order, indices, products and files" * doctest::test_suite("long")) {
  NamedTensors files;
  for (const DType dtype : narrow_types) {
    CAPTURE(dtype);
    const Whole a = range_of(dtype, 3, 131);
    const Tensor x = whole_tensor(a, dtype);
    std::int64_t total = 0;
    Whole running, sorted = a;
    for (const std::int64_t value : a) running.push_back(total += value);
    std::sort(sorted.begin(), sorted.end());
    check_whole(sum(x), DType::i64, {total});
    check_whole(cumsum(x, 0), DType::i64, running);
    check_whole(prod(x.narrow(0, 1, 4)), DType::i64,
                {static_cast<std::int64_t>(2 * static_cast<std::uint64_t>(largest(dtype)) *
                                           static_cast<std::uint64_t>(least(dtype)))});
    check_whole(max(x), dtype, {largest(dtype)});
    check_whole(min(x), dtype, {least(dtype)});
    check_whole(argmax(x), DType::i64, {std::max_element(a.begin(), a.end()) - a.begin()});
    check_whole(any(x), DType::boolean, {1});
    check_whole(all(x), DType::boolean, {0});
    check_whole(ops::sort(x).values, dtype, sorted);
    check_whole(gather(x, 0, ops::argsort(x)), dtype, sorted);
    check_whole(ops::topk(x, 5).values, dtype, Whole(sorted.rbegin(), sorted.rbegin() + 5));
    check_whole(ops::searchsorted(whole_tensor({1, 3, 5}, dtype), whole_tensor({0, 3, 100}, dtype)), DType::i64,
                {0, 1, 3});
    const Tensor index = whole_tensor({2, 0, 2}, dtype), row = whole_tensor({100, 50, 25}, dtype);
    check_whole(index_select(row, 0, index), dtype, {25, 100, 25});
    check_whole(gather(row, 0, index), dtype, {25, 100, 25});
    check_whole(scatter_add(zeros({3}, dtype), 0, index, row), dtype, {50, 0, stored(125, dtype)});
    check_whole(one_hot(index, 3).sum({0}), DType::i64, {1, 0, 2});
    check_whole(nonzero(row - 50).flatten(), DType::i64, {0, 2});
    check_whole(cat({row, index}, 0), dtype, {100, 50, 25, 2, 0, 2});
    check_whole(matmul(x.narrow(0, 0, 12).reshape({3, 4}), whole_tensor({1, 2, 3, 4}, dtype)), dtype, [&] {
      Whole products;
      for (std::size_t i = 0; i < 12; i += 4)
        products.push_back(stored(a[i] + 2 * a[i + 1] + 3 * a[i + 2] + 4 * a[i + 3], dtype));
      return products;
    }());
    check_whole(arange(0, 4, 1, dtype), dtype, {0, 1, 2, 3});
    std::ostringstream text;
    text << whole_tensor({1, 2}, dtype);
    CHECK(text.str().find(name_of(dtype)) != std::string::npos);
    files.emplace_back(name_of(dtype), x);
  }
  // A negative position counts from the end.
  check_whole(index_select(full({200}, 1, DType::i16), 0, whole_tensor({3}, DType::i8)), DType::i16, {1});
  const TemporaryFolder folder;
  io::save_safetensors(folder.path() + "/whole.safetensors", files);
  const NamedTensors loaded = io::load_safetensors(folder.path() + "/whole.safetensors");
  for (const auto& [name, x] : files) check_whole(loaded[name], x.dtype(), whole_values(x));
}

namespace {

using Natural = std::vector<std::uint64_t>;

bool computes_doubles() { return Device().info().fp64; }

constexpr std::uint64_t top = std::uint64_t{1} << 63, all_bits = ~std::uint64_t{0};

/// Numbers of the whole range of u64, its ends among them.
Natural naturals(std::uint64_t seed, std::size_t count) {
  Natural values{0, 1, 2, all_bits, top, top - 1, top + 1, (std::uint64_t{1} << 53) + 1};
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  while (values.size() < count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(state >> state % 64);
  }
  return values;
}

void check_natural(const Tensor& x, const Natural& expected) {
  REQUIRE(x.dtype() == DType::u64);
  CHECK(x.to_vector<std::uint64_t>() == expected);
}

template <class F>
Natural each_natural(const Natural& a, const Natural& b, const F& f) {
  Natural results;
  for (std::size_t i = 0; i < a.size(); ++i) results.push_back(f(a[i], b[i]));
  return results;
}

}  // namespace

TEST_CASE("u64: numbers, conversions and texts are exact") {
  constexpr Scalar number(top + 5);
  CHECK((number.dtype() == DType::u64 && number.as_double() == 0x1p63));
  CHECK(static_cast<std::uint64_t>(number.as_int()) == top + 5);
  CHECK((Scalar(std::uint64_t{5}).dtype() == DType::i64 && Scalar(top - 1).dtype() == DType::i64));
  CHECK(result_type(from_vector(Natural{1}), number) == DType::u64);
  CHECK(result_type(zeros({1}, DType::boolean), number) == DType::u64);
  check_natural(full({3}, number, DType::u64), Natural(3, top + 5));
  check_natural(full({2}, 0x1p63, DType::u64), Natural(2, top));
  check_natural(full({2}, 1e30, DType::u64), Natural(2, all_bits));
  CHECK(full({}, all_bits, DType::u64).item<std::uint64_t>() == all_bits);
  CHECK(full({}, all_bits, DType::u64).item<double>() == 0x1p64);
  check_natural(zeros({2, 2}, DType::u64).transpose(0, 1).fill_(top + 7), Natural(4, top + 7));
  check_natural(zeros({3}, DType::u64).fill_(-1), Natural(3, all_bits));

  const Natural a = naturals(1, 67);
  const Tensor x = from_vector(a);
  CHECK(x.dtype() == DType::u64);
  for (const DType to : all_dtypes) {
    CAPTURE(to);
    if (to == DType::f64 && !computes_doubles()) continue;
    const Tensor y = x.to(to);
    with_host_type(to, [&](auto element) {
      using T = decltype(element);
      std::vector<double> expected;
      for (const std::uint64_t value : a) {
        if constexpr (std::is_same_v<T, bool>)
          expected.push_back(value != 0);
        else if constexpr (std::is_integral_v<T>)
          expected.push_back(static_cast<double>(static_cast<T>(value)));
        else if constexpr (std::is_class_v<T>)
          expected.push_back(static_cast<float>(T(static_cast<float>(value))));
        else
          expected.push_back(static_cast<T>(value));
      }
      check_close(y, expected, {0});
    });
  }
  check_natural(from_vector(std::vector<std::int64_t>{-1, 5}).to(DType::u64), {all_bits, 5});
  check_natural(from_vector(std::vector<std::int32_t>{-1, 5}).to(DType::u64), {all_bits, 5});
  // Numbers with a fraction are cut toward zero, and negative ones wrap around.
  const std::vector<float> real{0.5f, 3.99f, 0x1p63f, 0x1.fffffep63f, -1.5f, -0.0f, 1e9f, 7.0f, 0x1p40f};
  const Natural cut{0, 3, top, all_bits << 40, all_bits, 0, 1'000'000'000, 7, std::uint64_t{1} << 40};
  check_natural(from_vector(real).to(DType::u64), cut);
  if (computes_doubles()) check_natural(from_vector(real).to(DType::f64).to(DType::u64), cut);
  std::ostringstream text;
  text << from_vector(Natural{1, top + 5}) << from_vector(std::vector<std::int64_t>{top - 1});
  CHECK(text.str() ==
        "tensor([                  1, 9223372036854775813], dtype=u64)tensor([9223372036854775807], dtype=i64)");
  check_natural(from_vector(Natural{1, 2, 3, 4, 5, top}, {2, 3}).transpose(0, 1).contiguous(), {1, 4, 2, 5, 3, top});
}

TEST_CASE("u64: pointwise functions have no sign and wrap around" * doctest::test_suite("long")) {
  const Natural a = naturals(1, 67), b = [] {
    Natural values = naturals(2, 67);
    std::reverse(values.begin(), values.end());
    values[9] = 3;
    return values;
  }();
  const Tensor x = from_vector(a), y = from_vector(b);
  const auto check = [&](const Tensor& result, const auto& f) { check_natural(result, each_natural(a, b, f)); };
  using U = std::uint64_t;
  const auto power = [](U p, U q) {
    U result = 1;
    for (; q != 0; q /= 2, p *= p)
      if (q % 2 != 0) result *= p;
    return result;
  };
  const auto rest = [](U p, U q) { return q == 0 ? 0 : p % q; };
  check(x + y, [](U p, U q) { return p + q; });
  check(x - y, [](U p, U q) { return p - q; });
  check(x * y, [](U p, U q) { return p * q; });
  check(x + top, [](U p, U) { return p + top; });
  check(neg(x), [](U p, U) { return -p; });
  check(abs(x), [](U p, U) { return p; });
  check(relu(x), [](U p, U) { return p; });
  check(sign(x), [](U p, U) { return U{p != 0}; });
  check(square(x), [](U p, U) { return p * p; });
  check(maximum(x, y), [](U p, U q) { return std::max(p, q); });
  check(minimum(x, top + 3), [](U p, U) { return std::min(p, top + 3); });
  check(clamp(x, 5, top), [](U p, U) { return std::clamp(p, U{5}, top); });
  check(floor_divide(x, y), [](U p, U q) { return q == 0 ? 0 : p / q; });
  check(trunc_divide(x, y), [](U p, U q) { return q == 0 ? 0 : p / q; });
  check(remainder(x, y), rest);
  check(fmod(x, y), rest);
  check(pow(x, y), power);
  check(bitwise_not(x), [](U p, U) { return ~p; });
  check(bitwise_xor(x, y), [](U p, U q) { return p ^ q; });
  check(bitwise_and(x, top), [](U p, U) { return p & top; });
  for (const U by : {U{0}, U{3}, U{63}, U{64}, all_bits}) {
    check(bitwise_left_shift(x, full({}, by, DType::u64)), [&](U p, U) { return by > 63 ? 0 : p << by; });
    check(bitwise_right_shift(x, full({}, by, DType::u64)), [&](U p, U) { return by > 63 ? 0 : p >> by; });
  }
  check(where(lt(x, y), x, y), [](U p, U q) { return p < q ? p : q; });
  check(lt(x, y).to(DType::u64), [](U p, U q) { return U{p < q}; });
  check(ge(x, top).to(DType::u64), [](U p, U) { return U{p >= top}; });
  check(eq(x, top + 1).to(DType::u64), [](U p, U) { return U{p == top + 1}; });
  check(logical_not(x).to(DType::u64), [](U p, U) { return U{p == 0}; });
  const auto both = fuse([](const Expr& p, const Expr& q) { return maximum(p * q + p, q); });
  check(both(x, y), [](U p, U q) { return std::max(p * q + p, q); });
  check(x.clone().add_(y), [](U p, U q) { return p + q; });
  std::vector<double> quotients;
  for (const U value : a) quotients.push_back(static_cast<float>(value) / 2);
  check_close(div(x, 2), quotients, {0});
  check_close(sqrt(full({2}, 49, DType::u64)), {7, 7}, {1});
  CHECK(isclose(from_vector(Natural{all_bits, 5, 5}), from_vector(Natural{all_bits - 4, 0, 3}), 0, 4)
            .to(DType::i64)
            .to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 0, 1});
  if (computes_doubles()) CHECK((x + from_vector(std::vector<std::int32_t>{-1})).dtype() == DType::f64);
  // Numbers that the type does not hold.
  check_error([&] { gt(x, -1); }, {"[gt]", "-1", "does not fit u64"});
  check_error([&] { add(x.to(DType::i64), top); }, {"[add]", "does not fit i64"});
  check_error([&] { add(x.to(DType::i32), top); }, {"[add]", "does not fit i32"});
}

TEST_CASE("u64: reductions, order, indices, products and files" * doctest::test_suite("long")) {
  for (const std::size_t count : {131u, 5000u}) {
    const Natural a = naturals(3, count);
    const Tensor x = from_vector(a);
    std::uint64_t total = 0, product = 1;
    Natural running, products, sorted = a;
    for (const std::uint64_t value : a) running.push_back(total += value);
    for (const std::uint64_t value : a) products.push_back(product *= value | 1);
    std::sort(sorted.begin(), sorted.end());
    check_natural(sum(x), {total});
    check_natural(cumsum(x, 0), running);
    check_natural(prod(bitwise_or(x, 1)), {product});
    check_natural(cumprod(bitwise_or(x, 1), 0), products);
    check_natural(max(x), {all_bits});
    check_natural(min(x), {0});
    check_natural(min(maximum(x, 7)), {7});
    check_natural(max(x.reshape({1, -1}).expand({3, static_cast<std::int64_t>(count)}).contiguous(), {0}), a);
    check_whole(argmax(x), DType::i64, {std::max_element(a.begin(), a.end()) - a.begin()});
    check_whole(argmin(x), DType::i64, {std::min_element(a.begin(), a.end()) - a.begin()});
    check_whole(any(x), DType::boolean, {1});
    check_whole(all(x), DType::boolean, {0});
    check_whole(all(maximum(x, 1)), DType::boolean, {1});
    check_natural(ops::sort(x).values, sorted);
    check_natural(gather(x, 0, ops::argsort(x)), sorted);
    check_natural(ops::sort(x, 0, true).values, Natural(sorted.rbegin(), sorted.rend()));
    check_natural(ops::topk(x, 5).values, Natural(sorted.rbegin(), sorted.rbegin() + 5));
  }
  const auto of = [](Natural values) { return from_vector(values); };
  check_whole(ops::searchsorted(of({1, 3, top}), of({0, 3, all_bits})), DType::i64, {0, 1, 3});
  const Tensor index = of({2, 0, 2}), row = of({100, 50, top + 25});
  check_natural(index_select(row, 0, index), {top + 25, 100, top + 25});
  check_natural(gather(row, 0, index), {top + 25, 100, top + 25});
  check_natural(scatter_add(zeros({3}, DType::u64), 0, index, row), {50, 0, top + 125});
  check_natural(index_reduce(zeros({3}, DType::u64), 0, index, row, ScatterReduction::amax), {50, 0, top + 25});
  check_whole(one_hot(index, 3).sum({0}), DType::i64, {1, 0, 2});
  check_whole(nonzero(row - 50).flatten(), DType::i64, {0, 2});
  check_natural(cat({row, index}, 0), {100, 50, top + 25, 2, 0, 2});
  check_natural(masked_select(row, gt(row, 60)), {100, top + 25});
  check_natural(matmul(of({1, 2, top, 3}).reshape({2, 2}), of({5, 7})), {19, 5 * top + 21});
  check_natural(arange(0, 4, 1, DType::u64), {0, 1, 2, 3});
  check_error([&] { index_select(row, 0, of({top})).to_vector<std::uint64_t>(); }, {"index_select"});
  const TemporaryFolder folder;
  const Tensor x = from_vector(naturals(5, 20));
  io::save_safetensors(folder.path() + "/natural.safetensors", {{"x", x}});
  check_natural(io::load_safetensors(folder.path() + "/natural.safetensors")["x"], naturals(5, 20));
}
