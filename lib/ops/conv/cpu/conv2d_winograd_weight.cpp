// Gradient of a 3 x 3 weight by Winograd's F(3 x 3, 4 x 4) on CPUs (conv2d_winograd_weight.cl).
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/ceil_div.h"
#include "dispatch/device_defines.h"
#include "dispatch/work_split.h"
#include "ops/conv/conv2d_variants.h"
#include "ops/conv/conv2d_winograd.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t max_block = 64;  // Channels.
constexpr std::int64_t vectors = 2;     // NV. Numbers of channels are mostly multiples of 32.
// In floats, for a usual L2 cache of 1 MB. M takes at most 147,000 of them.
constexpr std::int64_t wanted_tile_slice = 220'000;
constexpr std::int64_t min_chunk = 16, max_chunk = 64;

struct WeightCut {
  std::int64_t width, rows;
  std::int64_t tiles_h, tiles_w, tiles;
  std::int64_t block_k, block_c, chunk, split_k, items, slice;

  std::int64_t units(const Conv2dSizes& s) const {
    return split_k * ceil_div(s.outputs, block_k) * ceil_div(s.channels, block_c);
  }
  // Floats of the copies of x and dy.
  std::int64_t x_pixels(const Conv2dSizes& s) const {
    return s.images * ceil_div(s.channels, width) * width * (4 * tiles_h + 2) * (4 * tiles_w + 2);
  }
  std::int64_t dy_pixels(const Conv2dSizes& s) const {
    return s.images * ceil_div(s.outputs, width) * width * 16 * tiles_h * tiles_w;
  }
  std::int64_t iterations() const {  // Loop iterations of one unit of work.
    const std::int64_t all = ceil_div(tiles, split_k);
    const std::int64_t transforms = all * (1 + 13 * (block_k + block_c) / width);
    const std::int64_t panels = (block_k / rows) * ceil_div(block_c, vectors * width);
    const std::int64_t products = ceil_div(all, chunk) * 37 * panels * (chunk + 2);
    return transforms + products + block_k * (block_c / width) * (12 + 11 * width);
  }
};

WeightCut cut_of(const Conv2dSizes& s, const Target& target) {
  WeightCut cut{};
  cut.width = target.cpu_vector_width();
  cut.rows = cut.width == 16 ? 8 : 4;
  cut.tiles_h = ceil_div(s.out_h, 4);
  cut.tiles_w = ceil_div(s.out_w, 4);
  cut.tiles = s.images * cut.tiles_h * cut.tiles_w;
  const std::int64_t panel = vectors * cut.width;
  cut.block_k = std::min(ceil_div(s.outputs, cut.width) * cut.width, max_block);
  cut.block_c = std::min(ceil_div(s.channels, panel) * panel, max_block);
  const std::int64_t m = 36 * cut.block_k * cut.block_c, of_tile = 36 * (cut.block_k + cut.block_c);
  cut.chunk = std::clamp((wanted_tile_slice - m) / of_tile, min_chunk, max_chunk);
  cut.split_k = 1;
  const std::int64_t wanted = 2 * std::int64_t{target.info.compute_units};  // Each part writes another M.
  cut.split_k = std::clamp<std::int64_t>(ceil_div(wanted, cut.units(s)), 1, ceil_div(cut.tiles, cut.chunk));
  cut.items = std::min(cut.units(s), wanted);
  cut.slice = ceil_div(m + of_tile * cut.chunk + 3 * 36 * cut.width, 16) * 16;
  return cut;
}

const char* check(const Conv2dSizes& s, const WeightCut& cut, const Target& target) {
  // Vector operations for a tile, measured: transforming 16 channels takes 250 for each block of outputs, and
  // transforming 16 outputs takes 200 for each block of channels.
  const auto c = static_cast<double>(ceil_div(s.channels, 32) * 32),
             k = static_cast<double>(ceil_div(s.outputs, 8) * 8);
  const double pixels = static_cast<double>(s.out_h * s.out_w) / static_cast<double>(cut.tiles_h * cut.tiles_w);
  const double transforms = 250 * c / 16 * std::ceil(k / 64) + 200 * k / 16 * std::ceil(c / 64);
  if (1.2 * 36 * c * k / 16 + transforms > pixels * 9 * static_cast<double>(s.channels * s.outputs) / 16)
    return "too few channels or too small planes to pay";
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 32;
  if (s.height * s.width > most || 16 * cut.tiles_h * cut.tiles_w > most) return "too large an image";
  if (cut.iterations() * ceil_div(cut.units(s), cut.items) > target.loop_budget ||
      6 * 16 * cut.tiles_h * cut.tiles_w > target.loop_budget)
    return "too large for the device's loops";
  return nullptr;
}

