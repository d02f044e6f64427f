#include <algorithm>
#include <cmath>
#include <limits>

#include "base/ceil_div.h"
#include "dispatch/persistent.h"
#include "ops/conv/conv2d_winograd.h"
#include "ops/product/gemm_cpu.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t most_block = 64;  // Channels.
constexpr std::int64_t vectors = 2;      // NV: channels are mostly multiples of 32.
constexpr std::int64_t wanted_slice =
    220'000;  // Floats, in a usual L2 cache of 1 MB; of which M takes 147,000 at most.
constexpr std::int64_t least_chunk = 16, most_chunk = 64;

struct Plan {
  std::int64_t width, rows;
  std::int64_t tiles_h, tiles_w, tiles;
  std::int64_t block_k, block_c, chunk, parts, items, slice;

  std::int64_t units(const Conv2dSizes& s) const {
    return parts * ceil_div(s.outputs, block_k) * ceil_div(s.channels, block_c);
  }
  // Floats of the copies of x and dy, and of the sums of the parts.
  std::int64_t x_pixels(const Conv2dSizes& s) const {
    return s.images * ceil_div(s.channels, width) * width * (4 * tiles_h + 2) * (4 * tiles_w + 2);
  }
  std::int64_t dy_pixels(const Conv2dSizes& s) const {
    return s.images * ceil_div(s.outputs, width) * width * 16 * tiles_h * tiles_w;
  }
  std::int64_t sums(const Conv2dSizes& s) const { return parts == 1 ? 0 : parts * s.weight_shape().numel(); }
  std::int64_t iterations() const {  // Of a unit of work.
    const std::int64_t all = ceil_div(tiles, parts);
    const std::int64_t transforms = all * (1 + 13 * (block_k + block_c) / width);
    const std::int64_t panels = (block_k / rows) * ceil_div(block_c, vectors * width);
    const std::int64_t products = ceil_div(all, chunk) * 37 * panels * (chunk + 2);
    return transforms + products + block_k * (block_c / width) * (12 + 11 * width);
  }
};

Plan plan_of(const Conv2dSizes& s, const runtime::DeviceState& device, const DeviceInfo& info) {
  Plan plan{};
  plan.width = cpu_vector_width(device);
  plan.rows = plan.width == 16 ? 8 : 4;
  plan.tiles_h = ceil_div(s.out_h, 4);
  plan.tiles_w = ceil_div(s.out_w, 4);
  plan.tiles = s.images * plan.tiles_h * plan.tiles_w;
  const std::int64_t panel = vectors * plan.width;
  plan.block_k = std::min(ceil_div(s.outputs, plan.width) * plan.width, most_block);
  plan.block_c = std::min(ceil_div(s.channels, panel) * panel, most_block);
  const std::int64_t m = 36 * plan.block_k * plan.block_c, of_tile = 36 * (plan.block_k + plan.block_c);
  plan.chunk = std::clamp((wanted_slice - m) / of_tile, least_chunk, most_chunk);
  plan.parts = 1;
  const std::int64_t wanted = 2 * std::int64_t{info.compute_units};  // Each more writes another M.
  plan.parts = std::clamp<std::int64_t>(ceil_div(wanted, plan.units(s)), 1, ceil_div(plan.tiles, plan.chunk));
  plan.items = std::min(plan.units(s), wanted);
  plan.slice = ceil_div(m + of_tile * plan.chunk + 3 * 36 * plan.width, 16) * 16;
  return plan;
}

void launch_pixels(runtime::DeviceState& device, const runtime::Defines& defines, const Tensor& from,
                   const runtime::BlockPtr& to, std::int64_t rows, std::int64_t columns, int pad_h, int pad_w) {
  const Shape& shape = from.shape();
  const std::int64_t width = cpu_vector_width(device), blocks = ceil_div(shape[1], width);
  const std::int64_t iterations = rows * (columns + 1) + ceil_div(shape[2] * shape[3], width) * 3 * (width + 6);
  const auto number = [&](std::int64_t value) { return static_cast<std::int32_t>(value); };
  runtime::launch(device, {"conv/conv2d_winograd_weight.cl", "winograd_pixels", defines},
                  persistent_range(device, shape[0] * blocks, iterations), in(from), runtime::BufferView{to.get(), 0},
                  number(shape[0]), number(shape[1]), number(shape[2]), number(shape[3]), number(rows), number(columns),
                  pad_h, pad_w);
}

}  // namespace

