// Types of numbers: all types but bool.
#pragma once

#include <cmath>
#include <limits>

#include "base/text.h"
#include "crisol/dtype_table.h"

namespace crisol::ops {

/// Checks the type of an op that computes with numbers.
inline void require_numbers(const char* op, DType dtype) {
  if (kind_of(dtype) == DTypeKind::boolean)
    fail(ErrorCode::invalid_argument, op, "takes numbers, not bool; convert with to(dtype)");
}

/// The number that no other one of a type is below, or above; of types of 64 bits the nearest double.
inline double lowest_of(DType dtype) {
  if (is_floating(dtype)) return -std::numeric_limits<double>::infinity();
  return kind_of(dtype) == DTypeKind::integer ? -std::ldexp(1.0, dtype_row(dtype).digits) : 0;
}
inline double highest_of(DType dtype) {
  return is_floating(dtype) ? std::numeric_limits<double>::infinity() : std::ldexp(1.0, dtype_row(dtype).digits) - 1;
}

}  // namespace crisol::ops
