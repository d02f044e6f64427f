// Convolution of channels in blocks, for programs of graphs. It has no gradient and is no part of the interface.
//
// Images (N, C, H, W) with channels in blocks of c are contiguous tensors (N, ceil(C / c), H, W, c): one vector holds
// neighbouring channels of a pixel. Lanes of the last block without a channel may hold anything, in results
// too.
#pragma once

#include "crisol/tensor.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/product/with_epilogue.h"

namespace crisol::ops {

/// The number of channels in a block on this device. It is 0 if blocks are of no use: on GPUs, and on CPUs that limit
/// loops.
std::int64_t channel_block(const dispatch::Target& target);

/// Whether the kernels that compute tiles support these sizes. They count positions in an image in 32 bits, and unroll
/// the taps of a row of a depthwise kernel.
bool tiles_take(const Conv2dSizes& sizes, std::int64_t block);

/// The number of blocks of outputs that one tile computes. The layout of weights depends on it.
std::int64_t blocks_of_tile(std::int64_t outputs, std::int64_t block);

/// The number of columns of a tile for rows of out_w columns: the widest tile, because wide tiles load a weight less
/// often. Of short rows a wide tile would leave too many columns unused, so they have narrower tiles.
std::int64_t tile_width(std::int64_t out_w, std::int64_t tile_blocks, std::int64_t block,
                        const dispatch::Target& target);

/// Cross-correlation as in ops::conv2d, of the given sizes. The padding may differ at the two ends of an axis: pad_h
/// and pad_w are for the first end, and the size of the output gives the other end. With one group:
///
///     x (N, ceil(C / b), H, W, b)   weight (g, ceil(C / b), R, S, b, t, c)   y (N, ceil(K / c), H', W', c)
///
/// where b may be any block, t = blocks_of_tile(K, c), g · t >= ceil(K / c), and weight[…, i, j, k] belongs to channel
/// b · (its block) + i and output (t · g + j) · c + k. With as many groups as channels and outputs (depthwise):
///
///     x (N, ceil(C / c), H, W, c)   weight (ceil(C / c), R, S, c)   y (N, ceil(C / c), H', W', c)
///
/// The bias is undefined, or (ceil(K / c), c). The weight and the bias are f32; x, y and the epilogue's operands have a
/// type that kernels compute in f32. All tensors are on one device. The epilogue's operands have a ResultLayout with
/// blocks; `f` may be nullptr. Throws invalid_argument for shapes that do not fit each other, and for
/// other groups.
ProductResult conv2d_blocks(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dSizes& sizes,
                            const ProductEpilogue* f);

/// A convolution of channels in blocks.
struct Conv2dBlocksProblem {
  Conv2dSizes sizes;
  std::int64_t block_in, block, tile_blocks;  ///< The block sizes b and c, and t, as above.
  std::int64_t has_bias;
  EpilogueLayout epilogue;
  std::int64_t type, result_type;  ///< The DTypes of x and y in memory. They differ only inside of a separable one.

  bool is_depthwise() const noexcept { return sizes.groups > 1; }
  std::int64_t in_blocks() const noexcept { return (sizes.channels + block_in - 1) / block_in; }
  std::int64_t blocks() const noexcept { return (sizes.outputs + block - 1) / block; }
  /// Flags of the kernels: bias and epilogue.
  std::int32_t flags() const noexcept { return (has_bias != 0 ? bias_per_row : 0) | epilogue_flags(epilogue); }

  /// Leaves out the bias, the epilogue and numbers that follow from the sizes. The kind is 1 for depthwise
  /// convolutions.
  dispatch::ProblemKey key() const;
};

extern const Table<Conv2dBlocksProblem> conv2d_blocks_table;

/// The operands of a launch. If the problem has no bias, any buffer takes its place.
struct BlocksOperands {
  Place x, weight, bias, y;
};

/// Adds the launch of conv2d_blocks_direct.cl, which accepts every problem, to a plan.
void add_blocks_direct(Plan& plan, const Conv2dBlocksProblem& problem, const dispatch::Target& target,
                       const BlocksOperands& operands, const EpilogueArgs& epilogue);

}  // namespace crisol::ops