std::uint64_t winograd_weight_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  const Plan plan = plan_of(p.sizes, p.device, info);
  return 4 * static_cast<std::uint64_t>(plan.x_pixels(p.sizes) + plan.dy_pixels(p.sizes) + plan.sums(p.sizes) +
                                        plan.items * plan.slice);
}

const char* refuse_winograd_weight(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  if (!takes_cpu_kernels(info)) return "made for CPUs";
  if (const char* reason = refuse_winograd_form(s)) return reason;
  const Plan plan = plan_of(s, p.device, info);
  // Vector operations a tile, measured: transforming 16 channels takes 250, 16 outputs 200, for each block of the
  // others.
  const auto c = static_cast<double>(ceil_div(s.channels, 32) * 32),
             k = static_cast<double>(ceil_div(s.outputs, 8) * 8);
  const double pixels = static_cast<double>(s.out_h * s.out_w) / static_cast<double>(plan.tiles_h * plan.tiles_w);
  const double transforms = 250 * c / 16 * std::ceil(k / 64) + 200 * k / 16 * std::ceil(c / 64);
  if (1.2 * 36 * c * k / 16 + transforms > pixels * 9 * static_cast<double>(s.channels * s.outputs) / 16)
    return "too few channels or too small planes to pay";
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 32;
  if (s.height * s.width > most || 16 * plan.tiles_h * plan.tiles_w > most) return "too large an image";
  if (plan.iterations() * ceil_div(plan.units(s), plan.items) > loop_budget(info) ||
      6 * 16 * plan.tiles_h * plan.tiles_w > loop_budget(info))
    return "too large for the device's loops";
  return nullptr;
}

void run_winograd_weight(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  runtime::DeviceState& device = p.device;
  const DeviceInfo& info = runtime::info_of(device);
  const Plan plan = plan_of(s, device, info);
  runtime::Defines defines{{"VW", plan.width}, {"MR", plan.rows}, {"NV", vectors}};
  if (!info.fast_fma) defines.add({"NO_FMA", 1});
  runtime::Kernel& gradient =
      runtime::resolve(device, {"conv/conv2d_winograd_weight.cl", "winograd_gradient", defines});
  const auto allocate = [&](std::int64_t floats) {
    return runtime::allocate(device, 4 * static_cast<std::uint64_t>(floats));
  };
  const runtime::BlockPtr x = allocate(plan.x_pixels(s)), dy = allocate(plan.dy_pixels(s));
  const runtime::BlockPtr scratch = allocate(plan.items * plan.slice);
  const runtime::BlockPtr sums = plan.parts == 1 ? nullptr : allocate(plan.sums(s));
  launch_pixels(device, defines, p.x, x, 4 * plan.tiles_h + 2, 4 * plan.tiles_w + 2, s.options.padding.h,
                s.options.padding.w);
  launch_pixels(device, defines, p.y, dy, 4 * plan.tiles_h, 4 * plan.tiles_w, 0, 0);
  const runtime::BufferView to = sums ? runtime::BufferView{sums.get(), 0} : out(p.weight);
  runtime::launch(
      device, gradient, {{plan.items}, {1}}, runtime::BufferView{x.get(), 0}, runtime::BufferView{dy.get(), 0}, to,
      runtime::BufferView{scratch.get(), 0},
      Shape{s.images, s.channels, s.outputs, plan.tiles_h, plan.tiles_w, plan.parts, plan.block_k, plan.block_c},
      static_cast<std::int32_t>(plan.chunk), plan.slice);
  if (!sums) return;
  const std::int64_t count = s.weight_shape().numel();
  runtime::launch(device, {"conv/conv2d_winograd_weight.cl", "winograd_add_parts", defines},
                  persistent_range(device, ceil_div(count, plan.width), 2 * plan.width * plan.parts), to, out(p.weight),
                  count, static_cast<std::int32_t>(plan.parts));
}

}  // namespace crisol::ops
