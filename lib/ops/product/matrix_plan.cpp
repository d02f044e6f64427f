// Only for lib/ops/conv, until it is converted to plans; see tiled_product.h.
#include "ops/product/matrix_plan.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "dispatch/persistent.h"

namespace crisol::ops {
inline namespace before_plans {

namespace {

using Kind = MatrixUnit::Kind;

// A wave holds wave_rows x wave_columns sums, a half of its registers; Intel's have 4 KB a wave.
constexpr MatrixTile tiles_32[] = {
    {128, 128, 64, 32, 1.0}, {64, 64, 32, 32, 1.3}, {128, 32, 32, 32, 1.6}, {32, 128, 32, 32, 1.6}};
constexpr MatrixTile tiles_64[] = {
    {128, 128, 64, 64, 1.0}, {64, 64, 32, 32, 1.3}, {128, 32, 32, 32, 1.6}, {32, 128, 32, 32, 1.6}};
constexpr MatrixTile tiles_xmx[] = {{64, 64, 16, 16, 1.0}};

// All loops of an item together where everything is rolled, as on CPUs: for each slice of the depth the 64 sums' steps.
constexpr std::int64_t emulated_rounds = 2400;

}  // namespace

bool is_intel(Kind kind) { return kind == Kind::xmx8 || kind == Kind::xmx16; }

int slice_depth(Precision precision) noexcept { return precision == Precision::tf32 ? 16 : 32; }

std::span<const MatrixTile> matrix_tiles(Kind kind) {
  if (is_intel(kind)) return tiles_xmx;
  if (facts_of(kind).lanes == 64) return tiles_64;
  return tiles_32;
}

const MatrixTile* tile_like(const MatrixTile& other, std::span<const MatrixTile> tiles) {
  for (const MatrixTile& tile : tiles)
    if (tile.rows == other.rows && tile.columns == other.columns) return &tile;
  return nullptr;
}

MatrixPlan cut_matrix(const MatrixTile& tile, const MatrixWork& p, int parts) {
  const std::int64_t step = std::int64_t{8} * slice_depth(p.precision);  // A part is worth its beginning.
  MatrixPlan plan{tile, 1, ceil_div(ceil_div(p.k, parts), step) * step, 0};
  plan.parts = static_cast<int>(ceil_div(p.k, plan.part_depth));
  if (plan.parts == 1) plan.part_depth = p.k;
  plan.groups = ceil_div(p.m, tile.rows) * ceil_div(p.n, tile.columns) * p.batch * plan.parts;
  return plan;
}

MatrixPlan plan_matrix_among(std::span<const MatrixTile> tiles, const DeviceInfo& info, const MatrixWork& p,
                             int most_parts) {
  // Intel counts execution units, of which eight or sixteen make what a work-group runs on.
  const std::int64_t units = std::max(1, is_intel(p.unit.kind) ? info.compute_units / 16 : info.compute_units);
  MatrixPlan best;
  double least = 0;
  for (const MatrixTile& tile : tiles)
    for (int parts = 1; parts <= most_parts; parts *= 2) {
      const MatrixPlan plan = cut_matrix(tile, p, parts);
      if (plan.parts < parts || (parts > 1 && plan.groups > 4 * units)) break;
      // Rounds of groups, two at a time on each unit; what a part costs beside its depth: written and read again.
      const double of_group = static_cast<double>(plan.part_depth) * tile.effort + (plan.parts > 1 ? 1024 : 256);
      const double cost =
          static_cast<double>(ceil_div(plan.groups, units)) * tile.rows * static_cast<double>(tile.columns) * of_group;
      if (best.groups != 0 && cost >= least) continue;
      best = plan;
      least = cost;
    }
  return best;
}

const char* refuse_unit(const MatrixUnit& unit, Precision precision) {
  if (precision == Precision::fp32) return "the precision is fp32";
  return unit.kind == Kind::none ? "the device has no matrix units for the precision" : nullptr;
}

const char* refuse_matrix_work(const MatrixWork& p, const DeviceInfo& info) {
  if (const char* reason = refuse_unit(p.unit, p.precision)) return reason;
  const bool too_deep = p.k / slice_depth(p.precision) + 2 > loop_budget(info) / emulated_rounds;
  return p.unit.emulated && too_deep ? "too deep" : nullptr;
}

void define_matrix(runtime::Defines& defines, const MatrixTile& tile, const MatrixWork& p, const DeviceInfo& info) {
  const bool two_slices = 2 * tile.local_bytes() <= static_cast<std::int64_t>(info.local_memory);
  for (const auto& [name, value] : {std::pair<const char*, int>{"UNIT", static_cast<int>(p.unit.kind)},
                                    {"PRECISION", static_cast<int>(p.precision)},
                                    {"BM", tile.rows},
                                    {"BN", tile.columns},
                                    {"WM", tile.wave_rows},
                                    {"WN", tile.wave_columns},
                                    {"STAGES", two_slices ? 2 : 1}})
    defines.add({name, value});
  if (p.unit.emulated) defines.add({"EMULATED", 1});
}

}  // namespace before_plans
}  // namespace crisol::ops
