// Convolution of 3 x 3 kernels by Winograd's F(4 x 4, 3 x 3) and F(2 x 2, 3 x 3) on GPUs, forward and backward data:
// conv2d_winograd_tiles.cl, a matrix product for each of the 36 or 16 positions, conv2d_winograd_output.cl.
#pragma once

#include "ops/conv/conv2d_problem.h"

namespace crisol::ops {

// Rounding errors of F(4 x 4) are those of conv2d_winograd.h; F(2 x 2) stays below 4·n·2^-24. With few channels, where
// only force gets them, the transforms' own error shows: of one channel 48·n·2^-24 was seen.
template <bool data, int tile>
const char* refuse_winograd_tiles(const Conv2dProblem& problem, const DeviceInfo& info);
template <bool data, int tile>
void run_winograd_tiles(const Conv2dProblem& problem);
template <bool data, int tile>
std::uint64_t winograd_tiles_workspace(const Conv2dProblem& problem, const DeviceInfo& info);

/// A variant of conv2d, or of conv2d_backward_data.
template <bool data, int tile>
constexpr Variant<Conv2dProblem> winograd_tiles{tile == 4 ? "winograd_f4" : "winograd_f2",
                                                refuse_winograd_tiles<data, tile>, run_winograd_tiles<data, tile>,
                                                winograd_tiles_workspace<data, tile>};

}  // namespace crisol::ops
