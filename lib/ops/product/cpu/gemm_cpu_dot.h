// The geometry of the CPU kernels that multiply rows by rows (gemm_cpu_dot.cl). matmul and the gradient of a
// convolution's weight use it.
#pragma once

#include <optional>

#include "ops/product/gemm.h"

namespace crisol::ops {

/// How an m x n result with depth k is cut. The head of gemm_cpu_dot.cl describes the blocks.
struct DotPlan {
  std::int32_t vector_width, tile_m, tile_n;
  std::int32_t block_m, block_n, block_k;
  std::int32_t split_k;  ///< Parts of the depth. If there are several, their sums go through a workspace.
  std::int64_t items;
  std::int64_t slice;  ///< Floats of scratch memory for each item.
};

/// Returns nothing if the problem is beyond the kernel's int indices or the device's loop budget. `gathered_taps` is 0
/// for matrices, or the number of taps (r, s) of a convolution.
std::optional<DotPlan> plan_dot(const dispatch::Target& target, std::int64_t m, std::int64_t n, std::int64_t k,
                                std::int64_t batch, std::int64_t gathered_taps);

/// Whether products of rows support the problem, and take less time than tiles.
bool takes_row_products(const GemmProblem& problem, const dispatch::Target& target);

/// The operands of gemm_dot (gemm_cpu_dot.cl). The problem gives m, n, k, batch, the strides of batches and of C, the
/// flags and the epilogue.
struct DotProduct {
  GemmProblem problem;
  GemmPlaces at;
  std::int32_t flags = 0;  ///< `gathered`, or 0.
  /// Read only if the operands are gathered, like the pixels that the depth runs over.
  kernels::GatherParameters images_a{}, images_b{};
  kernels::ColumnParameters pixels{};
};
/// Adds the sum of the parts to a plan: C = f(the sums of `splits` parts, added in order (+ C) (+ bias)).
void add_dot_parts(dispatch::Plan& plan, const dispatch::Target& target, const GemmProblem& p, const GemmPlaces& at,
                   dispatch::Place parts, std::int32_t splits);
/// Whether C can hold the sums of a block of the depth, to which the sums of the next blocks are added. Otherwise f32
/// sums go to a workspace, as one part.
inline bool holds_sums(const MatrixLayout& c, std::int64_t depth, std::int64_t block) {
  return c.type == 0 || depth <= block;
}
/// Adds the launches to a plan, with scratch memory and the sum of the parts.
void add_dot(dispatch::Plan& plan, const dispatch::Target& target, const DotPlan& cut, const DotProduct& product);

}  // namespace crisol::ops
