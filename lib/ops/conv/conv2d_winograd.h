// Convolution of 3 x 3 kernels by Winograd's filtering: the common parts of its variants for CPUs and for GPUs.
//
// Rounding errors grow with the transforms. On values below 1, a sum of n products (n = 9 · channels) differs from the
// exact sum by less than 16·n·2^-24 with tiles of 4 x 4 results, for any input tried. With tiles of 2 x 2 results it
// differs by less than 4·n·2^-24. The direct sum stays below 2·n·2^-24. With few channels the transforms' own error is
// visible: with one channel it reached 48·n·2^-24. Only a forced variant takes so few channels.
#pragma once

#include <optional>

#include "base/ceil_div.h"
#include "ops/conv/conv2d_problem.h"

namespace crisol::ops {

/// A convolution as the kernels compute it, cut into tiles of `tile` x `tile` results. Backward data is a convolution
/// of dy with flipped kernels.
struct WinogradSizes {
  std::int64_t images, channels, height, width, outputs, out_h, out_w;
  std::int32_t pad_h, pad_w;
  std::int64_t tile;
  bool flipped;

  std::int64_t tiles_h() const noexcept { return ceil_div(out_h, tile); }
  std::int64_t tiles_w() const noexcept { return ceil_div(out_w, tile); }
  std::int64_t tiles_of(std::int64_t some_images) const noexcept { return some_images * tiles_h() * tiles_w(); }
  std::int64_t tiles() const noexcept { return tiles_of(images); }
  /// The distance in the weight between the kernels of neighbouring outputs, and of neighbouring channels.
  std::int64_t output_stride() const noexcept { return flipped ? 9 : 9 * channels; }
  std::int64_t channel_stride() const noexcept { return flipped ? 9 * outputs : 9; }
};

WinogradSizes winograd_sizes(const Conv2dSizes& sizes, std::int64_t tile, bool data);

/// The reason why Winograd's filtering does not support such a convolution, or nullptr.
const char* check_winograd_form(const Conv2dSizes& sizes);

/// Whether, on a CPU, Winograd's filtering takes at most half of the work of the direct sums.
bool winograd_halves(const Conv2dSizes& sizes, const Target& target);

/// The transformed weight of such a problem on a CPU, if filtering is faster than the products only with a copy that is
/// kept. Else nothing.
std::optional<DerivedKey> winograd_copy_that_pays_if_kept(const Conv2dProblem& p, const Target& target, bool data);

}  // namespace crisol::ops
