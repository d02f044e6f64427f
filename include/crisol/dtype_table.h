// The table of element types as data. No other header includes this one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

#include "crisol/dtype.h"

namespace crisol {

/// A row of crisol/dtypes.def, which describes the columns.
struct DTypeRow {
  const char* name;     ///< In texts: "f32".
  const char* code;     ///< In names of constants: "F32".
  std::size_t size;     ///< The bytes of an element.
  int digits;           ///< The bits of the significand, or those of a whole number without its sign.
  int exponent;         ///< All finite floating-point numbers are below 2^exponent. 0 for other types.
  DType value;          ///< The type that kernels compute in.
  const char* opencl;   ///< The type in OpenCL C.
  const char* python;   ///< The name in Python.
  char format;          ///< The letter of Python's buffer protocol, or '\0'.
  std::uint8_t dlpack;  ///< The kind of DLPack.
  std::int64_t onnx;    ///< The number of ONNX.
};

/// The rows, by the number of the type.
inline constexpr std::array<DTypeRow, detail::dtype_count> dtype_rows{{
#define CRISOL_DTYPE(name, CODE, text, host, kind, digits, exponent, value, opencl, python, format, dlpack, onnx) \
  {text, #CODE, sizeof(host), digits, exponent, DType::value, opencl, python, format, dlpack, onnx},
#include "crisol/dtypes.def"
}};

/// All element types.
inline constexpr std::array<DType, detail::dtype_count> all_dtypes{{
#define CRISOL_DTYPE(name, ...) DType::name,
#include "crisol/dtypes.def"
}};

/// The row of a type.
constexpr const DTypeRow& dtype_row(DType dtype) noexcept { return dtype_rows[static_cast<std::size_t>(dtype)]; }

/// The type in which kernels compute with elements of a type.
constexpr DType value_type(DType dtype) noexcept { return dtype_row(dtype).value; }

/// Whether kernels compute in f32 with elements of a type.
constexpr bool computes_in_f32(DType dtype) noexcept { return value_type(dtype) == DType::f32; }

/// The first type whose elements have as many bytes. Ops that only move elements treat each type as this one, so types
/// of one size share their kernels.
constexpr DType moved_as(DType dtype) noexcept {
  for (const DType first : all_dtypes)
    if (dtype_row(first).size == dtype_row(dtype).size) return first;
  return dtype;
}

/// Whether a type is a floating-point type of two bytes.
constexpr bool is_half(DType dtype) noexcept { return is_floating(dtype) && dtype_row(dtype).size == 2; }

/// The OpenCL type of an element, in which a boolean is a number of one byte.
constexpr const char* number_type(DType dtype) noexcept {
  return kind_of(dtype) == DTypeKind::boolean ? "uchar" : dtype_row(dtype).opencl;
}

/// Whether a type has what lengths, counts and positions need: whole numbers with a sign and of at least 32 bits.
constexpr bool holds_counts(DType dtype) noexcept {
  return kind_of(dtype) == DTypeKind::integer && dtype_row(dtype).size >= 4;
}

/// The distance from 1 to the next larger number of a floating-point type; 0 for other types.
constexpr double epsilon_of(DType dtype) noexcept {
  double epsilon = is_floating(dtype) ? 2 : 0;
  for (int i = 0; i < dtype_row(dtype).digits; ++i) epsilon /= 2;
  return epsilon;
}

/// The narrowest type of the same kind that holds all values of an arithmetic type, else the widest one.
template <class T>
constexpr DType nearest_dtype() noexcept {
  using Limits = std::numeric_limits<T>;
  DType best = dtype_of<bool>();
  bool holds = std::is_same_v<T, bool>;
  for (const DType dtype : all_dtypes) {
    if (std::is_same_v<T, bool> || (std::is_floating_point_v<T> ? !is_floating(dtype) : !is_whole(dtype))) continue;
    const bool has_sign = kind_of(dtype) != DTypeKind::unsigned_integer;
    const bool fits = dtype_row(dtype).digits >= Limits::digits && has_sign >= Limits::is_signed &&
                      dtype_row(dtype).exponent >= Limits::max_exponent;
    const bool is_first = kind_of(best) == DTypeKind::boolean;
    const bool is_narrower = dtype_row(dtype).digits < dtype_row(best).digits;
    if (is_first || (fits ? !holds || is_narrower : !holds && !is_narrower)) best = dtype;
    holds = holds || fits;
  }
  return best;
}

/// Calls f with an element of the host's type for a dtype.
template <class F>
decltype(auto) with_host_type(DType dtype, F&& f) {
  // clang-format off
  switch (dtype) {
#define CRISOL_DTYPE(name, CODE, text, host, ...) case DType::name: return f(host());  // NOLINT(bugprone-branch-clone)
#include "crisol/dtypes.def"
  }
  // clang-format on
  return f(float());  // There is no other dtype.
}

/// Calls f with a number of the type in which kernels compute with elements of a dtype.
template <class F>
decltype(auto) with_value_type(DType dtype, F&& f) {
  return with_host_type(value_type(dtype), [&](auto number) -> decltype(auto) {
    constexpr DType type = dtype_of<decltype(number)>();
    if constexpr (value_type(type) == type)
      return f(number);
    else
      return f(float());  // Not the type of a value.
  });
}

/// An element as a double.
template <class T>
double as_double(T element) noexcept {
  if constexpr (std::is_class_v<T>)  // A half.
    return static_cast<double>(static_cast<float>(element));
  else
    return static_cast<double>(element);
}

/// A number as an element. A whole number must be in the range of the type.
template <class T>
T element_of(double number) noexcept {
  if constexpr (std::is_same_v<T, bool>)
    return number != 0;
  else if constexpr (std::is_class_v<T>)
    return T(static_cast<float>(number));
  else
    return static_cast<T>(number);
}

/// The types for which a function holds.
struct TypesThat {
  bool (*hold)(DType) noexcept;  ///< The function.
};
/// Prints the names of the types, such as "f32 or f16".
inline std::ostream& operator<<(std::ostream& out, TypesThat types) {
  const auto count = std::count_if(all_dtypes.begin(), all_dtypes.end(), types.hold);
  std::ptrdiff_t number = 0;
  for (const DType dtype : all_dtypes) {
    if (!types.hold(dtype)) continue;
    out << (number == 0 ? "" : number + 1 == count ? " or " : ", ") << dtype;
    ++number;
  }
  return out;
}

}  // namespace crisol
