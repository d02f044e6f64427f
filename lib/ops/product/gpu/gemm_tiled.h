// Matrix products for GPUs, in the tiles of ops/product/gpu/tiled_product.h.
#pragma once

#include "ops/product/gemm.h"
#include "ops/product/gpu/tiled_product.h"

namespace crisol::ops {

/// An operand as the kernels read it. It has rows of A or columns of B, and the depth.
struct OperandLayout {
  bool along_depth;                ///< Whether the depth has stride 1.
  std::int64_t leading_dimension;  ///< The stride of the other axis.
  bool vectors;                    ///< Whether every row of the other axis starts at a multiple of four elements.
};

/// The layout of A with m rows, or of B transposed with n rows. One stride of the matrix must be 1.
OperandLayout operand_layout(const MatrixLayout& matrix, std::int64_t rows, std::int64_t depth);

/// A product and its operands.
struct PlacedGemm {
  GemmProblem problem;
  GemmPlaces at;

  OperandLayout a() const { return operand_layout(problem.a, problem.m, problem.k); }
  OperandLayout b() const { return operand_layout(problem.b.transposed(), problem.n, problem.k); }
  ProductExtent extent() const { return {problem.m, problem.n, problem.k, problem.batch}; }
  /// How many neighbours in a row of C can be stored at a time: 4, 2 or 1.
  int result_vectors() const;
};

/// The product itself, or the transposed product if only the transposed product's C has contiguous rows.
PlacedGemm as_row_major(const GemmProblem& problem);

/// The reason why no kernel with tiles supports the product's operands, or nullptr.
const char* against_tiled_operands(const GemmProblem& problem);

/// Adds the launches of a product to a plan. `cut` says how the product is cut.
void add_tiled_product(dispatch::Plan& plan, const dispatch::Target& target, const Engine& engine, const TilePlan& cut,
                       const PlacedGemm& product);

}  // namespace crisol::ops
