// The values that the array API standard (2025.12) demands at zeros, infinities and NaN, the limits of whole numbers,
// and nextafter.
#include <cmath>
#include <limits>

#include "crisol/functions/elementwise.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/skip.h"

namespace crisol {

namespace {

using testing::check_error;
using Floats = std::vector<float>;
using Longs = std::vector<std::int64_t>;

constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

struct Pair {
  float a, b, y;
};

bool same(float actual, float expected) {
  if (std::isnan(expected)) return std::isnan(actual);
  return actual == expected && std::signbit(actual) == std::signbit(expected);
}

/// The pairs are repeated, so that the vectors of a CPU compute them too.
void check(const char* name, Tensor (*f)(const Operand&, const Operand&), const std::vector<Pair>& pairs) {
  Floats a, b;
  for (std::size_t i = 0; i < 64; ++i) {
    a.push_back(pairs[i % pairs.size()].a);
    b.push_back(pairs[i % pairs.size()].b);
  }
  const Floats y = f(from_vector(a), from_vector(b)).to_vector<float>();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const float expected = pairs[i % pairs.size()].y;
    CHECK_MESSAGE(same(y[i], expected), name << '(' << a[i] << ", " << b[i] << ") is " << y[i] << ", not " << expected);
  }
}

}  // namespace

TEST_CASE("whole numbers are not divided by the number 0") {
  const Tensor whole = full({2}, 5, DType::i64), zeros_of_tensor = zeros({2}, DType::i64);
  for (const auto& [name, function] :
       {std::pair{"[floor_divide]", static_cast<Tensor (*)(const Operand&, const Operand&)>(&floor_divide)},
        std::pair{"[remainder]", static_cast<Tensor (*)(const Operand&, const Operand&)>(&remainder)},
        std::pair{"[fmod]", static_cast<Tensor (*)(const Operand&, const Operand&)>(&fmod)}}) {
    check_error([&, f = function] { f(whole, 0); }, {name, "divided by 0"});
    CHECK(function(whole, zeros_of_tensor).to_vector<std::int64_t>() == std::vector<std::int64_t>(2, 0));
    CHECK_NOTHROW(function(whole, 0.0));
    CHECK_NOTHROW(function(whole.to(DType::f32), 0));
  }
}

TEST_CASE("special values: division and its rest") {
  check("floor_divide", floor_divide,
        {{7, 2, 3},       {-7, 2, -4},          {7, -2, -4},      {-7, -2, 3},       {6, 3, 2},
         {0.9f, 0.3f, 2}, {1, 0.1f, 9},         {0, 3, 0},        {-0.0f, 3, -0.0f}, {0, -3, -0.0f},
         {-0.0f, -3, 0},  {1, 0, inf},          {1, -0.0f, -inf}, {-1, 0, -inf},     {-1, -0.0f, inf},
         {0, 0, nan},     {inf, inf, nan},      {inf, 2, inf},    {-inf, 2, -inf},   {inf, -2, -inf},
         {2, inf, 0},     {2, -inf, -0.0f},     {-2, inf, -0.0f}, {-2, -inf, 0},     {nan, 1, nan},
         {1, nan, nan},   {1e30f, 1e-30f, inf}, {1e-30f, -1, -1}, {1e-30f, 1, 0},    {16777216, 1, 16777216}});
  check("remainder", remainder,
        {{7, 2, 1},
         {-7, 2, 1},
         {7, -2, -1},
         {-7, -2, -1},
         {0, 3, 0},
         {-0.0f, 3, 0},
         {0, -3, -0.0f},
         {-0.0f, -3, -0.0f},
         {6, -3, -0.0f},
         {-6, 3, 0},
         {1, 0, nan},
         {0, 0, nan},
         {inf, 2, nan},
         {2, inf, 2},
         {2, -inf, -inf},
         {-2, inf, inf},
         {-2, -inf, -2},
         {nan, 1, nan}});
}

TEST_CASE("special values: hypot, logaddexp and copysign") {
  check("hypot", hypot,
        {{3, 4, 5}, {inf, nan, inf}, {nan, -inf, inf}, {0, -2, 2}, {-0.0f, 0, 0}, {nan, 1, nan}, {3e38f, 0, 3e38f}});
  check("logaddexp", logaddexp,
        {{inf, -inf, inf},
         {inf, inf, inf},
         {-inf, -inf, -inf},
         {-inf, 2, 2},
         {nan, inf, nan},
         {inf, nan, nan},
         {200, 0, 200},
         {-200, -400, -200}});
  check("copysign", copysign,
        {{1, -0.0f, -1}, {-1, 0, 1}, {0, -1, -0.0f}, {-0.0f, 1, 0}, {inf, -2, -inf}, {nan, 1, nan}, {2, inf, 2}});
  const Tensor signs = signbit(from_vector<float>({0, -0.0f, 1, -1, inf, -inf, -std::nanf(""), std::nanf("")}));
  CHECK(signs.to_vector<bool>() == std::vector<bool>{false, true, false, true, false, true, true, false});
  CHECK(signbit(from_vector<std::int64_t>({INT64_MIN, 0, 5})).to_vector<bool>() ==
        std::vector<bool>{true, false, false});
  CHECK(std::isnan(sign(from_vector<float>({nan})).item()));
}

