// Element types that kernels compute in another type: conversion, rounding, and the ops on them.
#include <array>
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
