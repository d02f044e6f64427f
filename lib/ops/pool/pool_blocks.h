// Pooling of channels in blocks (ops/conv/conv2d_blocks.h), for programs of graphs. There are no gradients.
#pragma once

#include "ops/pool/pool_geometry.h"

namespace crisol::ops {

constexpr std::int64_t max_pool_taps = 1 << 13;

/// The largest element of each window, or NaN if the window contains a NaN. All elements are f32:
///
///     x (N, blocks, H, W, c)   y (N, blocks, H', W', c)   planes of the geometry: N · blocks
///
/// pad_h and pad_w are the padding before the first row and column. The padding after the last row and column may
/// differ. It follows from the size of the output. Throws invalid_argument for another shape, for blocks that are not
/// 4, 8 or 16, and for windows of more than max_pool_taps.
Tensor max_pool2d_blocks(const Tensor& x, const PoolGeometry& geometry);

/// The mean of each window, without dilation. With `include_pad` the elements in the padding count too, and the padding
/// is the same at both ends.
Tensor avg_pool2d_blocks(const Tensor& x, const PoolGeometry& geometry, bool include_pad);

}  // namespace crisol::ops
