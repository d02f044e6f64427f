// Checks that random tensors have the right distribution.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "crisol/tensor.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol::testing {

/// Six standard errors. The seeds are fixed, so a good generator always passes. A wrong factor of a few percent in some
/// thousands of elements fails.
inline constexpr double standard_errors = 6;

/// Checks mean and standard deviation; `kurtosis` is 1.8 for uniform numbers, 3 for normal ones.
inline void check_moments(const std::vector<double>& values, double mean, double deviation, double kurtosis) {
  const double n = static_cast<double>(values.size());
  const double average = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  CHECK(std::abs(average - mean) <= standard_errors * deviation / std::sqrt(n));
  const double measured = std::sqrt(squares / n);
  CHECK(std::abs(measured / deviation - 1) <= standard_errors * std::sqrt((kurtosis - 1) / (4 * n)));
}

/// Checks that the elements are uniform in [-bound, bound): none outside, some near both ends, and the moments.
inline void check_uniform(const Tensor& t, double bound) {
  const std::vector<double> values = values_of(t);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  CAPTURE(bound);
  CHECK(*low >= -bound * (1 + 1e-6));  // The bound itself, rounded to f32.
  CHECK(*high <= bound * (1 + 1e-6));
  // The probability that all n numbers miss the outer share s of one end is (1 - s/2)^n. With s = 40/n it is exp(-20).
  const double missed = 40 / static_cast<double>(values.size());
  CHECK(*low < -bound * (1 - missed));
  CHECK(*high > bound * (1 - missed));
  check_moments(values, 0, bound / std::sqrt(3.0), 1.8);
}

inline void check_normal(const Tensor& t, double mean, double deviation) {
  check_moments(values_of(t), mean, deviation, 3);
}

}  // namespace crisol::testing
