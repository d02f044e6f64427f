#include "reference/compare.h"
#include "crisol/dtype_table.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace crisol::reference {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void encode(double value, DType dtype, std::byte* to) {
  with_host_type(dtype, [&](auto element) {
    element = element_of<decltype(element)>(value);
    std::memcpy(to, &element, sizeof element);
  });
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
  with_host_type(tensor.dtype(), [&](auto element) {
    for (const auto one : tensor.to_vector<decltype(element)>()) values.push_back(as_double(one));
  });
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
