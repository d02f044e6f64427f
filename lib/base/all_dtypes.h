// The list of all element types.
#pragma once

#include <array>

#include "crisol/dtype.h"

namespace crisol {

inline constexpr std::array all_dtypes{DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean};

}  // namespace crisol
