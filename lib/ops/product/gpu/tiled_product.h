// Matrix products in tiles on GPUs. One planner cuts them, for both engines. An engine multiplies the tiles with
// multiply-adds or with matrix units (cl_kernels/product/gpu/engines/engine.h). Convolutions (conv/gpu/conv2d_gather.h)
// plan their products here too.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "crisol/precision.h"
#include "dispatch/matrix_unit.h"
#include "dispatch/plan.h"
#include "dispatch/target.h"
#include "ops/product/epilogue_layout.h"

namespace crisol::ops {

/// The part of a result that a work-group computes.
struct TileShape {
  int rows, columns;  ///< BM and BN of the kernels.
  int part_rows,
      part_columns;  ///< Rows and columns of sums for a work-item (TM, TN of product/gpu/engines/fma_engine.h)
                     /// or a wave (WM, WN).
  /// The cost of one multiply-add, relative to the largest tile. Smaller tiles cost more, because they read more memory
  /// for each multiply-add.
  double relative_cost;
  int depth = 0;  ///< BK. 0 if the engine decides.

  int parts() const noexcept { return rows / part_rows * (columns / part_columns); }
};

/// The tile with the same numbers of rows and columns as `other`, or nullptr.
const TileShape* tile_like(const TileShape& other, std::span<const TileShape> tiles);
constexpr const char* no_such_tile = "the unit has no such tile";

/// `batch` products of m x k matrices with k x n matrices.
struct ProductExtent {
  std::int64_t m, n, k, batch = 1;

  std::int64_t results() const noexcept { return m * n * batch; }
};

/// How one product is cut.
struct TilePlan {
  TileShape tile{};
  int split_k = 1;  ///< The number of parts of the depth. The sums of the parts are added afterwards.
  std::int64_t part_depth = 0;
  std::int64_t groups = 0;  ///< The number of work-groups of all tiles and parts.
};

/// An engine: it multiplies tiles.
class Engine {
 public:
  virtual ~Engine() = default;

  /// The engine's tiles for matrix products, largest first.
  virtual std::span<const TileShape> tiles() const = 0;
  /// The reason why the engine cannot compute products of this extent, or nullptr.
  virtual const char* against(const ProductExtent& extent, const dispatch::Target& target) const = 0;
  /// The reason why the device cannot run the tile, or nullptr. `vectors` is VEC of the kernels: 4 or 1.
  virtual const char* against_tile(const TileShape& tile, const dispatch::Target& target, int vectors) const = 0;
  /// Whether the planner should use a tile that the device can run.
  virtual bool suits(const TileShape& tile, int vectors) const = 0;
  /// The expected time of a plan, in the engine's own unit.
  virtual double cost(const TilePlan& plan, const ProductExtent& extent, const dispatch::Target& target) const = 0;
  /// Whether so many work-groups keep the device busy, so that a larger split_k gains nothing.
  virtual bool is_busy(std::int64_t groups, const dispatch::Target& target) const = 0;
  virtual std::int64_t max_groups() const noexcept = 0;

  virtual std::array<std::int64_t, 2> local_size(const TileShape& tile) const = 0;
  /// The depth of the slices in local memory.
  virtual int slice_depth(const TileShape& tile) const = 0;
  /// How many neighbours in a row of the result a work-item has.
  virtual int result_run() const noexcept = 0;
  /// Adds the defines of engine and tile, and the options that they need.
  virtual void define(runtime::KernelSpec& spec, const TileShape& tile, const dispatch::Target& target) const = 0;
};

const Engine& fma_engine();
const Engine& mma_engine(dispatch::MatrixUnit unit, Precision precision);

/// The reason why the device can run no tile of the engine, or nullptr.
const char* against_tiles(const Engine& engine, const dispatch::Target& target);

/// The tiles whose sizes are the names of configurations on matrix units. Each kind of unit supports some of
/// them.
std::span<const TileShape> named_mma_tiles();
/// Adds the defines of a unit and its tile. Every kernel on matrix units needs them.
void define_unit(runtime::Defines& defines, const dispatch::MatrixUnit& unit, Precision precision,
                 const TileShape& tile);
/// The reason why the unit cannot multiply in the precision, or nullptr.
const char* against_unit(const dispatch::MatrixUnit& unit, Precision precision);
/// The plan of a variant on matrix units. With an emulated unit, the plan is taken only if the variant is forced.
dispatch::PlanOr unless_emulated(dispatch::PlanOr plan, const dispatch::MatrixUnit& unit);
/// The number of elements along the depth in a slice of matrix units.
int slice_depth(Precision precision) noexcept;

/// The plan with one tile. The depth gets fewer than `split_k` parts if the parts would be too small.
TilePlan cut_tiles(const Engine& engine, const TileShape& tile, const ProductExtent& extent, int split_k);
/// The plan with the least cost among these tiles. There is at least one tile.
TilePlan plan_tiles(const Engine& engine, std::span<const TileShape> among, const dispatch::Target& target,
                    const ProductExtent& extent, int max_split_k);
/// The same among the engine's tiles that suit() accepts and that the device can run. `vectors` is as in
/// against_tile().
TilePlan plan_tiles(const Engine& engine, const dispatch::Target& target, const ProductExtent& extent, int vectors,
                    int max_split_k);

/// The largest number of parts into which a depth may be cut. Each part needs `part_bytes` of workspace, and the plan
/// has `other_bytes` of other workspaces.
int max_split_k(const dispatch::Target& target, std::int64_t part_bytes, std::int64_t other_bytes);
/// The reason against cutting the depth into `split_k` parts, or nullptr.
constexpr const char* too_small_for_parts = "the depth is too small for so many parts";
constexpr const char* too_much_for_parts = "the sums of the parts would take too much memory";

runtime::NdRange range_of(const Engine& engine, const TilePlan& plan);

/// Adds the defines NO_FMA and ROLLED, which product/gpu/engines/fma_engine.h reads, for this device.
void define_device(runtime::Defines& defines, const dispatch::Target& target);
/// Adds the defines of kernels that store results of a DType (cl_kernels/product/target.h): the epilogue, VEC_C, and
/// the defines of define_device().
void define_result(runtime::KernelSpec& spec, const dispatch::Target& target, const EpilogueLayout& epilogue,
                   int vectors, std::int64_t type = 0);

/// Tells a kernel how an operand is stored (cl_kernels/product/gpu/storage.h) if it is not f32. `type` is a DType.
void define_storage(runtime::Defines& defines, const char* name, std::int64_t type);

/// The launch of gemm_parts.cl: C = f(the sum of split_k parts (+ C) (+ bias)).
struct PartsSum {
  dispatch::Place parts, c, bias;
  std::int64_t m, n, batch;
  std::int64_t c_batch, c_row, c_column;
  std::int64_t c_type = 0;  ///< The DType of C.
  int split_k;
  std::int32_t bias_batch = 0;  ///< The distance between the biases of products.
  std::int32_t flags = 0;
  EpilogueLayout epilogue{};
  EpilogueArgs args;
  int vectors = 1;  ///< VEC_C: the number of results that are stored at a time.
  kernels::ColumnParameters columns{};
};
void add_parts_sum(dispatch::Plan& plan, const dispatch::Target& target, const PartsSum& sum);
/// The same for parts of `count` numbers, which go to `count` neighbours of a DType.
void add_numbers_sum(dispatch::Plan& plan, const dispatch::Target& target, dispatch::Place parts, dispatch::Place c,
                     std::int64_t count, int split_k, std::int64_t type = 0);

}  // namespace crisol::ops
