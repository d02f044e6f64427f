// Conversion of double to whole numbers, also for values for which a plain cast would be undefined.
#pragma once

#include <cstdint>
#include <limits>

namespace crisol {

/// Rounds toward zero. A value out of range becomes the nearest 64-bit number, and NaN becomes 0.
inline std::int64_t whole_part(double value) noexcept {
  using Limits = std::numeric_limits<std::int64_t>;
  if (value >= 0x1p63) return Limits::max();
  if (value < -0x1p63) return Limits::min();
  return value == value ? static_cast<std::int64_t>(value) : 0;
}

}  // namespace crisol
