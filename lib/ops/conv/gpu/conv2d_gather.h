// Products whose right operand is gathered from an image (ops/conv/conv2d_products.h), in tiles (conv2d_tiled.cl).
#pragma once

#include "ops/conv/conv2d_products.h"
#include "ops/product/gpu/tiled_product.h"

namespace crisol::ops {

inline ProductExtent extent_of(const GatheredProduct& p) { return {p.m, p.n(), p.packed_depth(), p.groups}; }

/// The reason why the GPU kernels that gather pixels do not support a convolution of these sizes, or nullptr.
const char* check_gathering(const Conv2dSizes& sizes);
/// The same for one product.
const char* check_gathered(const GatheredProduct& product, const Target& target);
/// The largest number of parts of the depth for whose sums the memory suffices.
int max_gathered_split_k(const GatheredProduct& product, const Target& target);

/// Adds the product of a problem with the operands (src, weight, c). The engine's plan `cut` says how the product is
/// cut. A derived copy of the weight holds the packed weight, and a table of addresses along the depth.
void add_gathered(Plan& plan, const Target& target, const Conv2dProblem& problem, const GatheredProduct& product,
                  const Engine& engine, const TilePlan& cut);

}  // namespace crisol::ops
