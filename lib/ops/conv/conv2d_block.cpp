#include "ops/conv/conv2d_block.h"

#include <vector>

#include "dispatch/gpu_model.h"
#include "dispatch/gpu_variant.h"
#include "ops/conv/conv2d_products.h"
#include "ops/product/gemm_block.h"
#include "ops/product/tile_settings.h"

namespace crisol::ops {

namespace {

// As in gemm_block_plan.cpp, but few, since each is a program more to compile, and no wide ones: columns are gathered
// number by number.
constexpr BlockTile tiles[] = {
    {128, 128, 8, 8, 8, 1.0}, {128, 64, 8, 8, 8, 1.0}, {64, 64, 8, 8, 4, 1.09}, {32, 32, 16, 4, 4, 1.25}};

using Tiles = std::span<const BlockTile>;

// A multiprocessor of NVIDIA's has registers for one group of the first or three of the second; a compute unit of AMD's
// for as many items of the first as of the second, which need more of them.
bool suits(const BlockTile& tile, const DeviceInfo& info) {
  const bool first = tile.columns == 128, second = tile.rows != tile.columns;
  return info.vendor_id == vendor_nvidia ? !first : !second;
}

// Those that a device is given by itself.
std::vector<BlockTile> tiles_for(const DeviceInfo& info) {
  std::vector<BlockTile> usable;
  for (const BlockTile& tile : tiles)
    if (suits(tile, info) && refuse_tile(tile, info, 1) == nullptr) usable.push_back(tile);
  return usable;
}

BlockPlan plan_of(const GatheredProduct& p, const DeviceInfo& info, Tiles among) {
  return plan_blocks_among(among, info, p.m, p.n(), p.packed_depth(), p.groups, most_gathered_parts(p));
}

BlockTile tile_of_phases(const std::vector<PhaseProduct>& phases, const DeviceInfo& info, Tiles among) {
  return plan_of(largest_phase(phases), info, among).tile;
}

GatheredKernel kernel_of(const GatheredProduct& p, const DeviceInfo& info, Tiles among) {
  const BlockPlan plan = plan_of(p, info, among);
  GatheredKernel kernel{{"conv/conv2d_block.cl", "conv2d_block"},
                        {plan.parts, plan.part_depth, plan.groups, {8, plan.tile.items() / 8}},
                        4};
  plan.tile.define(kernel.spec.defines);
  return kernel;
}

const char* refuse_product(const GatheredProduct& p, const DeviceInfo& info, Tiles among) {
  return refuse_gathered(p, info, plan_of(p, info, among).groups);
}

const char* refuse_forward(const Conv2dProblem& p, const DeviceInfo& info, Tiles among) {
  return refuse_product(forward_product(p.sizes), info, among);
}

void run_forward(const Conv2dProblem& p, Tiles among) {
  const DeviceInfo& info = runtime::info_of(p.device);
  run_forward_product(p, [&](const GatheredProduct& product) { return kernel_of(product, info, among); });
}

const char* refuse_data(const Conv2dProblem& p, const DeviceInfo& info, Tiles among) {
  const std::vector<PhaseProduct> phases = phase_products(p.sizes);
  const BlockTile tile = tile_of_phases(phases, info, among);
  for (const PhaseProduct& phase : phases)
    if (const char* reason = refuse_product(phase.product, info, {&tile, 1})) return reason;
  return nullptr;
}

void run_data(const Conv2dProblem& p, Tiles among) {
  const DeviceInfo& info = runtime::info_of(p.device);
  const std::vector<PhaseProduct> phases = phase_products(p.sizes);
  const BlockTile tile = tile_of_phases(phases, info, among);
  run_phase_products(p, phases, [&](const GatheredProduct& product) { return kernel_of(product, info, {&tile, 1}); });
}

const char* refuse(const char* op, const Conv2dProblem& p, const DeviceInfo& info) {
  if (const char* reason = refuse_off_gpu(op, "block", info)) return reason;
  if (tiles_for(info).empty()) return "the device's work-groups, local memory or registers are too small";
  return refuse_gathering(p.sizes);
}

// ---- Settings: the tiles ----

std::span<const std::string> setting_names() {
  static const std::vector<std::string> names = tile_names(tiles);
  return names;
}

Tiles tile_of(std::size_t setting) { return Tiles(tiles).subspan(setting, 1); }

template <const char* (*refuse_tiles)(const Conv2dProblem&, const DeviceInfo&, Tiles)>
const char* refuse_setting(const Conv2dProblem& p, const DeviceInfo& info, std::size_t setting) {
  if (const char* reason = refuse_tile(tiles[setting], info, 1)) return reason;
  return refuse_tiles(p, info, tile_of(setting));
}

template <void (*run)(const Conv2dProblem&, Tiles)>
void run_setting(const Conv2dProblem& p, std::size_t setting) {
  run(p, tile_of(setting));
}

}  // namespace

const Settings<Conv2dProblem> conv2d_block_settings{setting_names, refuse_setting<refuse_forward>,
                                                    run_setting<run_forward>};
const Settings<Conv2dProblem> conv2d_block_data_settings{setting_names, refuse_setting<refuse_data>,
                                                         run_setting<run_data>};

const char* refuse_block(const Conv2dProblem& p, const DeviceInfo& info) {
  if (const char* reason = refuse("conv2d", p, info)) return reason;
  return refuse_forward(p, info, tiles_for(info));
}

std::uint64_t block_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  const GatheredProduct product = forward_product(p.sizes);
  return gathered_workspace(product, plan_of(product, info, tiles_for(info)).parts);
}

void run_block(const Conv2dProblem& p) { run_forward(p, tiles_for(runtime::info_of(p.device))); }

const char* refuse_block_data(const Conv2dProblem& p, const DeviceInfo& info) {
  if (const char* reason = refuse("conv2d_backward_data", p, info)) return reason;
  if (const char* reason = refuse_phases(p.sizes)) return reason;
  return refuse_data(p, info, tiles_for(info));
}

std::uint64_t block_data_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  const std::vector<PhaseProduct> phases = phase_products(p.sizes);
  const BlockTile tile = tile_of_phases(phases, info, tiles_for(info));
  std::uint64_t bytes = 0;
  for (const PhaseProduct& phase : phases)
    bytes += gathered_workspace(phase.product, plan_of(phase.product, info, {&tile, 1}).parts);
  return bytes;
}

void run_block_data(const Conv2dProblem& p) { run_data(p, tiles_for(runtime::info_of(p.device))); }

}  // namespace crisol::ops
