// Windows of images as views, for convolutions and pools that are made of other ops. A geometry names the windows:
// kernel, stride, dilation and the number of windows along both axes, as Conv2dSizes and PoolGeometry do.
#pragma once

#include "crisol/ops/elementwise.h"
#include "crisol/ops/view.h"
#include "tensor/impl.h"

namespace crisol::ops {

/// The windows of padded images (N, C, H, W) as a view (N, C, R, S, OH, OW), in which windows share elements.
template <class Geometry>
Tensor windows_of(const Tensor& padded, const Geometry& g) {
  const Shape& at = padded.strides();
  return make_view(padded, {padded.size(0), padded.size(1), g.kernel_h, g.kernel_w, g.out_h, g.out_w},
                   {at[0], at[1], at[2] * g.dilation_h, at[3] * g.dilation_w, at[2] * g.stride_h, at[3] * g.stride_w},
                   padded.offset());
}

/// Adds to the images that a view of windows shows. part(r, c) is added at tap (r, c) of each window: (N, C, OH, OW).
/// Windows share elements, but not at one tap, so the taps are added one after the other.
template <class Part>
void add_to_windows(const Tensor& windows, const Part& part) {
  for (std::int64_t r = 0; r < windows.size(2); ++r)
    for (std::int64_t c = 0; c < windows.size(3); ++c) accumulate_into(select(select(windows, 3, c), 2, r), part(r, c));
}

}  // namespace crisol::ops
