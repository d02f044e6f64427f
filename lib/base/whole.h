// Numbers as whole ones, where a plain cast would be undefined.
#pragma once

#include <cstdint>
#include <limits>

namespace crisol {

/// Toward zero; what lies outside becomes the nearest number of 64 bits, NaN 0.
inline std::int64_t whole_part(double value) noexcept {
  using Limits = std::numeric_limits<std::int64_t>;
  if (value >= 0x1p63) return Limits::max();
  if (value < -0x1p63) return Limits::min();
  return value == value ? static_cast<std::int64_t>(value) : 0;
}

}  // namespace crisol