using kernels::number;

// Planes of x or dy.
struct Images {
  std::int64_t images, channels, height, width;
};

// Adds the launch that copies pixels into blocks of channels, padded to `rows` x `columns`.
void add_pixels(Plan& plan, const Target& target, const runtime::Defines& defines, const Images& s, const Place& from,
                const Place& to, const std::array<std::int64_t, 4>& padded) {
  const auto [rows, columns, pad_h, pad_w] = padded;
  const std::int64_t width = target.cpu_vector_width(), blocks = ceil_div(s.channels, width);
  const std::int64_t iterations = rows * (columns + 1) + ceil_div(s.height * s.width, width) * 3 * (width + 6);
  plan.add({"conv/cpu/conv2d_winograd_weight.cl", "winograd_pixels", defines},
           persistent_range(target, s.images * blocks, iterations), from, to,
           kernels::PaddedParameters{number(s.images), number(s.channels), number(s.height), number(s.width),
                                     number(rows), number(columns), number(pad_h), number(pad_w)});
}

}  // namespace

PlanOr plan_winograd_weight(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [dy, x, dw] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  if (const char* reason = check_winograd_form(s)) return reason;
  const WeightCut cut = cut_of(s, target);
  if (const char* reason = check(s, cut, target)) return reason;
  runtime::Defines defines{{"VW", cut.width}, {"MR", cut.rows}, {"NV", vectors}};
  dispatch::define_math(defines, target.info);
  define_elements(defines, p.type);
  runtime::Defines rounding = defines;  // Of the kernel that writes dw.
  define_result_type(rounding, p.type);
  Plan plan;
  const auto workspace = [&](std::int64_t floats) { return plan.workspace(4 * static_cast<std::uint64_t>(floats)); };
  const Place x_pixels = workspace(cut.x_pixels(s)), dy_pixels = workspace(cut.dy_pixels(s));
  const Place scratch = workspace(cut.items * cut.slice);
  const Place sums = cut.split_k == 1 ? dw : workspace(cut.split_k * s.weight_size());
  const std::int64_t rows = 4 * cut.tiles_h, columns = 4 * cut.tiles_w;
  add_pixels(plan, target, defines, {s.images, s.channels, s.height, s.width}, x, x_pixels,
             {rows + 2, columns + 2, s.pad_h, s.pad_w});
  add_pixels(plan, target, defines, {s.images, s.outputs, s.out_h, s.out_w}, dy, dy_pixels, {rows, columns, 0, 0});
  const bool is_split = cut.split_k > 1;
  plan.add({"conv/cpu/conv2d_winograd_weight.cl", "winograd_gradient", is_split ? defines : rounding},
           {{cut.items}, {1}}, x_pixels, dy_pixels, sums, scratch,
           kernels::WinogradWeightParameters{.images = s.images,
                                             .slice = cut.slice,
                                             .channels = number(s.channels),
                                             .outputs = number(s.outputs),
                                             .tiles_h = number(cut.tiles_h),
                                             .tiles_w = number(cut.tiles_w),
                                             .parts = number(cut.split_k),
                                             .block_k = number(cut.block_k),
                                             .block_c = number(cut.block_c),
                                             .chunk = number(cut.chunk)});
  if (!is_split) return plan;
  plan.add({"conv/cpu/conv2d_winograd_weight.cl", "winograd_add_parts", rounding},
           persistent_range(target, ceil_div(s.weight_size(), cut.width), 2 * cut.width * cut.split_k), sums, dw,
           s.weight_size(), number(cut.split_k));
  return plan;
}

}  // namespace crisol::ops
