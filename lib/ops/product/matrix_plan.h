// Only for lib/ops/conv, until it is converted to plans; see tiled_product.h.
// How a product is cut into tiles for matrix units (cl_kernels/product/matrix_tile.h).
#pragma once

#include <span>

#include "dispatch/matrix_unit.h"
#include "runtime/launch.h"

namespace crisol::ops {
inline namespace before_plans {

/// BM, BN, WM and WN of cl_kernels/product/matrix_tile.h.
struct MatrixTile {
  int rows, columns, wave_rows, wave_columns;
  /// What a multiply-add takes, the largest tile's being 1: smaller ones read more from memory for each.
  double effort;

  int waves() const noexcept { return rows / wave_rows * (columns / wave_columns); }
  /// Of a slice of the depth.
  int local_bytes() const noexcept { return 64 * (rows + columns); }
};

/// `batch` products of m x k with k x n matrices, and what multiplies them.
struct MatrixWork {
  std::int64_t m, n, k, batch;
  Precision precision;
  MatrixUnit unit;
};

/// Tile and cut of one product.
struct MatrixPlan {
  MatrixTile tile{};
  int parts = 1;  ///< Pieces of the depth, added up afterwards.
  std::int64_t part_depth = 0;
  std::int64_t groups = 0;  ///< Work-groups in all.
};

/// Waves of few lanes, of 4 KB of registers together.
bool is_intel(MatrixUnit::Kind kind);

/// The tiles for a kind of unit, the largest first.
std::span<const MatrixTile> matrix_tiles(MatrixUnit::Kind kind);
/// Of these tiles that with as many rows and columns as another kind's, or nullptr.
const MatrixTile* tile_like(const MatrixTile& other, std::span<const MatrixTile> tiles);
constexpr const char* no_such_tile = "the unit has no such tile";

/// The plan that keeps the device's units busiest among these tiles, of which there is at least one, from sizes alone;
/// `most_parts` bounds the parts of the depth.
MatrixPlan plan_matrix_among(std::span<const MatrixTile> tiles, const DeviceInfo& info, const MatrixWork& work,
                             int most_parts);
/// The plan of one tile in `parts` pieces of the depth, or fewer where those would be too small.
MatrixPlan cut_matrix(const MatrixTile& tile, const MatrixWork& work, int parts);

/// Elements of the depth in a slice of local memory.
int slice_depth(Precision precision) noexcept;

/// Why nothing multiplies in the precision, or nullptr.
const char* refuse_unit(const MatrixUnit& unit, Precision precision);
/// Why nothing multiplies the work on matrix units, or nullptr.
const char* refuse_matrix_work(const MatrixWork& work, const DeviceInfo& info);

/// What a kernel is told of unit, precision and tile.
void define_matrix(runtime::Defines& defines, const MatrixTile& tile, const MatrixWork& work, const DeviceInfo& info);

constexpr std::int64_t most_matrix_groups = std::int64_t{1} << 24;  ///< The kernels count work-items in 32 bits.

}  // namespace before_plans
}  // namespace crisol::ops
