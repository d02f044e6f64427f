// Large products on matrix units: operands are rounded and packed first, so that tiles copy half as much and in order.
#pragma once

#include "ops/product/gemm.h"
#include "ops/product/tiled_product.h"

namespace crisol::ops {

/// The plan with a tile of the caller's, which is as high as wide and whose items copy whole fours of words.
dispatch::Plan packed_product(const GemmProblem& problem, const dispatch::Target& target, const TileShape& tile);

}  // namespace crisol::ops
