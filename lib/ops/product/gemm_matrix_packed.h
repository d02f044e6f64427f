// Large products on matrix units: operands are rounded and packed first, so that tiles copy half as much and in order.
#pragma once

#include "ops/product/gemm.h"
#include "ops/product/tiled_product.h"

namespace crisol::ops {

/// The plan with the caller's tile. The tile is square, and its items copy four words at a time.
dispatch::Plan packed_product(const GemmProblem& problem, const dispatch::Target& target, const TileShape& tile);

}  // namespace crisol::ops
