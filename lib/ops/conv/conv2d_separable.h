// A depthwise convolution and a pointwise convolution of its result, in one pass over rows. The result between the two
// stays in a cache. The channels are in blocks (ops/conv/conv2d_blocks.h). Programs of graphs use it on CPUs.
#pragma once

#include "ops/conv/conv2d_blocks.h"

namespace crisol::ops {

/// Whether one pass is faster than two: only if there are enough rows for all cores. `depthwise` has the sizes of the
/// depthwise convolution.
bool separable_pays(const Conv2dSizes& depthwise, const dispatch::Target& target);

/// The weights and biases, in the form of ops::conv2d_blocks. A bias may be undefined.
struct SeparableWeights {
  Tensor depthwise, shift, pointwise, bias;
};

/// The sizes of a convolution with 1 x 1 taps and `outputs` outputs that follows the given convolution.
Conv2dSizes pointwise_sizes(const Conv2dSizes& depthwise, std::int64_t outputs);

/// f(conv(g(conv(x, depthwise) + shift), pointwise) + bias). The first convolution has the given sizes, and as many
/// groups and outputs as channels. The second has pointwise_sizes(sizes, outputs):
///
///     x (N, ceil(C / c), H, W, c)   y (N, ceil(outputs / c), H', W', c)
///
/// Both g and f may be nullptr, and g reads no operands. Types are those of ops::conv2d_blocks, and what is between the
/// two is f32. All tensors are on one device. Throws invalid_argument for shapes that do not fit each other.
ProductResult conv2d_separable(const Tensor& x, const SeparableWeights& weights, const Conv2dSizes& sizes,
                               std::int64_t outputs, const ProductEpilogue* g, const ProductEpilogue* f);

struct SeparableProblem {
  Conv2dSizes sizes;  ///< Sizes of the depthwise convolution.
  std::int64_t outputs, block, tile_blocks;
  std::int64_t has_shift, has_bias;
  EpilogueLayout middle, epilogue;  ///< Layouts of g and f.
  std::int64_t type;                ///< The DType of x and y in memory.

  Conv2dBlocksProblem first() const noexcept { return {sizes, block, block, 1, has_shift, middle, type, 0}; }
  Conv2dBlocksProblem second() const {
    return {pointwise_sizes(sizes, outputs), block, block, tile_blocks, has_bias, epilogue, 0, type};
  }

  /// Leaves out the biases and the functions.
  dispatch::ProblemKey key() const;
};

extern const Table<SeparableProblem> conv2d_separable_table;

}  // namespace crisol::ops
