// Convolution of channels in blocks, for programs of graphs. It has no gradient and is no part of the interface.
//
// Images (N, C, H, W) with channels in blocks of c are contiguous tensors (N, ceil(C / c), H, W, c): one vector holds
// neighbouring channels of a pixel. The lanes of the last block that have no channel may hold anything, also in
// results.
#pragma once

#include "crisol/tensor.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/product/with_epilogue.h"

namespace crisol::ops {

/// Channels of a block on this device. It is 0 where blocks are of no use: on GPUs, and on CPUs whose loops are short.
std::int64_t channel_block(const dispatch::Target& target);

/// Whether kernels that compute tiles take these sizes. They count the positions in an image in 32 bits, and unroll the
/// taps of a row of a depthwise kernel.
bool tiles_take(const Conv2dSizes& sizes, std::int64_t block);

/// Blocks of outputs that one tile computes. Weights are laid out for it.
std::int64_t blocks_of_tile(std::int64_t outputs, std::int64_t block);

/// The columns of a tile, for rows of out_w columns: the width with the fewest columns that are computed twice or in
/// vain. Wide tiles load a weight less often.
std::int64_t tile_width(std::int64_t out_w, std::int64_t tile_blocks, std::int64_t block,
                        const dispatch::Target& target);

/// Cross-correlation as in ops::conv2d, of the given sizes. The padding may differ at the ends of an axis: it is told
/// by pad_h, pad_w and the size of the output. With one group:
///
///     x (N, ceil(C / b), H, W, b)   weight (g, ceil(C / b), R, S, b, t, c)   y (N, ceil(K / c), H', W', c)
///
/// where b may be any block, t = blocks_of_tile(K, c), g · t >= ceil(K / c), and weight[…, i, j, k] is that of channel
/// b · (its block) + i and output (t · g + j) · c + k. With as many groups as channels and outputs (depthwise):
///
///     x (N, ceil(C / c), H, W, c)   weight (ceil(C / c), R, S, c)   y (N, ceil(C / c), H', W', c)
///
/// The bias is undefined, or (ceil(K / c), c). All tensors are f32 and on one device. The epilogue's operands have a
/// ResultLayout with blocks; `f` may be nullptr. Throws invalid_argument for shapes that do not fit each other, and for
/// other groups.
ProductResult conv2d_blocks(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dSizes& sizes,
                            const ProductEpilogue* f);

/// A convolution of channels in blocks.
struct Conv2dBlocksProblem {
  Conv2dSizes sizes;
  std::int64_t block_in, block, tile_blocks;  ///< b, c and t.
  std::int64_t has_bias;
  EpilogueLayout epilogue;

  bool is_depthwise() const noexcept { return sizes.groups > 1; }
  std::int64_t in_blocks() const noexcept { return (sizes.channels + block_in - 1) / block_in; }
  std::int64_t blocks() const noexcept { return (sizes.outputs + block - 1) / block; }
  /// Flags of the kernels: bias and epilogue.
  std::int32_t flags() const noexcept { return (has_bias != 0 ? bias_per_row : 0) | epilogue_flags(epilogue); }

  /// Without the bias and the epilogue, and without numbers that follow from the sizes. The kind is 1 for depthwise
  /// convolutions.
  dispatch::ProblemKey key() const;
};

extern const Table<Conv2dBlocksProblem> conv2d_blocks_table;

/// The operands of a launch. A problem without a bias has any buffer in its place.
struct BlocksOperands {
  Place x, weight, bias, y;
};

/// Adds the launch that accepts every problem to a plan.
void add_blocks_direct(Plan& plan, const Conv2dBlocksProblem& problem, const dispatch::Target& target,
                       const BlocksOperands& operands, const EpilogueArgs& epilogue);

}  // namespace crisol::ops
