#include "ops/conv2d_block.h"

#include <algorithm>
#include <vector>

#include "ops/conv2d_gather.h"
#include "ops/conv2d_phase.h"
#include "ops/gpu_variant.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

GatheredProduct forward_product(const Conv2dSizes& s) {
  const Conv2dOptions& o = s.options;
  return {.groups = s.groups(),
          .m = s.group_outputs(),
          .images = s.images,
          .rows = s.out_h,
          .columns = s.out_w,
          .channels = s.group_channels(),
          .taps_h = static_cast<std::int32_t>(s.kernel_h),
          .taps_w = static_cast<std::int32_t>(s.kernel_w),
          .weight_strides = {s.group_outputs() * s.depth(), s.depth(), s.taps(), s.kernel_w, 1},
          .height = s.height,
          .width = s.width,
          .src_image = s.channels * s.height * s.width,
          .src_group = s.group_channels() * s.height * s.width,
          .src_channel = s.height * s.width,
          .step_h = o.stride.h,
          .step_w = o.stride.w,
          .start_h = -o.padding.h,
          .start_w = -o.padding.w,
          .tap_h = o.dilation.h,
          .tap_w = o.dilation.w,
          .c_image = s.outputs * s.pixels(),
          .c_group = s.group_outputs() * s.pixels(),
          .c_row = s.pixels(),
          .c_h = s.out_w,
          .c_w = 1};
}

// A phase of the gradient, with where it begins in the weight and in dx.
struct PhaseProduct {
  GatheredProduct product;
  std::int64_t weight_first, dx_first;
};

PhaseProduct phase_product(const Conv2dSizes& s, int first_h, int first_w) {
  const Conv2dOptions& o = s.options;
  const Phase h = phase_of(first_h, s.height, s.kernel_h, o.stride.h, o.padding.h, o.dilation.h);
  const Phase w = phase_of(first_w, s.width, s.kernel_w, o.stride.w, o.padding.w, o.dilation.w);
  const std::int64_t m = s.group_channels(), plane = s.height * s.width;
  return {{.groups = s.groups(),
           .m = m,
           .images = s.images,
           .rows = h.positions,
           .columns = w.positions,
           .channels = s.group_outputs(),
           .taps_h = h.taps,
           .taps_w = w.taps,
           .weight_strides = {s.group_outputs() * s.depth(), s.taps(), s.depth(), h.tap_step * s.kernel_w, w.tap_step},
           .height = s.out_h,
           .width = s.out_w,
           .src_image = s.outputs * s.pixels(),
           .src_group = s.group_outputs() * s.pixels(),
           .src_channel = s.pixels(),
           .step_h = 1,
           .step_w = 1,
           .start_h = h.start,
           .start_w = w.start,
           .tap_h = h.step,
           .tap_w = w.step,
           .c_image = s.channels * plane,
           .c_group = m * plane,
           .c_row = plane,
           .c_h = o.stride.h * s.width,
           .c_w = o.stride.w},
          h.first_tap * s.kernel_w + w.first_tap,
          first_h * s.width + first_w};
}

struct PhasePlan {
  PhaseProduct phase;
  BlockPlan plan;
};

// One tile for all phases, that of the one with the most work: others would be compiled for little.
std::vector<PhasePlan> plans_of(const Conv2dSizes& s, const DeviceInfo& info, std::span<const BlockTile> tiles) {
  const Conv2dOptions& o = s.options;
  std::vector<PhasePlan> plans;
  for (int h = 0; h < std::min<std::int64_t>(o.stride.h, s.height); ++h)
    for (int w = 0; w < std::min<std::int64_t>(o.stride.w, s.width); ++w) plans.push_back({phase_product(s, h, w), {}});
  const auto work = [](const PhasePlan& a) { return a.phase.product.n() * a.phase.product.packed_depth(); };
  const auto most = std::max_element(plans.begin(), plans.end(),
                                     [&](const PhasePlan& a, const PhasePlan& b) { return work(a) < work(b); });
  const BlockTile tile = plan_gathered(most->phase.product, info, tiles).tile;
  for (PhasePlan& plan : plans) plan.plan = plan_gathered(plan.phase.product, info, {&tile, 1});
  return plans;
}

runtime::BufferView moved(runtime::BufferView view, std::int64_t elements) {
  return {view.block, view.offset + static_cast<std::uint64_t>(elements)};
}

const char* refuse_forward(const Conv2dProblem& p, const DeviceInfo& info, std::span<const BlockTile> tiles) {
  return refuse_gathered(forward_product(p.sizes), info, tiles);
}

