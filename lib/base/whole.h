// Conversion of double to whole numbers, also for values for which a plain cast would be undefined.
#pragma once

#include <cstdint>
#include <limits>

#include "crisol/dtype.h"

namespace crisol {

/// Rounds toward zero. A value out of range becomes the nearest 64-bit number, and NaN becomes 0.
inline std::int64_t whole_part(double value) noexcept {
  using Limits = std::numeric_limits<std::int64_t>;
  if (value >= 0x1p63) return Limits::max();
  if (value < -0x1p63) return Limits::min();
  return value == value ? static_cast<std::int64_t>(value) : 0;
}

/// The 64 bits of an element of a type of whole numbers. Rounds as whole_part does. For u64 the largest number is 2^64
/// - 1, and negative numbers wrap around.
inline std::int64_t whole_bits(double value, DType dtype) noexcept {
  if (dtype != DType::u64 || !(value >= 0x1p63)) return whole_part(value);
  return value < 0x1p64 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(value)) : -1;
}

}  // namespace crisol
