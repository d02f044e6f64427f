// The check of ops that compute with numbers: with all types but bool.
#pragma once

#include "base/text.h"
#include "crisol/dtype.h"

namespace crisol::ops {

inline void require_numbers(const char* op, DType dtype) {
  if (kind_of(dtype) == DTypeKind::boolean)
    fail(ErrorCode::invalid_argument, op, "takes numbers, not bool; convert with to(dtype)");
}

}  // namespace crisol::ops
