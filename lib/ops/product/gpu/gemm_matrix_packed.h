// Large products on matrix units. The operands are rounded and packed first, so that tiles copy half as many bytes, in
// order.
#pragma once

#include "ops/product/gemm.h"
#include "ops/product/gpu/tiled_product.h"

namespace crisol::ops {

/// Makes the plan with the caller's tile. The tile must be square, and its items copy four words at a time.
dispatch::Plan packed_product(const GemmProblem& problem, const dispatch::Target& target, const TileShape& tile);

}  // namespace crisol::ops
