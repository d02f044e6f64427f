// What the products that are cut into tiles share: how operands are read, and the launches (gemm_block.cl and
// gemm_matrix.cl, which have the same parameters, and gemm_parts.cl).
#pragma once

#include "ops/product/gemm.h"

namespace crisol::ops {

/// An operand as the kernels read it: `sides` rows (of A; columns of B), `depth` deep.
struct Side {
  bool along_depth;   ///< The axis of stride 1 is the depth.
  std::int64_t step;  ///< The other axis' stride.
  bool vectors;       ///< Everything begins at multiples of four.
};

/// Of a matrix that has a stride of 1; B is given transposed.
Side side_of(const Matrix& matrix, std::int64_t sides, std::int64_t depth);

/// Why no kernel that cuts into tiles takes the product's operands, or nullptr.
const char* refuse_tiled_operands(const Gemm& problem);

/// C transposed is B transposed times A transposed: the same product with C's rows one element after the other, where
/// either way would do.
Gemm with_rows_along(const Gemm& problem);

/// How many neighbours of a row of C can be stored at a time: 4, 2 or 1.
int result_vectors(const Gemm& problem);

/// In how many parts of the depth the product may be cut, for the memory that they take.
int most_parts(const Gemm& problem);
/// Why not in so many, or nullptr.
const char* refuse_parts(const Gemm& problem, int parts);
/// What is said of more parts than the depth has room for.
constexpr const char* too_small_for_parts = "the depth is too small for so many parts";

/// Adds what the kernels that store results (cl_kernels/product/target.h) are told: the epilogue, VEC_C, and what the
/// device wants.
void add_result(runtime::KernelSpec& spec, const DeviceInfo& info, const Epilogue* epilogue, int vectors);

/// How a product is cut: `groups` work-groups of local[0] x local[1] items, in all.
struct TileCut {
  int parts;
  std::int64_t part_depth, groups;
  std::int64_t local[2];
};

/// Queues a product whose rows lie along: `multiply` is the kernel that makes a tile, to which the epilogue, VEC_C of
/// at most `run` and what both kinds need are added.
void launch_tiles(const Gemm& problem, const TileCut& cut, runtime::KernelSpec multiply, int run);

}  // namespace crisol::ops
