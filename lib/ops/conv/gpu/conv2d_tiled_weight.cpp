// The gradient of a convolution's weight as one product over the pixels of all images (conv2d_tiled_weight.cl). If the
// depth is split, gemm_parts.cl follows.
#include <algorithm>

#include "base/ceil_div.h"
#include "ops/conv/conv2d_variants.h"
#include "ops/conv/gpu/conv2d_gather.h"
#include "ops/conv/gpu/conv2d_tiled.h"
#include "ops/product/indices.h"
#include "product/sizes.h"

namespace crisol::ops {

namespace {

// The table holds at least one slice of pixels.
std::int64_t table_images(const Conv2dSizes& s) { return ceil_div(std::int64_t{MAX_SLICE}, s.pixels()); }

std::int64_t table_size(const Conv2dSizes& s) { return table_images(s) * s.pixels(); }

// The number of entries of the table, plus the pixels of one more slice.
std::int64_t table_pixels(const Conv2dSizes& s) { return table_size(s) + MAX_SLICE; }

const char* check_tiled_sizes(const Conv2dSizes& s, const Target& target) {
  if (s.images == 0) return "there are no images";
  const std::int64_t images = std::min(s.images, ceil_div(table_pixels(s), s.pixels()));  // Images of the table.
  if (s.images * s.pixels() >= max_index || s.depth() >= max_index ||
      images * std::max(s.input_image(), s.output_image()) > max_index)
    return "too large for the kernel's indices";
  return s.images * s.pixels() / 4 > target.loop_budget ? "too deep" : nullptr;
}

// Adds the table of the pixels' addresses.
Place add_table(Plan& plan, const Target& target, const Conv2dSizes& s, std::int64_t type) {
  const std::int64_t pixels = table_pixels(s);
  const Place table = plan.workspace(16 * static_cast<std::uint64_t>(pixels));
  runtime::Defines defines;
  define_storage(defines, "SRC_STORAGE", type);
  plan.add({"conv/gpu/conv2d_tiled_prepare.cl", "conv2d_tiled_pixels", defines}, target.flat_range(pixels), table,
           kernels::PatchesParameters{s.input_image(), 0, number(s.pixels()), number(s.pixels()), number(s.out_w), 0},
           forward_product(s).window(), number(s.output_image()), number(pixels));
  return table;
}

void add_product(Plan& plan, const Target& target, const Conv2dProblem& p, const ConvEngine& with,
                 const TilePlan& cut) {
  const auto [dy, x, dw] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  const std::int64_t m = s.group_outputs(), n = s.depth();
  const bool is_split = cut.split_k > 1;
  const int vectors = n % 4 == 0 ? 4 : 1;
  const Place table = add_table(plan, target, s, p.type);
  const Place c = is_split ? plan.workspace(4 * static_cast<std::uint64_t>(cut.split_k * s.weight_size())) : dw;
  const EpilogueArgs e = no_epilogue(c);
  runtime::KernelSpec spec{"conv/gpu/conv2d_tiled_weight.cl", "conv2d_tiled_weight"};
  with.engine.define(spec, cut.tile, target);
  define_storage(spec.defines, "SRC_STORAGE", p.type);
  define_result(spec, target, {}, std::min(with.engine.result_run(), vectors), is_split ? 0 : p.type);
  plan.add(spec, range_of(with.engine, cut), dy, x, c, table, e,
           kernels::ProductParameters{m, n, s.images * s.pixels(), cut.part_depth, cut.split_k, 0},
           kernels::PixelsParameters{
               s.group_channels() * s.plane(), m * s.pixels(), number(table_images(s) * s.input_image()),
               number(table_images(s) * s.output_image()), 1, number(s.kernel_h), number(s.kernel_w), number(s.plane()),
               0, number(s.dilation_h * s.width), number(s.dilation_w), number(s.pixels()), number(table_size(s)), 0});
  if (!is_split) return;
  add_parts_sum(plan, target,
                {.parts = c,
                 .c = dw,
                 .bias = dw,
                 .m = m,
                 .n = n,
                 .batch = s.groups,
                 .c_batch = m * n,
                 .c_row = n,
                 .c_column = 1,
                 .c_type = p.type,
                 .split_k = cut.split_k,
                 .args = e,
                 .vectors = vectors});
}

}  // namespace

PlanOr plan_weight_product(const Conv2dProblem& p, const Target& target, const ConvEngine& with) {
  const Conv2dSizes& s = p.sizes;
  if (with.reason != nullptr) return with.reason;
  if (const char* reason = check_gathering(s)) return reason;
  if (const char* reason = check_tiled_sizes(s, target)) return reason;
  const ProductExtent extent{s.group_outputs(), s.depth(), s.images * s.pixels(), s.groups};
  if (const char* reason = with.engine.against(extent, target)) return reason;
  const int max_parts = max_split_k(target, 4 * s.weight_size(), 16 * table_pixels(s));
  const TilePlan cut = plan_tiles(with.engine, with.tiles, target, extent, max_parts);
  if (cut.groups > with.engine.max_groups()) return "too many tiles";
  Plan plan;
  add_product(plan, target, p, with, cut);
  return plan;
}

PlanOr plan_conv2d_block_weight(const Conv2dProblem& p, const Target& target, std::size_t config) {
  return plan_weight_product(p, target, block_weight_engine(target, config));
}

PlanOr plan_conv2d_matrix_weight(const Conv2dProblem& p, const Target& target, std::size_t config) {
  return unless_emulated(plan_weight_product(p, target, matrix_weight_engine(p, target, config)),
                         target.unit(p.precision()));
}

}  // namespace crisol::ops
