#include "ops/conv/conv2d_matrix.h"

#include <string>
#include <vector>

#include "ops/conv/conv2d_products.h"
#include "ops/conv/conv2d_weight_product.h"
#include "ops/product/tile_settings.h"

namespace crisol::ops {

namespace {

using Kind = MatrixUnit::Kind;
using Tiles = std::span<const MatrixTile>;

// Rows are the channels of the result, of which there may be few; columns its pixels, which are many.
constexpr MatrixTile tiles_32[] = {
    {128, 128, 64, 32, 1.0}, {64, 128, 32, 32, 1.2}, {64, 64, 32, 32, 1.3}, {32, 128, 32, 32, 1.6}};
constexpr MatrixTile tiles_64[] = {
    {128, 128, 64, 64, 1.0}, {64, 128, 32, 64, 1.2}, {64, 64, 32, 32, 1.3}, {32, 128, 32, 32, 1.6}};

GatheredKernel kernel_for(const char* file, const char* entry, const MatrixPlan& plan, const MatrixWork& work,
                          const DeviceInfo& info) {
  const MatrixUnitFacts& unit = facts_of(work.unit.kind);
  GatheredKernel kernel{
      {file, entry}, {plan.parts, plan.part_depth, plan.groups, {unit.lanes, plan.tile.waves()}}, unit.run};
  define_matrix(kernel.spec.defines, plan.tile, work, info);
  return kernel;
}

// ---- Forward and data ----

MatrixWork work_of(const Conv2dProblem& p, const GatheredProduct& product) {
  return {product.m, product.n(), product.packed_depth(), product.groups, p.precision, p.unit};
}

MatrixPlan plan_of(const Conv2dProblem& p, const GatheredProduct& product, const DeviceInfo& info, Tiles among) {
  return plan_matrix_among(among, info, work_of(p, product), most_gathered_parts(product));
}

std::vector<MatrixTile> tiles_for(const Conv2dProblem& p) { return gathered_matrix_tiles(p.unit, p.precision); }

KernelOf kernels_of(const Conv2dProblem& p, Tiles among) {
  return [&p, &info = runtime::info_of(p.device), among](const GatheredProduct& product) {
    return kernel_for("conv/conv2d_matrix.cl", "conv2d_matrix", plan_of(p, product, info, among), work_of(p, product),
                      info);
  };
}

const char* refuse_product(const Conv2dProblem& p, const GatheredProduct& product, const DeviceInfo& info,
                           Tiles among) {
  if (const char* reason = refuse_matrix_work(work_of(p, product), info)) return reason;
  const std::int64_t groups = plan_of(p, product, info, among).groups;
  return groups > most_matrix_groups ? "too many tiles" : refuse_gathered(product, info, groups);
}

const char* refuse_forward(const Conv2dProblem& p, const DeviceInfo& info, Tiles among) {
  return refuse_product(p, forward_product(p.sizes), info, among);
}

MatrixTile tile_of_phases(const Conv2dProblem& p, const std::vector<PhaseProduct>& phases, const DeviceInfo& info,
                          Tiles among) {
  return plan_of(p, largest_phase(phases), info, among).tile;
}

const char* refuse_data(const Conv2dProblem& p, const DeviceInfo& info, Tiles among) {
  const std::vector<PhaseProduct> phases = phase_products(p.sizes);
  const MatrixTile tile = tile_of_phases(p, phases, info, among);
  for (const PhaseProduct& phase : phases)
    if (const char* reason = refuse_product(p, phase.product, info, {&tile, 1})) return reason;
  return nullptr;
}

// ---- Weight ----

MatrixWork weight_work(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  return {s.group_outputs(), s.depth(), s.images * s.pixels(), s.groups(), p.precision, p.unit};
}

MatrixPlan weight_plan(const Conv2dProblem& p, const DeviceInfo& info, Tiles among) {
  return plan_matrix_among(among, info, weight_work(p), most_weight_parts(p.sizes));
}

const char* refuse_weight(const Conv2dProblem& p, const DeviceInfo& info, Tiles among) {
  return weight_plan(p, info, among).groups > most_matrix_groups ? "too many tiles" : nullptr;
}

// ---- Settings: the tiles; each kind of unit has some of these ----

std::span<const std::string> gathered_names() {
  static const std::vector<std::string> names = tile_names(tiles_32);
  return names;
}

std::span<const std::string> weight_names() {
  static const std::vector<std::string> names = tile_names(matrix_tiles(Kind::mma_sm80));
  return names;
}

// None where the unit has not that tile.
std::vector<MatrixTile> gathered_of(const Conv2dProblem& p, std::size_t setting) {
  const std::vector<MatrixTile> tiles = tiles_for(p);
  const MatrixTile* const tile = tile_like(tiles_32[setting], tiles);
  return tile == nullptr ? std::vector<MatrixTile>{} : std::vector{*tile};
}

std::vector<MatrixTile> weight_of(const Conv2dProblem& p, std::size_t setting) {
  const MatrixTile* const tile = tile_like(matrix_tiles(Kind::mma_sm80)[setting], matrix_tiles(p.unit.kind));
  return tile == nullptr ? std::vector<MatrixTile>{} : std::vector{*tile};
}

using TilesOf = std::vector<MatrixTile> (*)(const Conv2dProblem&, std::size_t setting);

template <TilesOf tiles_of, const char* (*refuse)(const Conv2dProblem&, const DeviceInfo&, Tiles)>
const char* refuse_setting(const Conv2dProblem& p, const DeviceInfo& info, std::size_t setting) {
  const std::vector<MatrixTile> tiles = tiles_of(p, setting);
  return tiles.empty() ? no_such_tile : refuse(p, info, tiles);
}

template <TilesOf tiles_of, void (*run)(const Conv2dProblem&, Tiles)>
void run_setting(const Conv2dProblem& p, std::size_t setting) {
  run(p, tiles_of(p, setting));
}

}  // namespace

const Settings<Conv2dProblem> conv2d_matrix_settings{gathered_names, refuse_setting<gathered_of, refuse_forward>,
                                                     run_setting<gathered_of, run_matrix>};
const Settings<Conv2dProblem> conv2d_matrix_data_settings{gathered_names, refuse_setting<gathered_of, refuse_data>,
                                                          run_setting<gathered_of, run_matrix_data>};
const Settings<Conv2dProblem> conv2d_matrix_weight_settings{weight_names, refuse_setting<weight_of, refuse_weight>,
                                                            run_setting<weight_of, run_matrix_weight>};

std::vector<MatrixTile> gathered_matrix_tiles(const MatrixUnit& unit, Precision precision) {
  const int lanes = facts_of(unit.kind).lanes;
  Tiles all = lanes == 64 ? Tiles(tiles_64) : Tiles(tiles_32);
  if (is_intel(unit.kind)) all = matrix_tiles(unit.kind);
  std::vector<MatrixTile> usable;
  for (const MatrixTile& tile : all)  // GATHER of conv/conv_gather.h.
    if (tile.columns * slice_depth(precision) / (tile.waves() * lanes) % 4 == 0) usable.push_back(tile);
  return usable;
}

const char* refuse_matrix(const Conv2dProblem& p, const DeviceInfo& info) {
  if (const char* reason = refuse_unit(p.unit, p.precision)) return reason;
  if (const char* reason = refuse_gathering(p.sizes)) return reason;
  return refuse_forward(p, info, tiles_for(p));
}

std::uint64_t matrix_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  const GatheredProduct product = forward_product(p.sizes);
  return gathered_workspace(product, plan_of(p, product, info, tiles_for(p)).parts);
}