TEST_CASE("special values: whole numbers at their limits") {
  const Tensor most = from_vector<std::int64_t>({INT64_MAX, INT64_MIN, INT64_MAX - 1});
  for (const Tensor& same : {round(most), floor(most), ceil(most), trunc(most), clamp(most, INT64_MIN, INT64_MAX)})
    CHECK(same.to_vector<std::int64_t>() == most.to_vector<std::int64_t>());
  if (Device().info().platform == "Oclgrind")
    testing::note_skip("no sign of whole numbers, its fault");  // docs/implementations.md
  else
    CHECK(sign(most).to_vector<std::int64_t>() == Longs{1, -1, 1});
  CHECK(floor_divide(most, -1).to_vector<std::int64_t>() == Longs{-INT64_MAX, INT64_MIN, 1 - INT64_MAX});
  CHECK(floor_divide(most, zeros({3}, DType::i64)).to_vector<std::int64_t>() == Longs{0, 0, 0});
  CHECK(floor_divide(most, INT64_MIN).to_vector<std::int64_t>() == Longs{-1, 1, -1});
  const Tensor a = from_vector<std::int32_t>({7, -7, 7, -7, 6, INT32_MIN, 0}),
               b = from_vector<std::int32_t>({2, 2, -2, -2, -3, -1, -5});
  CHECK(floor_divide(a, b).to_vector<std::int32_t>() == std::vector<std::int32_t>{3, -4, -4, 3, -2, INT32_MIN, 0});
  CHECK(
      floor_divide(from_vector<std::uint8_t>({255, 7}), from_vector<std::uint8_t>({2, 0})).to_vector<std::uint8_t>() ==
      std::vector<std::uint8_t>{127, 0});
  check_error([&] { clamp(a, 0, std::int64_t{1} << 31); }, {"[clamp]", "i32"});
}

TEST_CASE("nextafter: every kind of neighbours, dtypes, the gradient, refusals") {
  const float least = std::numeric_limits<float>::denorm_min(), most = std::numeric_limits<float>::max();
  check("nextafter", nextafter,
        {{1, 2, std::nextafter(1.0f, 2.0f)},
         {1, 0, std::nextafter(1.0f, 0.0f)},
         {-1, 0, std::nextafter(-1.0f, 0.0f)},
         {0, 1, least},
         {0, -1, -least},
         {-0.0f, 1, least},
         {least, 0, 0},
         {-least, 1, -0.0f},
         {most, inf, inf},
         {inf, 0, most},
         {-inf, inf, -most},
         {3, 3, 3},
         {-0.0f, 0, 0},
         {0, -0.0f, -0.0f},
         {nan, 1, nan},
         {1, nan, nan},
         {least, 1, 2 * least},
         {inf, inf, inf},
         {2, 1, std::nextafter(2.0f, 1.0f)}});
  CHECK(nextafter(from_vector<std::int32_t>({1}), 2).to_vector<float>() == Floats{std::nextafter(1.0f, 2.0f)});
  CHECK(nextafter(1, zeros({2, 0})).shape() == Shape{2, 0});
  Tensor a = ones({2}).requires_grad_(), b = zeros({2}).requires_grad_();
  nextafter(a, b).backward(full({2}, 3));
  CHECK(a.grad().to_vector<float>() == Floats{3, 3});
  CHECK(b.grad().to_vector<float>() == Floats{0, 0});
  check_error([] { nextafter(ones({1}, DType::f16), 1); }, {"[nextafter]", "f16"});
  check_error([] { nextafter(Tensor(), 1); }, {"[nextafter]", "undefined"});
}

TEST_CASE("sin, cos and tan: small numbers beside large ones") {
  if (Device().info().platform == "rusticl") CRISOL_SKIP("llvmpipe's functions are not within OpenCL's bounds");
  Floats x;
  for (int exponent = -60; exponent < 3; ++exponent)
    for (const float other : {1.3f * std::ldexp(1.0f, exponent), 3e38f, 1e5f, -1.7f * std::ldexp(1.0f, exponent)})
      x.push_back(other);
  const Tensor t = from_vector(x);
  const Floats s = sin(t).to_vector<float>(), c = cos(t).to_vector<float>(), h = tan(t).to_vector<float>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    CHECK(reference::ulp_error(s[i], std::sin(double{x[i]})) <= 4);
    CHECK(reference::ulp_error(c[i], std::cos(double{x[i]})) <= 4);
    CHECK(reference::ulp_error(h[i], std::tan(double{x[i]})) <= 5);
  }
}

}  // namespace crisol
