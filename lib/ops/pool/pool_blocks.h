// Pooling of channels in blocks (ops/conv/conv2d_blocks.h), for programs of graphs. There are no gradients.
#pragma once

#include "ops/pool/pool_geometry.h"

namespace crisol::ops {

constexpr std::int64_t most_pool_taps = 1 << 13;

/// The largest element of each window, or NaN if there is one. x (N, blocks, H, W, c), f32, gives (N, blocks, H', W',
/// c); the geometry has planes = N · blocks. The padding may differ at the ends of an axis: it is told by pad_h, pad_w
/// and the size of the output. Throws invalid_argument for another shape, for blocks that are not 4, 8 or 16, and for
/// windows of more than most_pool_taps.
Tensor max_pool2d_blocks(const Tensor& x, const PoolGeometry& geometry);

/// The mean of each window, without dilation. With `include_pad` the elements in the padding count too, and the padding
/// is the same at both ends.
Tensor avg_pool2d_blocks(const Tensor& x, const PoolGeometry& geometry, bool include_pad);

}  // namespace crisol::ops
