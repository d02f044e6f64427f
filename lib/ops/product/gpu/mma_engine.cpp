// Tiles that are multiplied with matrix units.
#include <algorithm>
#include <vector>

#include "base/ceil_div.h"
#include "dispatch/probes.h"
#include "ops/probe/matrix_probe.h"
#include "ops/product/gpu/tiled_product.h"
#include "product/gpu/units/kinds.h"
#include "product/sizes.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

using Kind = MatrixUnit::Kind;

// The probe is set here, next to the engine, so that every program with an engine of matrix units contains the probe.
const bool is_set = [] {
  probes().matrix_unit = found_matrix_unit;
  return true;
}();

// A wave holds part_rows x part_columns sums in half of its registers. A wave of XMX has only 4 KB of registers.
constexpr TileShape tiles_32[] = {
    {128, 128, 64, 32, 1.0}, {64, 64, 32, 32, 1.3}, {128, 32, 32, 32, 1.6}, {32, 128, 32, 32, 1.6}};
constexpr TileShape tiles_64[] = {
    {128, 128, 64, 64, 1.0}, {64, 64, 32, 32, 1.3}, {128, 32, 32, 32, 1.6}, {32, 128, 32, 32, 1.6}};
constexpr TileShape tiles_xmx[] = {{64, 64, 16, 16, 1.0}};

// The loop rounds of an item for one slice of the depth, if no loop is unrolled, as on CPUs.
constexpr std::int64_t emulated_rounds = 2400;

// The number of processors that each run a work-group.
std::int64_t units_of(Kind kind, const Target& target) {
  return std::max(1, target.info.compute_units / facts_of(kind).driver_units);
}

class MmaEngine final : public Engine {
 public:
  MmaEngine(MatrixUnit unit, Precision precision) : unit_(unit), precision_(precision) {}

  std::span<const TileShape> tiles() const override {
    if (facts_of(unit_.kind).waves_share_registers) return tiles_xmx;
    if (facts_of(unit_.kind).lanes == 64) return tiles_64;
    return tiles_32;
  }

  const char* against(const ProductExtent& extent, const Target& target) const override {
    if (const char* reason = against_unit(unit_, precision_)) return reason;
    const bool too_deep = extent.k / ops::slice_depth(precision_) + 2 > target.loop_budget / emulated_rounds;
    return unit_.emulated && too_deep ? "too deep" : nullptr;
  }

  const char* against_tile(const TileShape&, const Target&, int) const override { return nullptr; }

  bool suits(const TileShape&, int) const override { return true; }

  double cost(const TilePlan& plan, const ProductExtent&, const Target& target) const override {
    // Groups run in rounds. Each part of the depth costs as much as some more depth, because its sums are written and
    // read again.
    const double of_group =
        static_cast<double>(plan.part_depth) * plan.tile.relative_cost + (plan.split_k > 1 ? 1024 : 256);
    return static_cast<double>(ceil_div(plan.groups, units_of(unit_.kind, target))) * plan.tile.rows *
           static_cast<double>(plan.tile.columns) * of_group;
  }

  bool is_busy(std::int64_t groups, const Target& target) const override {
    return groups > 4 * units_of(unit_.kind, target);
  }

  std::int64_t max_groups() const noexcept override { return std::int64_t{1} << 24; }  // Items are counted in 32 bits.

  std::array<std::int64_t, 2> local_size(const TileShape& tile) const override {
    return {facts_of(unit_.kind).lanes, tile.parts()};
  }

  int slice_depth(const TileShape&) const override { return ops::slice_depth(precision_); }

  int result_run() const noexcept override { return facts_of(unit_.kind).run; }

  void define(runtime::KernelSpec& spec, const TileShape& tile, const Target& target) const override {
    const int local_bytes = 4 * SLICE_WORDS * (tile.rows + tile.columns);  // For one slice of the depth.
    const bool two_slices = 2 * local_bytes <= static_cast<std::int64_t>(target.info.local_memory);
    define_unit(spec.defines, unit_, precision_, tile);
    spec.defines.add({"STAGES", two_slices ? 2 : 1});
  }

 private:
  MatrixUnit unit_;
  Precision precision_;
};

// These are the values of PRECISION in the kernels.
static_assert(static_cast<int>(Precision::tf32) == PRECISION_TF32);
static_assert(static_cast<int>(Precision::fp16) == PRECISION_FP16);
static_assert(static_cast<int>(Precision::bf16) == PRECISION_BF16);

constexpr Precision precisions[] = {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16};
constexpr int kind_count = static_cast<int>(MatrixUnit::kinds);

constexpr const char* no_unit = "the device has no matrix units for the precision";

}  // namespace

const Engine& mma_engine(MatrixUnit unit, Precision precision) {
  static const std::vector<MmaEngine> engines = [] {
    std::vector<MmaEngine> all;
    for (int kind = 0; kind < kind_count; ++kind)
      for (const bool emulated : {false, true})
        for (const Precision p : precisions) all.emplace_back(MatrixUnit{static_cast<Kind>(kind), emulated}, p);
    return all;
  }();
  const auto at = std::find(std::begin(precisions), std::end(precisions), precision) - std::begin(precisions);
  return engines[std::size(precisions) * (2 * static_cast<std::size_t>(unit.kind) + (unit.emulated ? 1 : 0)) +
                 static_cast<std::size_t>(at)];
}

int slice_depth(Precision precision) noexcept { return (precision == Precision::tf32 ? 1 : 2) * SLICE_WORDS; }

std::span<const TileShape> named_mma_tiles() { return tiles_32; }

void define_unit(runtime::Defines& defines, const MatrixUnit& unit, Precision precision, const TileShape& tile) {
  for (const auto& [name, value] : {std::pair<const char*, int>{"UNIT", static_cast<int>(unit.kind)},
                                    {"PRECISION", static_cast<int>(precision)},
                                    {"BM", tile.rows},
                                    {"BN", tile.columns},
                                    {"WM", tile.part_rows},
                                    {"WN", tile.part_columns}})
    defines.add({name, value});
  if (unit.emulated) defines.add({"EMULATED", 1});
}

const char* against_unit(const MatrixUnit& unit, Precision precision) {
  if (precision == Precision::fp32) return "the precision is fp32";
  return unit.kind == Kind::none ? no_unit : nullptr;
}

PlanOr unless_emulated(PlanOr plan, const MatrixUnit& unit) {
  if (!plan || !unit.emulated) return plan;
  return PlanOr::only_forced(std::move(plan.plan()), no_unit);
}

}  // namespace crisol::ops
