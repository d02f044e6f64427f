// For tests of kernels on matrix units: precisions, kinds of units, devices that have them, and bounds for rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "crisol/ops/matmul.h"
#include "crisol/precision.h"
#include "dispatch/gpu_traits.h"
#include "doctest/doctest.h"
#include "ops/product/gpu/tiled_product.h"

namespace crisol::testing {

using Kind = dispatch::MatrixUnit::Kind;

inline constexpr Precision rounded_precisions[] = {Precision::tf32, Precision::fp16, Precision::bf16};
inline constexpr Kind all_kinds[] = {Kind::mma_sm80,   Kind::mma_sm75, Kind::mfma, Kind::wmma,
                                     Kind::wmma_gfx12, Kind::xmx8,     Kind::xmx16};

/// The reason why forced variants for matrix units refuse here, or an empty string. If a
/// device's name tells of no matrix unit, a forced variant emulates one.
inline std::string broken_matrix_units() {
  for (const Precision precision : rounded_precisions) {
    const ops::MatrixUnits units = ops::matrix_units(Device(), precision);
    if (units.unit.empty() && !dispatch::gpu_traits(Device().info()).matrix_candidates(precision).empty())
      return "vendors' instructions: " + units.reason;
  }
  return {};
}

/// A tile of two waves, because emulation is slow.
inline constexpr ops::TileShape min_tile{32, 16, 16, 16, 1.0};

/// The bound of an operand's relative error, as in include/crisol/precision.h.
inline double unit_error(Precision precision) { return std::ldexp(1.0, precision == Precision::bf16 ? -8 : -11); }

/// Rounds a value as matrix units receive it: to nearest, ties to even (tf32: ties away from zero).
inline double round_to(double value, Precision precision) {
  if (value == 0) return 0;
  const int bits = precision == Precision::bf16 ? 8 : 11;
  const double unit = std::ldexp(1.0, std::ilogb(value) + 1 - bits);
  return unit * (precision == Precision::tf32 ? std::round(value / unit) : std::nearbyint(value / unit));
}

/// Values with magnitudes of at least 0.1, which fp16 can hold.
inline std::vector<double> away_from_zero(std::vector<double> values) {
  for (double& value : values) value = std::copysign(std::max(0.1, std::abs(value)), value);
  return values;
}

/// Sums of products in double: of the values, of their magnitudes, and of the rounded values.
struct RoundedSums {
  std::vector<double> exact, sizes, of_rounded;
};

/// Checks sums of k products: against the exact sums, within the precision's bound, and against the sums of the rounded
/// values, within fp32's bound.
inline void check_rounded(const std::vector<float>& found, const RoundedSums& sums, Precision precision,
                          std::int64_t k) {
  REQUIRE(found.size() == sums.exact.size());
  const double u = unit_error(precision), fp32 = static_cast<double>(k + 2) * std::ldexp(1.0, -23);
  double worst = 0, worst_of_rounded = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double value = found[i], size = std::max(sums.sizes[i], 1e-30);  // Without products: exactly 0.
    worst =
        std::max(worst, std::isnan(value) ? 1e9 : std::abs(value - sums.exact[i]) / (size * (2 * u + u * u + fp32)));
    worst_of_rounded =
        std::max(worst_of_rounded, std::isnan(value) ? 1e9 : std::abs(value - sums.of_rounded[i]) / (size * fp32));
  }
  CHECK(worst <= 1);
  CHECK(worst_of_rounded <= 1);
}

inline DeviceInfo imagined(const char* platform, const char* name, int compute_units = 100) {
  DeviceInfo info;
  info.type = DeviceType::gpu;
  info.platform = platform;
  info.name = name;
  info.compute_units = compute_units;
  info.local_memory = 48 << 10;
  info.max_work_group = 1024;
  return info;
}

}  // namespace crisol::testing
