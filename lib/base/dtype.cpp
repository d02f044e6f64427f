#include "crisol/dtype.h"

#include <cstring>
#include <ostream>

namespace crisol {

std::size_t size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32:
    case DType::i32: return 4;
    case DType::i64: return 8;
    case DType::f16: return 2;
    case DType::u8:
    case DType::boolean: return 1;
  }
  return 0;
}

const char* name_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32: return "f32";
    case DType::f16: return "f16";
    case DType::i32: return "i32";
    case DType::i64: return "i64";
    case DType::u8: return "u8";
    case DType::boolean: return "bool";
  }
  return "unknown";
}

DType promote_types(DType a, DType b) noexcept {
  // Returns the first dtype in this list that is a or b. The list starts with the widest dtype. So it is PyTorch's
  // table, where the result is always one of the two dtypes.
  for (const DType wide : {DType::f32, DType::f16, DType::i64, DType::i32, DType::u8})
    if (a == wide || b == wide) return wide;
  return DType::boolean;
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

}  // namespace crisol
