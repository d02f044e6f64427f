// The element types of one byte.
#pragma once

#include "crisol/dtype_table.h"

namespace crisol {

/// Whether the type is u8 or i8, the types of most quantised numbers.
inline bool is_of_bytes(DType dtype) { return is_whole(dtype) && size_of(dtype) == 1; }

}  // namespace crisol
