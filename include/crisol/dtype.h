// Element types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>

#include "crisol/export.h"

namespace crisol {

/// The element types. All have storage, copies, casts, elementwise functions and reductions. Layers, products and
/// losses compute in f32.
enum class DType : std::uint8_t { f32, f16, i32, i64, u8, boolean };

/// The bytes of one element. A boolean is one byte, 0 or 1.
CRISOL_API std::size_t size_of(DType dtype) noexcept;

/// "f32", "f16", "i32", "i64", "u8" or "bool".
CRISOL_API const char* name_of(DType dtype) noexcept;

/// The dtype that both dtypes convert to in an op: the later of the two in the order bool < u8 < i32 < i64 < f16 < f32.
/// The same as in PyTorch.
CRISOL_API DType promote_types(DType a, DType b) noexcept;

/// Whether a dtype is f32 or f16.
constexpr bool is_floating(DType dtype) noexcept { return dtype == DType::f32 || dtype == DType::f16; }

/// Prints name_of(dtype).
CRISOL_API std::ostream& operator<<(std::ostream& out, DType dtype);

/// IEEE 754 binary16 on the host: storage and conversion only, no arithmetic.
struct CRISOL_API Half {
  std::uint16_t bits = 0;  ///< 1 bit of sign, 5 of exponent, 10 of mantissa.

  Half() = default;
  /// Rounds to nearest, ties to even. Overflow gives infinity. NaN stays NaN.
  explicit Half(float value) noexcept;
  /// Exact.
  explicit operator float() const noexcept;
};

/// The DType of a host element type: dtype_of<float>() is DType::f32.
template <class T>
constexpr DType dtype_of() noexcept {
  static_assert(sizeof(T) == 0,
                "crisol has no element type for this C++ type: use float, crisol::Half, std::int32_t, std::int64_t, "
                "std::uint8_t or bool. Other numbers, like double, are converted when a dtype is given: "
                "from_vector(values, shape, DType::f32)");
  return DType::f32;
}
/// @cond
template <>
constexpr DType dtype_of<float>() noexcept {
  return DType::f32;
}
template <>
constexpr DType dtype_of<Half>() noexcept {
  return DType::f16;
}
template <>
constexpr DType dtype_of<std::int32_t>() noexcept {
  return DType::i32;
}
template <>
constexpr DType dtype_of<std::int64_t>() noexcept {
  return DType::i64;
}
template <>
constexpr DType dtype_of<std::uint8_t>() noexcept {
  return DType::u8;
}
template <>
constexpr DType dtype_of<bool>() noexcept {
  return DType::boolean;
}
/// @endcond

}  // namespace crisol