void run_forward(const Conv2dProblem& p, std::span<const BlockTile> tiles) {
  const DeviceInfo& info = runtime::info_of(p.device);
  const GatheredProduct product = forward_product(p.sizes);
  const GatheredLaunch launch(p.device, product, plan_gathered(product, info, tiles),
                              {.weight = in(p.weight),
                               .src = in(p.x),
                               .c = out(p.y),
                               .bias = in(p.bias.defined() ? p.bias : p.weight),
                               .weight_storage = p.weight.impl()->storage.get(),
                               .epilogue = p.epilogue,
                               .flags = p.bias.defined() ? bias_per_row : 0});
  launch.queue();
}

const char* refuse_data(const Conv2dProblem& p, const DeviceInfo& info, std::span<const BlockTile> tiles) {
  for (const PhasePlan& phase : plans_of(p.sizes, info, tiles))
    if (const char* reason = refuse_gathered(phase.phase.product, info, {&phase.plan.tile, 1})) return reason;
  return nullptr;
}

void run_data(const Conv2dProblem& p, std::span<const BlockTile> tiles) {
  std::vector<GatheredLaunch> launches;
  for (const auto& [phase, plan] : plans_of(p.sizes, runtime::info_of(p.device), tiles)) {
    const runtime::BufferView weight = moved(in(p.weight), phase.weight_first);
    launches.emplace_back(p.device, phase.product, plan,
                          GatheredOperands{.weight = weight,
                                           .src = in(p.y),
                                           .c = moved(out(p.x), phase.dx_first),
                                           .bias = weight,
                                           .weight_storage = p.weight.impl()->storage.get()});
  }
  for (const GatheredLaunch& launch : launches) launch.queue();
}

// ---- Settings: the tiles ----

std::span<const std::string> setting_names() {
  static const std::vector<std::string> names = tile_names(all_gather_tiles());
  return names;
}

std::span<const BlockTile> tile_of(std::size_t setting) { return all_gather_tiles().subspan(setting, 1); }

template <const char* (*refuse)(const Conv2dProblem&, const DeviceInfo&, std::span<const BlockTile>)>
const char* refuse_setting(const Conv2dProblem& p, const DeviceInfo& info, std::size_t setting) {
  if (const char* reason = refuse_tile(tile_of(setting).front(), info, 1)) return reason;
  return refuse(p, info, tile_of(setting));
}

template <void (*run)(const Conv2dProblem&, std::span<const BlockTile>)>
void run_setting(const Conv2dProblem& p, std::size_t setting) {
  run(p, tile_of(setting));
}

}  // namespace

const Settings<Conv2dProblem> conv2d_block_settings{setting_names, refuse_setting<refuse_forward>,
                                                    run_setting<run_forward>};
const Settings<Conv2dProblem> conv2d_block_data_settings{setting_names, refuse_setting<refuse_data>,
                                                         run_setting<run_data>};

const char* refuse_block(const Conv2dProblem& p, const DeviceInfo& info) {
  if (const char* reason = refuse_off_gpu("conv2d", "block", info)) return reason;
  if (const char* reason = refuse_gather_tiles(p.sizes, info)) return reason;
  return refuse_forward(p, info, gather_tiles(info));
}

std::uint64_t block_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  const GatheredProduct product = forward_product(p.sizes);
  return gathered_workspace(product, plan_gathered(product, info, gather_tiles(info)));
}

void run_block(const Conv2dProblem& p) { run_forward(p, gather_tiles(runtime::info_of(p.device))); }

const char* refuse_block_data(const Conv2dProblem& p, const DeviceInfo& info) {
  if (const char* reason = refuse_off_gpu("conv2d_backward_data", "block", info)) return reason;
  if (const char* reason = refuse_gather_tiles(p.sizes, info)) return reason;
  const Conv2dOptions& o = p.sizes.options;
  if (std::int64_t{o.stride.h} * o.stride.w > 64) return "a stride with more than 64 phases";
  return refuse_data(p, info, gather_tiles(info));
}

std::uint64_t block_data_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  std::uint64_t bytes = 0;
  for (const PhasePlan& phase : plans_of(p.sizes, info, gather_tiles(info)))
    bytes += gathered_workspace(phase.phase.product, phase.plan);
  return bytes;
}

void run_block_data(const Conv2dProblem& p) { run_data(p, gather_tiles(runtime::info_of(p.device))); }

}  // namespace crisol::ops
