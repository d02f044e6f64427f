#include "crisol/dtype.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <ostream>

#include "base/text.h"
#include "crisol/dtype_table.h"

namespace crisol {

namespace {

using Promotions = std::array<std::array<DType, detail::dtype_count>, detail::dtype_count>;

/// The promotions of each type with the types up to it.
constexpr Promotions promotions = [] {
  using enum DType;
  // clang-format off
  return Promotions{{
#define CRISOL_PROMOTION(name, ...) {{__VA_ARGS__}},
#include "crisol/dtypes.def"
  }};
  // clang-format on
}();

std::atomic<DType> type_of_reals = DType::f32;

}  // namespace

DType default_dtype() noexcept { return type_of_reals.load(std::memory_order_relaxed); }

void set_default_dtype(DType dtype) {
  require(is_floating(dtype), "set_default_dtype", "the default dtype can be ", TypesThat{is_floating}, ", not ",
          dtype);
  type_of_reals.store(dtype, std::memory_order_relaxed);
}

std::size_t size_of(DType dtype) noexcept { return dtype_row(dtype).size; }

const char* name_of(DType dtype) noexcept { return dtype_row(dtype).name; }

DType promote_types(DType a, DType b) noexcept {
  return promotions[static_cast<std::size_t>(std::max(a, b))][static_cast<std::size_t>(std::min(a, b))];
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

Half::Half(float value) noexcept {
  std::uint32_t f;
  std::memcpy(&f, &value, sizeof f);
  const std::uint32_t sign = (f >> 16) & 0x8000u;
  const std::uint32_t magnitude = f & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    bits = static_cast<std::uint16_t>(sign | 0x7e00u);  // NaN
  } else if (magnitude >= 0x477ff000u) {
    bits = static_cast<std::uint16_t>(sign | 0x7c00u);  // Too large for f16, also after rounding.
  } else if (magnitude < 0x38800000u) {
    // Subnormal half: adding 0.5 moves the rounded value into the low mantissa bits.
    float shifted;
    std::memcpy(&shifted, &magnitude, sizeof shifted);
    shifted += 0.5f;
    std::uint32_t s;
    std::memcpy(&s, &shifted, sizeof s);
    bits = static_cast<std::uint16_t>(sign | (s - 0x3f000000u));
  } else {
    const std::uint32_t odd = (magnitude >> 13) & 1u;
    bits = static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
  }
}

Half::operator float() const noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = bits & 0x3ffu;
  float value;
  if (exponent == 0) {
    value = static_cast<float>(mantissa) * 0x1p-24f;  // zero and subnormals
    return sign != 0 ? -value : value;
  }
  const std::uint32_t f = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | (mantissa << 13);
  std::memcpy(&value, &f, sizeof value);
  return value;
}

BFloat16::BFloat16(float value) noexcept {
  std::uint32_t f;
  std::memcpy(&f, &value, sizeof f);
  const bool is_nan = (f & 0x7fffffffu) > 0x7f800000u;
  // A carry from the mantissa makes the exponent larger, so overflow becomes infinity.
  bits = static_cast<std::uint16_t>(is_nan ? f >> 16 | 0x40u : (f + 0x7fffu + (f >> 16 & 1u)) >> 16);
}

BFloat16::operator float() const noexcept {
  const std::uint32_t f = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &f, sizeof value);
  return value;
}

}  // namespace crisol
