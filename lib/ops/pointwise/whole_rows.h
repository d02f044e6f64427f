// Rows of functions on whole numbers. They have no form for floating-point numbers and no derivative, so they are not
// in crisol/ops/pointwise.def.
#pragma once

#include <span>

#include "ops/pointwise/pointwise_row.h"

namespace crisol::ops {

namespace rows {
extern const PointwiseRow bitwise_and, bitwise_or, bitwise_xor, bitwise_not, bitwise_left_shift, bitwise_right_shift,
    trunc_divide;
}  // namespace rows

std::span<const PointwiseRow* const> whole_rows();

}  // namespace crisol::ops
