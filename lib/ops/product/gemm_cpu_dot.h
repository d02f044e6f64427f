// Geometry of the kernels for CPUs that multiply rows by rows (gemm_cpu_dot.cl), shared by matmul and the gradient of a
// convolution's weight.
#pragma once

#include <optional>

#include "ops/product/gemm.h"

namespace crisol::ops {

/// How an m x n result with depth k is cut. The head of gemm_cpu_dot.cl describes the blocks.
struct DotPlan {
  std::int32_t vector_width, tile_m, tile_n;
  std::int32_t block_m, block_n, block_k;
  std::int32_t split_k;  ///< Parts of the depth; above 1 their sums go through a workspace.
  std::int64_t items;
  std::int64_t slice;  ///< Floats of scratch memory of each item.
};

/// Returns nothing if the problem is beyond the kernel's int indices or the device's loop budget. `gathered_taps` is 0
/// for matrices, or the number of taps (r, s) of a convolution.
std::optional<DotPlan> plan_dot(const dispatch::Target& target, std::int64_t m, std::int64_t n, std::int64_t k,
                                std::int64_t batch, std::int64_t gathered_taps);

/// Whether the problem can be computed by products of rows with columns, and faster than by tiles.
bool takes_row_products(const GemmProblem& problem, const dispatch::Target& target);

/// The operands of gemm_dot (gemm_cpu_dot.cl). The problem gives m, n, k, batch, the strides of batches and of C, the
/// flags and the epilogue.
struct DotProduct {
  GemmProblem problem;
  GemmPlaces at;
  std::int32_t flags = 0;  ///< gathered or none.
  /// Read only if the operands are gathered, like the pixels over which both run.
  kernels::GatherParameters images_a{}, images_b{};
  kernels::ColumnParameters pixels{};
};
/// Adds the launches, with scratch and the sums of the parts.
void add_dot(dispatch::Plan& plan, const dispatch::Target& target, const DotPlan& cut, const DotProduct& product);

}  // namespace crisol::ops
