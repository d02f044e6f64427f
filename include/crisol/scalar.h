// A number as an operand of a tensor op: 2 in `x + 2`.
#pragma once

#include <cstdint>
#include <type_traits>

#include "crisol/dtype.h"

namespace crisol {

/// A number of any arithmetic C++ type. It remembers whether it was bool, whole or floating: for an integer tensor x,
/// `x + 2` has integers and `x + 2.0` floats (see result_type in crisol/tensor.h). Whole numbers from -2^63 to 2^64 - 1
/// are exact.
class Scalar {
 public:
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  constexpr Scalar(Number value) noexcept
      : real_(static_cast<double>(value)),
        whole_(std::is_floating_point_v<Number> ? 0 : static_cast<std::int64_t>(value)),
        dtype_(std::is_same_v<Number, bool>              ? DType::boolean
               : std::is_floating_point_v<Number>        ? DType::f32
               : !std::is_signed_v<Number> && whole_ < 0 ? DType::u64
                                                         : DType::i64) {}

  /// The dtype of the number in ops: bool, i64 or f32. Whole numbers of at least 2^63 are u64.
  constexpr DType dtype() const noexcept { return dtype_; }
  /// The number, rounded to the nearest double.
  constexpr double as_double() const noexcept { return real_; }
  /// The number, rounded toward zero. A floating number must fit in 64 bits. A number of at least 2^63 gives the number
  /// with the same 64 bits, which is negative.
  constexpr std::int64_t as_int() const noexcept {
    if (dtype_ != DType::f32) return whole_;
    return real_ < 0x1p63 ? static_cast<std::int64_t>(real_)
                          : static_cast<std::int64_t>(static_cast<std::uint64_t>(real_));
  }

 private:
  double real_;
  std::int64_t whole_;
  DType dtype_;
};

}  // namespace crisol
