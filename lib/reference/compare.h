// Values for tests, conversion between values and tensors, and the error of a result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::reference {

/// `count` values, uniform in [low, high), and exactly representable in f32. The same seed gives the same values.
std::vector<double> random_values(std::uint64_t seed, std::int64_t count, double low = -1, double high = 1);

/// `count` whole numbers, uniform in low..high inclusive.
std::vector<double> random_integers(std::uint64_t seed, std::int64_t count, std::int64_t low, std::int64_t high);

/// The bytes of the values in a dtype, one after another.
std::vector<std::byte> encoded(const std::vector<double>& values, DType dtype);

/// All elements of a tensor of any dtype, outermost axis first.
std::vector<double> values_of(const Tensor& tensor);

/// The allowed rounding error: |actual - expected| <= factor * epsilon * scale. epsilon belongs to the tensor's dtype
/// (2^-23 for f32, 2^-10 for f16). Integers and booleans must be equal. The caller says in a comment where the factor
/// comes from.
struct Tolerance {
  double factor;
  /// The magnitude of the rounded terms. 0 means the largest finite |expected|. For a sum it is the sum of its terms'
  /// magnitudes.
  double scale = 0;
};

/// The difference between two lists of equal length. NaN equals only NaN, and infinity equals only itself.
struct Difference {
  std::size_t wrong = 0;  ///< The number of elements whose error is larger than allowed.
  std::size_t worst = 0;  ///< The position of the element with the largest error.
  double error = 0;       ///< The largest error. Infinite if it is NaN.
  double allowed = 0;     ///< The allowed error.
};
Difference difference(const std::vector<double>& actual, const std::vector<double>& expected, Tolerance tolerance,
                      DType dtype);

/// |actual - expected| in units in the last place of an f32. It is infinite if only one number is NaN, or if both are
/// infinities or zeros with different signs. Below the smallest normal number the unit is 2^-149, the distance between
/// subnormal numbers.
double ulp_error(float actual, double expected);

}  // namespace crisol::reference