void run_matrix(const Conv2dProblem& p) { run_matrix(p, tiles_for(p)); }

void run_matrix(const Conv2dProblem& p, Tiles tiles) { run_forward_product(p, kernels_of(p, tiles)); }

const char* refuse_matrix_data(const Conv2dProblem& p, const DeviceInfo& info) {
  if (const char* reason = refuse_unit(p.unit, p.precision)) return reason;
  if (const char* reason = refuse_gathering(p.sizes)) return reason;
  if (const char* reason = refuse_phases(p.sizes)) return reason;
  return refuse_data(p, info, tiles_for(p));
}

std::uint64_t matrix_data_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  const std::vector<PhaseProduct> phases = phase_products(p.sizes);
  const MatrixTile tile = tile_of_phases(p, phases, info, tiles_for(p));
  std::uint64_t bytes = 0;
  for (const PhaseProduct& phase : phases)
    bytes += gathered_workspace(phase.product, plan_of(p, phase.product, info, {&tile, 1}).parts);
  return bytes;
}

void run_matrix_data(const Conv2dProblem& p) { run_matrix_data(p, tiles_for(p)); }

void run_matrix_data(const Conv2dProblem& p, Tiles tiles) {
  const std::vector<PhaseProduct> phases = phase_products(p.sizes);
  const MatrixTile tile = tile_of_phases(p, phases, runtime::info_of(p.device), tiles);
  run_phase_products(p, phases, kernels_of(p, {&tile, 1}));
}

const char* refuse_matrix_weight(const Conv2dProblem& p, const DeviceInfo& info) {
  if (const char* reason = refuse_unit(p.unit, p.precision)) return reason;
  if (const char* reason = refuse_gathering(p.sizes)) return reason;
  if (const char* reason = refuse_weight_product(p.sizes, info)) return reason;
  if (const char* reason = refuse_matrix_work(weight_work(p), info)) return reason;
  return refuse_weight(p, info, matrix_tiles(p.unit.kind));
}

std::uint64_t matrix_weight_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  return weight_product_workspace(p.sizes, weight_plan(p, info, matrix_tiles(p.unit.kind)).parts);
}

void run_matrix_weight(const Conv2dProblem& p) { run_matrix_weight(p, matrix_tiles(p.unit.kind)); }

void run_matrix_weight(const Conv2dProblem& p, Tiles tiles) {
  const DeviceInfo& info = runtime::info_of(p.device);
  run_weight_product(p, kernel_for("conv/conv2d_matrix_weight.cl", "conv2d_matrix_weight", weight_plan(p, info, tiles),
                                   weight_work(p), info));
}

}  // namespace crisol::ops
