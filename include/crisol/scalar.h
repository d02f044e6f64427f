// A number beside tensors: 2 in `x + 2`.
#pragma once

#include <cstdint>
#include <type_traits>

#include "crisol/dtype.h"

namespace crisol {

/// A number of any arithmetic C++ type, which remembers whether it was bool, whole or floating: `x + 2` keeps an
/// integer tensor integer, `x + 2.0` does not (see result_type in crisol/dtype.h). Whole numbers are exact in 64 bits.
class Scalar {
 public:
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  constexpr Scalar(Number value) noexcept
      : real_(static_cast<double>(value)),
        whole_(std::is_floating_point_v<Number> ? 0 : static_cast<std::int64_t>(value)),
        dtype_(std::is_same_v<Number, bool>       ? DType::boolean
               : std::is_floating_point_v<Number> ? DType::f32
                                                  : DType::i64) {}

  /// bool, i64 or f32: what the number counts as beside tensors.
  constexpr DType dtype() const noexcept { return dtype_; }
  /// Rounded to nearest.
  constexpr double as_double() const noexcept { return real_; }
  /// Toward zero; a floating number must lie within 64 bits.
  constexpr std::int64_t as_int() const noexcept {
    return dtype_ == DType::f32 ? static_cast<std::int64_t>(real_) : whole_;
  }

 private:
  double real_;
  std::int64_t whole_;
  DType dtype_;
};

}  // namespace crisol
