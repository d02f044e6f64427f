// Gradient of a convolution's weight on GPUs: conv2d_block_weight.cl, and gemm_parts.cl where the depth is cut.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "ops/conv2d_block.h"
#include "ops/conv2d_gather.h"
#include "ops/gemm_epilogue.h"
#include "ops/gpu_variant.h"
#include "ops/persistent.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

// An item reads a pixel for several rows and columns, number by number; with tiles of 128 x 64 its addresses would not
// fit into the registers of AMD's.
constexpr BlockTile tiles[] = {{128, 128, 8, 8, 8, 1.0}, {64, 64, 8, 8, 4, 1.14}, {32, 32, 16, 4, 4, 1.3}};
constexpr std::int64_t most_slice = 16;  // BK of the tiles: the pixels that the table has at least.
constexpr std::int64_t most_depth = std::int64_t{1} << 30;

struct Plan {
  BlockPlan blocks;
  std::int64_t table_images;

  std::int64_t table_size(const Conv2dSizes& s) const noexcept { return table_images * s.pixels(); }
};

std::vector<BlockTile> usable_tiles(const DeviceInfo& info) {
  std::vector<BlockTile> usable;
  for (const BlockTile& tile : tiles)
    if (refuse_tile(tile, info, 1) == nullptr) usable.push_back(tile);
  return usable;
}

Plan plan_of(const Conv2dSizes& s, const DeviceInfo& info, std::span<const BlockTile> among) {
  const std::int64_t images = (most_slice + s.pixels() - 1) / s.pixels();
  const std::int64_t weights = s.weight_shape().numel();
  return {plan_blocks_among(among, info, s.group_outputs(), s.depth(), s.images * s.pixels(), s.groups(),
                            most_block_parts(4 * weights, 16 * images * s.pixels())),
          images};
}

void run(const Conv2dProblem& p, std::span<const BlockTile> among) {
  const Conv2dSizes& s = p.sizes;
  const Conv2dOptions& o = s.options;
  runtime::DeviceState& device = p.device;
  const DeviceInfo& info = runtime::info_of(device);
  const Plan plan = plan_of(s, info, among);
  const int parts = plan.blocks.parts;
  const std::int64_t m = s.group_outputs(), n = s.depth(), size = m * n, table_size = plan.table_size(s);
  const int vectors = n % 4 == 0 ? 4 : 1;

  runtime::KernelSpec spec{"conv2d_block_weight.cl", "conv2d_block_weight", {{"VEC_C", vectors}}};
  define_block(spec.defines, info);
  plan.blocks.tile.define(spec.defines);
  runtime::Kernel& multiply = runtime::resolve(device, spec);
  runtime::Kernel& tabulate = runtime::resolve(device, {"conv2d_block_prepare.cl", "conv2d_block_pixels"});
  runtime::KernelSpec adding{"gemm_parts.cl", "gemm_parts", {{"VEC_C", vectors}}};
  define_block(adding.defines, info);
  runtime::Kernel* const add = parts > 1 ? &runtime::resolve(device, adding) : nullptr;
  const runtime::BlockPtr table_block = runtime::allocate(device, 16 * static_cast<std::uint64_t>(table_size));
  const runtime::BlockPtr sums =
      parts > 1 ? runtime::allocate(device, 4 * static_cast<std::uint64_t>(size * s.groups() * parts)) : nullptr;

  const runtime::BufferView table{table_block.get(), 0}, dw = out(p.weight);
  const runtime::BufferView c = parts > 1 ? runtime::BufferView{sums.get(), 0} : dw;
  const std::int64_t plane = s.height * s.width, x_image = s.channels * plane, y_image = s.outputs * s.pixels();
  const auto number = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  runtime::launch(device, tabulate, runtime::flat_range(device, table_size), table, number(table_size),
                  Shape{s.height, s.width, s.kernel_h, s.kernel_w, s.pixels(), s.out_w, x_image, y_image},
                  Shape{o.stride.h, o.stride.w, -o.padding.h, -o.padding.w, o.dilation.h, o.dilation.w});
  const EpilogueArguments e = epilogue_arguments(nullptr, c);
  const std::int64_t items = plan.blocks.tile.items() / 8;
  runtime::launch(
      device, multiply, {{plan.blocks.groups * 8, items}, {8, items}}, in(p.y), in(p.x), c, table, e.first, e.second,
      e.strides, e.scalars[0], e.scalars[1], e.scalars[2], number(m), number(n), number(s.images * s.pixels()),
      number(table_size), Shape{s.kernel_h, s.kernel_w, plane, o.dilation.h * s.width, o.dilation.w, s.pixels()},
      runtime::KernelArg(
          Shape{s.group_channels() * plane, m * s.pixels(), plan.table_images * x_image, plan.table_images * y_image},
          4),
      number(plan.blocks.part_depth), parts);
  if (add == nullptr) return;
  runtime::launch(device, *add, runtime::flat_range(device, size * s.groups() / vectors), c, dw, dw, e.first, e.second,
                  e.strides, e.scalars[0], e.scalars[1], e.scalars[2], m, n, s.groups(), size, n, std::int64_t{1},
                  parts, 0);
}

std::span<const std::string> setting_names() {
  static const std::vector<std::string> names = tile_names(tiles);
  return names;
}

const char* refuse_setting(const Conv2dProblem& p, const DeviceInfo& info, std::size_t setting) {
  if (const char* reason = refuse_tile(tiles[setting], info, 1)) return reason;
  return plan_of(p.sizes, info, {&tiles[setting], 1}).blocks.groups > most_block_groups ? "too many tiles" : nullptr;
}

void run_setting(const Conv2dProblem& p, std::size_t setting) { run(p, {&tiles[setting], 1}); }

}  // namespace

const Settings<Conv2dProblem> conv2d_block_weight_settings{setting_names, refuse_setting, run_setting};

const char* refuse_block_weight(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  if (const char* reason = refuse_off_gpu("conv2d_backward_weight", "block", info)) return reason;
  if (const char* reason = refuse_gather_tiles(s, info)) return reason;
  if (s.images == 0) return "there are no images";
  const std::int64_t turn = most_slice + s.pixels();  // Of the table.
  if (s.images * s.pixels() >= most_depth ||
      turn * std::max(s.channels * s.height * s.width, s.outputs * s.pixels()) / s.pixels() >= most_depth)
    return "too large for the kernel's indices";
  if (s.depth() >= most_depth || s.images * s.pixels() / 4 > loop_budget(info)) return "too deep";
  return plan_of(s, info, usable_tiles(info)).blocks.groups > most_block_groups ? "too many tiles" : nullptr;
}

std::uint64_t block_weight_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  const Plan plan = plan_of(p.sizes, info, usable_tiles(info));
  const std::int64_t sums = plan.blocks.parts > 1 ? plan.blocks.parts * p.sizes.weight_shape().numel() : 0;
  return static_cast<std::uint64_t>(4 * sums + 16 * plan.table_size(p.sizes));
}

void run_block_weight(const Conv2dProblem& p) { run(p, usable_tiles(runtime::info_of(p.device))); }

}  // namespace crisol::ops
