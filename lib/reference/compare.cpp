#include "reference/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace crisol::reference {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void encode(double value, DType dtype, std::byte* to) {
  const auto put = [&](auto encoded) { std::memcpy(to, &encoded, sizeof encoded); };
  switch (dtype) {
    case DType::f32: return put(static_cast<float>(value));
    case DType::f16: return put(Half(static_cast<float>(value)));
    case DType::i32: return put(static_cast<std::int32_t>(value));
    case DType::i64: return put(static_cast<std::int64_t>(value));
    case DType::u8: return put(static_cast<std::uint8_t>(value));
    case DType::boolean: return put(static_cast<std::uint8_t>(value != 0));
  }
}

double epsilon_of(DType dtype) {
  if (dtype == DType::f32) return std::numeric_limits<float>::epsilon();
  return dtype == DType::f16 ? 0x1p-10 : 0;
}

}  // namespace

std::vector<double> random_values(std::uint64_t seed, std::int64_t count, double low, double high) {
  std::mt19937_64 engine(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values)
    value = static_cast<float>(low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53);
  return values;
}

std::vector<double> random_integers(std::uint64_t seed, std::int64_t count, std::int64_t low, std::int64_t high) {
  std::mt19937_64 engine(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values)
    value = static_cast<double>(low + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(high - low + 1)));
  return values;
}

std::vector<std::byte> encoded(const std::vector<double>& values, DType dtype) {
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) encode(values[i], dtype, bytes.data() + i * size);
  return bytes;
}

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  const auto take = [&](const auto& elements) {
    for (const auto element : elements) values.push_back(static_cast<double>(element));
  };
  switch (tensor.dtype()) {
    case DType::f32: take(tensor.to_vector<float>()); break;
    case DType::f16:
      for (const Half element : tensor.to_vector<Half>()) values.push_back(static_cast<float>(element));
      break;
    case DType::i32: take(tensor.to_vector<std::int32_t>()); break;
    case DType::i64: take(tensor.to_vector<std::int64_t>()); break;
    case DType::u8:
    case DType::boolean: take(tensor.to_vector<std::uint8_t>()); break;
  }
  return values;
}

Difference difference(const std::vector<double>& actual, const std::vector<double>& expected, Tolerance tolerance,
                      DType dtype) {
  double scale = tolerance.scale;
  if (scale == 0)
    for (const double value : expected)
      if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  Difference found;
  found.allowed = tolerance.factor * epsilon_of(dtype) * scale;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double a = actual[i], e = expected[i];
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    // An error that is NaN or infinite counts as worse than any number.
    const double error = std::isfinite(a - e) ? std::abs(a - e) : infinity;
    found.wrong += error > found.allowed;
    if (error > found.error) {
      found.error = error;
      found.worst = i;
    }
  }
  return found;
}

double ulp_error(float actual, double expected) {
  const auto rounded = static_cast<float>(expected);
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) && std::isnan(expected) ? 0 : infinity;
  if (rounded == 0 && actual == 0) return std::signbit(rounded) == std::signbit(actual) ? 0 : infinity;
  if (std::isinf(actual) && std::isinf(rounded)) return actual == rounded ? 0 : infinity;
  // Infinity counts as 2^128, the next value after the largest number.
  const double value = std::isinf(actual) ? std::copysign(0x1p128, actual) : static_cast<double>(actual);
  const int exponent = expected == 0 ? -126 : std::max(-126, std::min(127, std::ilogb(expected)));
  return std::abs(value - expected) / std::ldexp(1, exponent - 23);
}

}  // namespace crisol::reference
