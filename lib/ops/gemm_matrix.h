// How a product is cut into the tiles of gemm_matrix.cl.
#pragma once

#include <span>

#include "ops/gemm.h"

namespace crisol::ops {

/// BM, BN, WM and WN of cl_kernels/common/matrix_tile.h.
struct MatrixTile {
  int rows, columns, wave_rows, wave_columns;
  /// What a multiply-add takes, the largest tile's being 1: smaller ones read more from memory for each.
  double effort;

  int waves() const noexcept { return rows / wave_rows * (columns / wave_columns); }
  /// Of a slice of the depth.
  int local_bytes() const noexcept { return 64 * (rows + columns); }
};

/// Tile and cut of one product.
struct MatrixPlan {
  MatrixTile tile{};
  int parts = 1;  ///< Pieces of the depth, added up afterwards.
  std::int64_t part_depth = 0;
  std::int64_t groups = 0;  ///< Work-groups in all.
};

/// The tiles for a kind of unit, the largest first.
std::span<const MatrixTile> matrix_tiles(MatrixUnit::Kind kind);

/// The plan that keeps the device's units busiest, from sizes alone; `most_parts` bounds the parts of the depth.
MatrixPlan plan_matrix(const DeviceInfo& info, const Gemm& problem, int most_parts);
/// The plan of one tile in `parts` pieces of the depth, or fewer where those would be too small.
MatrixPlan cut_matrix(const MatrixTile& tile, const Gemm& problem, int parts);

/// Elements of the depth in a slice of local memory.
int slice_depth(Precision precision) noexcept;

/// Why no kernel on matrix units takes the product, or nullptr.
const char* refuse_matrix_unit(const Gemm& problem, const DeviceInfo& info);

const char* refuse_gemm_matrix(const Gemm& problem, const DeviceInfo& info);
void run_gemm_matrix(const Gemm& problem);
/// The same with a plan of the caller's.
void run_gemm_matrix(const Gemm& problem, const MatrixPlan& plan);

}  // namespace crisol::ops
