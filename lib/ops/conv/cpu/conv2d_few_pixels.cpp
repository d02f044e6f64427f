// Convolution on CPUs for outputs of a few pixels (conv2d_few_pixels.cl), such as short signals and last layers.
#include <algorithm>

#include "base/ceil_div.h"
#include "ops/conv/conv2d_variants.h"
#include "ops/product/cpu/cpu_tiles.h"
#include "ops/storage.h"
#include "product/sizes.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t max_pixels = 16;       // Limit for the pixels of all images.
constexpr std::int64_t max_copies = 1 << 24;  // Limit for the elements of all copies: 64 MB.
constexpr std::int64_t max_depth = 1 << 16;   // Limit for the depth: the patches of an item then take 4 MB.

// Pixels that share each load of the weight: SKINNY_ROWS, or up to two more if they save reading the weight once more.
std::int64_t tile_rows(std::int64_t pixels) {
  const std::int64_t tiles = ceil_div(pixels, SKINNY_ROWS + 2);
  return tiles < ceil_div(pixels, SKINNY_ROWS) ? ceil_div(pixels, tiles) : SKINNY_ROWS;
}

// Loop iterations of an item that copies all patches and computes `vectors` vectors of outputs. The end of a loop
// counts too: a loop with one round takes two iterations.
std::int64_t iterations_of(const Conv2dSizes& s, std::int64_t vectors, std::int64_t lanes) {
  const std::int64_t pixels = s.images * s.pixels(), rows = tile_rows(pixels), tiles = ceil_div(pixels, rows);
  const std::int64_t of_patch = 2 + s.channels * (2 + s.kernel_h * (3 + s.kernel_w));
  return pixels * of_patch + vectors * (2 + tiles * (2 + s.depth() + rows * (lanes + 4)));
}

// Vectors of outputs in a panel. More rows than SKINNY_ROWS leave registers for two. A panel that is not full is read
// vector by vector, so there are also two if they leave fewer outputs over than the usual number.
std::int64_t panel_vectors(std::int64_t vectors, std::int64_t rows, std::int64_t usual) {
  return rows > SKINNY_ROWS || vectors % 2 < vectors % usual ? 2 : usual;
}

const char* reason_against(const Conv2dProblem& p, std::int64_t lanes) {
  const Conv2dSizes& s = p.sizes;
  if (s.images * s.pixels() > max_pixels) return "more than 16 pixels";
  if (s.groups != 1) return "several groups";
  if (2 * s.outputs <= lanes) return "too few outputs for a vector";
  if (s.depth() == 0) return "nothing to add up";
  if (s.depth() > max_depth) return "too deep";
  if (s.input_image() >= (1 << 27) || s.height >= (1 << 27) || s.width >= (1 << 27))
    return "one image has more than 2^27 elements";
  if (p.epilogue.operand_count != 0) return "an epilogue with operands";
  return nullptr;
}

}  // namespace

PlanOr plan_few_pixels(const Conv2dProblem& p, const Target& target, std::size_t) {
  const Conv2dSizes& s = p.sizes;
  const std::int64_t lanes = target.cpu_vector_width();
  if (const char* reason = reason_against(p, lanes)) return reason;
  const std::int64_t vectors = ceil_div(s.outputs, lanes);
  // There are no more items than cores, because each item copies all patches.
  const std::int64_t items = std::clamp<std::int64_t>(target.info.compute_units, 1, vectors);
  if (iterations_of(s, ceil_div(vectors, items), lanes) > target.loop_budget) return "too deep for the device's loops";

  const auto [x, weight, y] = operands<3>();
  const std::int64_t rows = tile_rows(s.images * s.pixels());
  const std::int64_t of_panel = panel_vectors(ceil_div(vectors, items), rows, panel_columns(target) / lanes);
  const runtime::Defines packing = cpu_tile_defines(target, lanes, lanes == 16 ? 8 : 4, of_panel);
  runtime::Defines defines = packing;
  define_type(defines, "SOURCE", p.type);
  define_result_type(defines, p.type);
  defines.add({"TILE_ROWS", rows});
  // Every item copies all patches.
  if (items * s.images * s.pixels() * s.depth() > max_copies) return "patches too large for all cores";
  const std::int64_t slice = ceil_div(s.images * s.pixels() * s.depth(), 16) * 16;
  Plan plan;
  const Place packed =
      derive_packed(plan, target, packing, weight,
                    {.m = s.outputs, .k = s.depth(), .row = s.depth(), .stride0 = 1, .type = p.type}, of_panel * lanes);
  const Place scratch = plan.workspace(4 * static_cast<std::uint64_t>(items * slice));
  const EpilogueArgs e = p.epilogue_args(weight);
  plan.add({"conv/cpu/conv2d_few_pixels.cl", "conv2d_few_pixels", defines, epilogue_prelude(p.epilogue)},
           {{items}, {1}}, x, packed, y, p.bias_or(weight), scratch, e, s.kernel_sizes(), s.kernel_window(),
           static_cast<std::int32_t>(s.depth()), slice, p.flags());
  return plan;
}

}  // namespace crisol::ops
