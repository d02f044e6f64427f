// Values for tests, tensors of them, and how far a result is from what it should be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::reference {

/// `count` values, uniform in [low, high), exactly representable in f32; the same seed gives the same values.
std::vector<double> random_values(std::uint64_t seed, std::int64_t count, double low = -1, double high = 1);

/// `count` whole numbers, uniform in low..high inclusive.
std::vector<double> random_integers(std::uint64_t seed, std::int64_t count, std::int64_t low, std::int64_t high);

/// The bytes of values in a dtype, one after another.
std::vector<std::byte> encoded(const std::vector<double>& values, DType dtype);

/// All elements of a tensor of any dtype, outermost axis first.
std::vector<double> values_of(const Tensor& tensor);

/// What rounding may do: |actual - expected| <= factor * epsilon * scale. epsilon is that of the tensor's dtype (2^-23
/// for f32, 2^-10 for f16); integers and booleans must be equal. Say at the call where the factor comes from.
struct Tolerance {
  double factor;
  /// Magnitude of the terms that are rounded; 0 takes the largest finite |expected|. For a sum it is the sum of the
  /// magnitudes of its terms.
  double scale = 0;
};

/// How two lists of one length differ. NaN equals only NaN, infinity only itself.
struct Difference {
  std::size_t wrong = 0;  ///< Elements beyond what is allowed.
  std::size_t worst = 0;  ///< The element with the largest error,
  double error = 0;       ///< which is this, infinite where one is no number,
  double allowed = 0;     ///< and may be this.
};
Difference difference(const std::vector<double>& actual, const std::vector<double>& expected, Tolerance tolerance,
                      DType dtype);

/// |actual - expected| in units of the last place of an f32; infinite where only one is NaN, infinite, or a zero of
/// another sign. Below the least normal number a unit is one of those there.
double ulp_error(float actual, double expected);

}  // namespace crisol::reference
