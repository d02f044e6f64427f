// Tiles that are multiplied with multiply-adds. The cost is a model of a GPU with a few numbers. They come from the
// instructions in the compiled kernels, and from what vendors publish. Two of them were corrected on an H100: of_launch
// was a quarter, and the tile of 16 x 128 had a cost of 1.15. Over 30 products, the chosen tile now takes 1.13 times as
// long as the fastest one (geometric mean). Before it was 1.24 times.
#include <algorithm>
#include <cmath>

#include "ops/product/gpu/tiled_product.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

// The first tile is for large products. The narrow tiles are for few rows or columns, where most of a large tile would
// be empty. The smallest tile is for small products, which need many groups.
constexpr TileShape fma_tiles[] = {
    {128, 128, 8, 8, 1.0, 8},  {128, 64, 8, 8, 1.06, 8},  {64, 128, 8, 8, 1.06, 8}, {64, 64, 8, 4, 1.1, 8},
    {128, 32, 8, 4, 1.15, 16}, {32, 128, 8, 4, 1.15, 16}, {16, 128, 4, 8, 1.3, 16}, {32, 32, 4, 4, 1.35, 16},
};

constexpr int min_slice_depth = 8;  // The smallest depth of the tiles' slices.

// Costs, in multiply-adds of one compute unit. of_result: what each result of a group costs in addition to its
// multiply-adds, for reading the first slices and for storing. of_part: what each part of the depth costs for each
// result, which is written and read again. of_launch: one more launch.
constexpr double of_result = 48, of_part = 24, of_launch = 2e6;
// The number of work-items of a compute unit that hide each other's latency, and the number of groups that it runs at a
// time.
constexpr double busy_items = 256, resident_groups = 4;

// Two groups of the largest tiles share 65536 registers. NVIDIA's compiler uses up to 20 registers more, and then only
// one group runs at a time. On an H100, a product of size 4096 with A transposed takes 2.76 ms with the limit and 3.18
// ms without it. With B transposed it takes 3.01 and 3.52 ms.
constexpr int limited_items = 256;
constexpr const char* register_limit = "-cl-nv-maxrregcount=128";

int items_of(const TileShape& tile) { return tile.parts(); }

std::int64_t local_bytes(const TileShape& tile) {
  return std::int64_t{2} * 4 * tile.depth * (tile.rows + tile.columns + 8);
}

// The number of elements of the next slice that an item reads while it multiplies a slice.
int read_ahead(const TileShape& tile) { return (tile.rows + tile.columns) * tile.depth / items_of(tile); }

// Eight work-items share 4 KB of registers. Without vectors, the addresses for reading ahead take registers
// too.
bool spills_from_shared(const TileShape& tile, int vectors) {
  return tile.part_rows * tile.part_columns > 32 || read_ahead(tile) > (vectors == 4 ? 16 : 8);
}

// Without vectors these tiles need many addresses, which take registers. With the largest tiles, only one group then
// runs at a time. The tile with 16 rows spills on gfx942.
bool has_too_many_addresses(const TileShape& tile, int vectors) {
  return vectors == 1 && ((tile.rows + tile.columns == 256 && items_of(tile) == 256) || read_ahead(tile) > 32);
}

class FmaEngine final : public Engine {
 public:
  std::span<const TileShape> tiles() const override { return fma_tiles; }

  const char* against(const ProductExtent& extent, const Target& target) const override {
    return extent.k / min_slice_depth > target.loop_budget ? "too deep" : nullptr;
  }

  const char* against_tile(const TileShape& tile, const Target& target, int vectors) const override {
    const DeviceInfo& info = target.info;
    if (target.traits.waves_share_registers && spills_from_shared(tile, vectors))
      return "the device has too few registers";
    if (static_cast<std::uint64_t>(items_of(tile)) > info.max_work_group)
      return "the device's work-groups are too small";
    if (local_bytes(tile) > static_cast<std::int64_t>(info.local_memory))
      return "the device has too little local memory";
    return nullptr;
  }

  bool suits(const TileShape& tile, int vectors) const override { return !has_too_many_addresses(tile, vectors); }

  double cost(const TilePlan& plan, const ProductExtent& extent, const Target& target) const override {
    const double units = target.traits.multiprocessors;
    const double area = double{1} * plan.tile.rows * plan.tile.columns;
    const double rounds = std::max(1.0, static_cast<double>(plan.groups) / units);
    const double resident_items = std::min(rounds, resident_groups) * items_of(plan.tile);
    const double waiting = std::max(1.0, busy_items / resident_items);
    double cost = std::ceil(rounds) * area *
                  (static_cast<double>(plan.part_depth) * plan.tile.relative_cost + of_result) * waiting;
    if (plan.split_k > 1) cost += of_launch + of_part * static_cast<double>(plan.split_k * extent.results()) / units;
    return cost;
  }

  bool is_busy(std::int64_t groups, const Target& target) const override {
    return static_cast<double>(groups) > 4 * target.traits.multiprocessors;  // All units get about the same work.
  }

  std::int64_t max_groups() const noexcept override { return std::int64_t{1} << 27; }  // Items are counted in 32 bits.

  std::array<std::int64_t, 2> local_size(const TileShape& tile) const override { return {8, items_of(tile) / 8}; }

  int slice_depth(const TileShape& tile) const override { return tile.depth; }

  int result_run() const noexcept override { return 4; }

  void define(runtime::KernelSpec& spec, const TileShape& tile, const Target& target) const override {
    if (target.traits.limits_registers && items_of(tile) == limited_items) {
      spec.options = register_limit;
      spec.defines.add({"ANY_GROUP_SIZE", 1});
    }
    for (const auto& [name, value] : {std::pair<const char*, int>{"BM", tile.rows},
                                      {"BN", tile.columns},
                                      {"BK", tile.depth},
                                      {"TM", tile.part_rows},
                                      {"TN", tile.part_columns}})
      spec.defines.add({name, value});
  }
};

}  // namespace

const Engine& fma_engine() {
  static const FmaEngine engine;
  return engine;
}

}  // namespace crisol::ops
