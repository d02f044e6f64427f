// Gradient of a convolution's weight on GPUs: conv2d_block_weight.cl, and gemm_parts.cl where the depth is cut.
#include <span>
#include <string>
#include <vector>

#include "dispatch/gpu_variant.h"
#include "ops/conv/conv2d_block.h"
#include "ops/conv/conv2d_weight_product.h"
#include "ops/product/gemm_block.h"
#include "ops/product/tile_settings.h"

namespace crisol::ops {

namespace {

// An item reads a pixel for several rows and columns, number by number; with tiles of 128 x 64 its addresses would not
// fit into the registers of AMD's.
constexpr BlockTile tiles[] = {{128, 128, 8, 8, 8, 1.0}, {64, 64, 8, 8, 4, 1.14}, {32, 32, 16, 4, 4, 1.3}};

std::vector<BlockTile> usable_tiles(const DeviceInfo& info) {
  std::vector<BlockTile> usable;
  for (const BlockTile& tile : tiles)
    if (refuse_tile(tile, info, 1) == nullptr) usable.push_back(tile);
  return usable;
}

BlockPlan plan_of(const Conv2dSizes& s, const DeviceInfo& info, std::span<const BlockTile> among) {
  return plan_blocks_among(among, info, s.group_outputs(), s.depth(), s.images * s.pixels(), s.groups(),
                           most_weight_parts(s));
}

void run(const Conv2dProblem& p, std::span<const BlockTile> among) {
  const BlockPlan plan = plan_of(p.sizes, runtime::info_of(p.device), among);
  GatheredKernel kernel{{"conv/conv2d_block_weight.cl", "conv2d_block_weight"},
                        {plan.parts, plan.part_depth, plan.groups, {8, plan.tile.items() / 8}},
                        4};
  plan.tile.define(kernel.spec.defines);
  run_weight_product(p, kernel);
}

std::span<const std::string> setting_names() {
  static const std::vector<std::string> names = tile_names(tiles);
  return names;
}

const char* refuse_setting(const Conv2dProblem& p, const DeviceInfo& info, std::size_t setting) {
  if (const char* reason = refuse_tile(tiles[setting], info, 1)) return reason;
  return plan_of(p.sizes, info, {&tiles[setting], 1}).groups > most_block_groups ? "too many tiles" : nullptr;
}

void run_setting(const Conv2dProblem& p, std::size_t setting) { run(p, {&tiles[setting], 1}); }

}  // namespace

const Settings<Conv2dProblem> conv2d_block_weight_settings{setting_names, refuse_setting, run_setting};

const char* refuse_block_weight(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  if (const char* reason = refuse_off_gpu("conv2d_backward_weight", "block", info)) return reason;
  const std::vector<BlockTile> usable = usable_tiles(info);
  if (usable.empty()) return "the device's work-groups, local memory or registers are too small";
  if (const char* reason = refuse_gathering(s)) return reason;
  if (const char* reason = refuse_weight_product(s, info)) return reason;
  return plan_of(s, info, usable).groups > most_block_groups ? "too many tiles" : nullptr;
}

std::uint64_t block_weight_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  return weight_product_workspace(p.sizes, plan_of(p.sizes, info, usable_tiles(info)).parts);
}

void run_block_weight(const Conv2dProblem& p) { run(p, usable_tiles(runtime::info_of(p.device))); }

}  // namespace crisol::ops
