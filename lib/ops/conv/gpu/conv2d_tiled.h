// Convolution on GPUs as products whose operands are gathered from the tensors, without matrices of patches.
// This host side is the same for multiply-adds and matrix units.
#pragma once

#include <vector>

#include "ops/conv/conv2d_problem.h"
#include "ops/product/gpu/tiled_product.h"

namespace crisol::ops {

/// An engine, and the tiles to choose from. If there are no tiles, it has the reason.
struct ConvEngine {
  const Engine& engine;
  std::vector<TileShape> tiles;
  const char* reason = nullptr;
};

/// The engine of multiply-adds with the tile of a configuration. Without a configuration it has all tiles for the
/// device.
ConvEngine block_engine(const Target& target, std::size_t config);
ConvEngine block_weight_engine(const Target& target, std::size_t config);
ConvEngine matrix_engine(const Conv2dProblem& problem, const Target& target, std::size_t config);
ConvEngine matrix_weight_engine(const Conv2dProblem& problem, const Target& target, std::size_t config);
/// Matrix units with these tiles.
ConvEngine matrix_engine(const dispatch::MatrixUnit& unit, Precision precision, std::vector<TileShape> tiles);

/// The tiles of matrix units for the forward pass and the gradient of the input.
std::vector<TileShape> gathered_matrix_tiles(const dispatch::MatrixUnit& unit, Precision precision);

PlanOr plan_forward_product(const Conv2dProblem& problem, const Target& target, const ConvEngine& engine);
PlanOr plan_phase_products(const Conv2dProblem& problem, const Target& target, const ConvEngine& engine);
PlanOr plan_weight_product(const Conv2dProblem& problem, const Target& target, const ConvEngine& engine);

}  // namespace crisol::ops
