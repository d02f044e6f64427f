// The dtypes of positions, labels and counts, and their names in kernels.
#pragma once

#include "crisol/dtype.h"

namespace crisol::ops {

/// Whether tensors of the dtype hold positions, labels or counts: i64, i32 or u8.
constexpr bool is_whole(DType dtype) noexcept {
  return dtype == DType::i64 || dtype == DType::i32 || dtype == DType::u8;
}

/// The OpenCL type of one of these dtypes, and of bool, whose elements are bytes.
constexpr const char* type_of_whole(DType dtype) noexcept {
  return dtype == DType::i64 ? "long" : (dtype == DType::i32 ? "int" : "uchar");
}

}  // namespace crisol::ops
