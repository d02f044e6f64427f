// Element types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>

#include "crisol/export.h"

namespace crisol {

/// The element types. All have storage, copies, casts, elementwise functions and reductions. Most layers compute in
/// f32. Ops compute in f64 where the device has double precision. The table crisol/dtypes.def has one row for each
/// type.
enum class DType : std::uint8_t {
#define CRISOL_DTYPE(name, ...) name,
#include "crisol/dtypes.def"
};

/// What the elements of a type are.
enum class DTypeKind : std::uint8_t { boolean, unsigned_integer, integer, floating };

/// The dtype of results and new tensors whose dtype nothing else decides: of zeros(), of the parameters of layers, of a
/// quotient of whole numbers, of whole numbers with 0.5. It is f32 until set_default_dtype() changes it.
CRISOL_API DType default_dtype() noexcept;
/// Changes default_dtype() for all threads of the process. Refuses other dtypes than floating-point ones.
CRISOL_API void set_default_dtype(DType dtype);

/// The bytes of one element. A boolean is one byte, 0 or 1.
CRISOL_API std::size_t size_of(DType dtype) noexcept;

/// Such as "f32", "i64" and "bool".
CRISOL_API const char* name_of(DType dtype) noexcept;

/// The dtype that both dtypes convert to in an op, by PyTorch's table: bool, then whole numbers, then floating-point
/// numbers, and of one kind the larger type. f16 with bf16 gives f32. A type without a sign and a type with a sign give
/// the smallest type with a sign that holds both. No type of whole numbers holds u64 and negative numbers, so u64 with
/// a type that has a sign gives f64.
CRISOL_API DType promote_types(DType a, DType b) noexcept;

/// @cond
namespace detail {
inline constexpr DTypeKind dtype_kinds[] = {
#define CRISOL_DTYPE(name, CODE, text, host, kind, ...) DTypeKind::kind,
#include "crisol/dtypes.def"
};
inline constexpr std::size_t dtype_count = sizeof dtype_kinds / sizeof dtype_kinds[0];
}  // namespace detail
/// @endcond

/// The kind of a dtype.
constexpr DTypeKind kind_of(DType dtype) noexcept { return detail::dtype_kinds[static_cast<std::size_t>(dtype)]; }

/// Whether a dtype has floating-point numbers.
constexpr bool is_floating(DType dtype) noexcept { return kind_of(dtype) == DTypeKind::floating; }

/// Whether a dtype has whole numbers, with a sign or without. A boolean is no number.
constexpr bool is_whole(DType dtype) noexcept { return !is_floating(dtype) && kind_of(dtype) != DTypeKind::boolean; }

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

/// The upper half of a float on the host: storage and conversion only, no arithmetic.
struct CRISOL_API BFloat16 {
  std::uint16_t bits = 0;  ///< 1 bit of sign, 8 of exponent, 7 of mantissa.

  BFloat16() = default;
  /// Rounds to nearest, ties to even. Overflow gives infinity. NaN stays NaN.
  explicit BFloat16(float value) noexcept;
  /// Exact.
  explicit operator float() const noexcept;
};

/// The DType of a host element type: dtype_of<float>() is DType::f32.
template <class T>
constexpr DType dtype_of() noexcept {
  static_assert(sizeof(T) == 0,
                "crisol has no element type for this C++ type: use float, double, crisol::Half, crisol::BFloat16, "
                "std::int32_t, std::int64_t, std::uint8_t or bool. Other numbers are converted when a dtype is given: "
                "from_vector(values, shape, DType::f32)");
  return DType::f32;
}
/// @cond
#define CRISOL_DTYPE(name, CODE, text, host, ...) \
  template <>                                     \
  constexpr DType dtype_of<host>() noexcept {     \
    return DType::name;                           \
  }
#include "crisol/dtypes.def"
/// @endcond

}  // namespace crisol
