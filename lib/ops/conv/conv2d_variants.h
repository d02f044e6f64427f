// The variants of the three convolution ops: each gives a plan, or the reason against it. Each variant's file explains
// how the variant works.
#pragma once

#include "ops/conv/conv2d_problem.h"

namespace crisol::ops {

using Conv2dPlan = PlanOr(const Conv2dProblem&, const Target&, std::size_t config);
using ConfigNames = std::span<const std::string>();

/// The number of floats that a variant which works in pieces uses at a time: 256 MB, unless the limit is lower or a
/// piece needs more.
constexpr std::int64_t conv2d_workspace_floats = std::int64_t{1} << 26;

// conv2d_direct.cpp: one work-item for each result. Takes every problem.
Conv2dPlan plan_direct, plan_direct_data, plan_direct_weight;
// gpu/conv2d_depthwise.cpp: one channel in a group.
Conv2dPlan plan_depthwise, plan_depthwise_data, plan_depthwise_weight;
// gpu/conv2d_gemm.cpp: kernels of 1 x 1: a matrix product for each image.
Conv2dPlan plan_conv2d_gemm, plan_conv2d_gemm_data, plan_conv2d_gemm_weight;
// gpu/conv2d_winograd_tiles.cpp: kernels of 3 x 3, by tiles of 4 x 4 and of 2 x 2 results.
Conv2dPlan plan_winograd_f4, plan_winograd_f4_data, plan_winograd_f2, plan_winograd_f2_data;
// cpu/conv2d_few_pixels.cpp: at most 16 pixels in all images of the result.
Conv2dPlan plan_few_pixels;
// cpu/conv2d_planes.cpp: few channels or outputs in a group, such as depthwise layers and first layers.
Conv2dPlan plan_planes, plan_planes_data, plan_planes_weight;
// cpu/conv2d_winograd.cpp, cpu/conv2d_winograd_weight.cpp: kernels of 3 x 3.
Conv2dPlan plan_winograd, plan_winograd_data, plan_winograd_weight;
// cpu/conv2d_cpu_gemm.cpp: products with gathered operands.
Conv2dPlan plan_cpu_gemm, plan_cpu_gemm_data, plan_cpu_rows;
// gpu/conv2d_tiled.cpp, gpu/conv2d_tiled_weight.cpp: products with gathered operands, on matrix units and on
// multiply-adds. Their configurations are tiles.
Conv2dPlan plan_conv2d_matrix, plan_conv2d_matrix_data, plan_conv2d_matrix_weight;
Conv2dPlan plan_conv2d_block, plan_conv2d_block_data, plan_conv2d_block_weight;
ConfigNames conv2d_matrix_tiles, conv2d_matrix_weight_tiles, conv2d_block_tiles, conv2d_block_weight_tiles;
// conv2d_im2col.cpp: matrix products over explicit matrices of patches.
Conv2dPlan plan_im2col, plan_im2col_data, plan_im2col_weight;

}  // namespace crisol::ops
