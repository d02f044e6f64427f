// Convolution of channels in blocks: checks, and the variants.
#include "ops/conv/conv2d_blocks.h"
#include "dispatch/device_defines.h"
#include "ops/contiguous.h"

#include <algorithm>
#include <limits>

#include "base/ceil_div.h"
#include "crisol/ops/copy.h"
#include "ops/check.h"
#include "ops/storage.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr const char* op = "conv2d_blocks";

/// The widths of tiles in columns. They name the configurations.
constexpr std::array<std::int64_t, 8> tile_columns{14, 12, 10, 8, 7, 6, 5, 4};
const std::string block_tile_names[] = {"14", "12", "10", "8", "7", "6", "5", "4"};
std::span<const std::string> tile_configs() { return block_tile_names; }

/// If a kernel of 1 x 1 reads every pixel once, a plane can be treated as one line.
Conv2dSizes as_lines(Conv2dSizes s) {
  const bool sees_each_once = s.taps() == 1 && s.stride_h == 1 && s.stride_w == 1 && s.pad_h == 0 && s.pad_w == 0 &&
                              s.out_h == s.height && s.out_w == s.width;
  if (!sees_each_once) return s;
  s.width = s.out_w = s.plane();
  s.height = s.out_h = 1;
  return s;
}

constexpr std::int64_t max_positions = std::numeric_limits<std::int32_t>::max() / 16;

std::int64_t groups_of(const Conv2dBlocksProblem& p) { return ceil_div(p.blocks(), p.tile_blocks); }

Place bias_of(const Conv2dBlocksProblem& p, const Place& any) { return p.has_bias != 0 ? conv2d_bias : any; }

kernels::BlocksParameters kernel_sizes(const Conv2dBlocksProblem& p, const Conv2dSizes& s) {
  return {s.channels, s.height, s.width, p.blocks(), s.out_h, s.out_w};
}

/// The columns of x that neighbouring tiles with `columns` columns of y read.
std::int64_t seen_by(const Conv2dSizes& s, std::int64_t columns) {
  return (columns - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w + 1;
}

constexpr std::int64_t min_work = 1 << 15;  ///< Multiply-adds of vectors in a work-item: some microseconds.

/// So that all cores end at about the same time.
std::int64_t wanted_items(const Target& target) { return std::int64_t{4} * target.info.compute_units; }

/// How conv2d_blocks.cl cuts its work. A unit has `tiles` tiles of a plane: some whole rows, or a part of a row.
struct UnitCut {
  std::int64_t columns;  ///< Of a tile.
  std::int64_t in_row;   ///< Tiles of a row.
  std::int64_t in_blocks, tiles, units, items;

  /// The rows and the columns of x that a unit reads.
  std::int64_t rows_seen(const Conv2dSizes& s) const {
    const std::int64_t rows = ceil_div(tiles, in_row);
    return std::min(s.height, (rows - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1);
  }
  std::int64_t columns_seen(const Conv2dSizes& s) const { return seen_by(s, std::min(tiles, in_row) * columns); }

  /// The loop rounds for a unit.
  std::int64_t loops(const Conv2dBlocksProblem& p, const Conv2dSizes& s) const {
    const std::int64_t tile = p.in_blocks() * (s.kernel_h * (s.kernel_w * (p.block_in + 1) + 1) + 2);
    const std::int64_t copy = p.in_blocks() * (rows_seen(s) * (columns_seen(s) * p.block_in + 4) + 1);
    return tiles * (tile + p.tile_blocks * columns + 4) + copy;
  }
};

/// `items` is 0 if a unit has more loop rounds than the device takes. The weights of 128 rows of the product fit in the
/// first cache, and a unit's part of x in the second. Several taps read an element of x as often, so with them the part
/// may be larger, and fewer units read the weights again.
UnitCut units_of(const Conv2dBlocksProblem& p, const Conv2dSizes& s, const Target& target, std::int64_t columns) {
  constexpr std::int64_t max_bytes = 1 << 17;  // Of x: a quarter of a small second cache.
  constexpr std::int64_t max_sums = 1 << 13;   // Floats in the item's scratch.
  UnitCut cut{columns, ceil_div(s.out_w, columns), 0, 0, 0, 0};
  cut.in_blocks = std::min(p.in_blocks(), ceil_div(128, p.block_in * s.taps()));
  const std::int64_t groups = groups_of(p), wanted = wanted_items(target), tiles = cut.in_row * s.out_h;
  const std::int64_t bytes =
      4 * s.channels * columns * std::min(s.stride_w, s.kernel_w) * std::min(s.stride_h, s.kernel_h);
  cut.tiles = std::min(max_bytes * s.taps() / bytes, ceil_div(tiles, ceil_div(wanted, s.images * groups)));
  if (cut.in_blocks < p.in_blocks()) cut.tiles = std::min(cut.tiles, max_sums / (p.tile_blocks * columns * p.block));
  cut.tiles = std::max<std::int64_t>(cut.tiles, 1);
  if (cut.tiles > cut.in_row)
    cut.tiles = cut.tiles / cut.in_row * cut.in_row;
  else
    cut.tiles = ceil_div(cut.in_row, ceil_div(cut.in_row, cut.tiles));
  if (cut.loops(p, s) > target.loop_budget) cut.tiles = 1;
  const std::int64_t pieces =
      cut.tiles > cut.in_row ? ceil_div(tiles, cut.tiles) : s.out_h * ceil_div(cut.in_row, cut.tiles);
  cut.units = s.images * pieces * groups;
  const std::int64_t most = target.loop_budget / cut.loops(p, s);  // Units of an item.
  if (most == 0) return cut;
  const std::int64_t work = s.images * tiles * groups * s.channels * s.taps() * columns * p.tile_blocks;
  cut.items = std::min(cut.units, std::max(std::min(wanted, ceil_div(work, min_work)), ceil_div(cut.units, most)));
  return cut;
}

runtime::KernelSpec tiles_spec(const Conv2dBlocksProblem& p, const Conv2dSizes& s, const Target& target,
                               std::int64_t columns) {
  runtime::KernelSpec spec{"conv/cpu/blocks/conv2d_blocks.cl", "conv2d_blocks", {{"VW", p.block}, {"T", columns}}};
  spec.prelude = epilogue_prelude(p.epilogue);
  spec.defines.add({"STRIDE", s.stride_w});
  if (p.is_depthwise()) {
    spec.source = "conv/cpu/blocks/conv2d_blocks_depthwise.cl";
    spec.entry = "conv2d_blocks_depthwise";
    spec.defines.add({"TAPS_W", s.kernel_w});
    spec.defines.add({"DILATION_W", s.dilation_w});
  } else {
    spec.defines.add({"XB", p.block_in});
    spec.defines.add({"OB", p.tile_blocks});
  }
  dispatch::define_math(spec.defines, target.info);
  define_elements(spec.defines, p.type);
  define_result_type(spec.defines, p.result_type);
  return spec;
}

std::int64_t whole_lines(std::int64_t floats) { return ceil_div(floats, std::int64_t{16}) * 16; }

PlanOr plan_depthwise(const Conv2dBlocksProblem& p, const Conv2dSizes& s, const Target& target, std::int64_t columns) {
  const auto [x, weight, y] = operands<3>();
  const std::int64_t tiles = ceil_div(s.out_w, columns) * s.out_h, loops_of_tile = s.kernel_h + columns + 2;
  const std::int64_t least = std::min(tiles, ceil_div(min_work, s.taps() * columns));
  const std::int64_t of_item =
      std::min(std::max(ceil_div(tiles, ceil_div(wanted_items(target), s.images * groups_of(p))), least),
               target.loop_budget / loops_of_tile);
  if (of_item == 0) return "too large for the device's loops";
  const runtime::NdRange range{{groups_of(p), ceil_div(tiles, of_item), s.images}, {1, 1, 1}};
  Plan plan;
  plan.add(tiles_spec(p, s, target, columns), range, x, weight, bias_of(p, weight), y,
           epilogue_args(p.epilogue, conv2d_e0, conv2d_e1, weight), kernel_sizes(p, s), s.kernel_window(),
           kernels::number(of_item), p.flags());
  return plan;
}

PlanOr plan_tiles(const Conv2dBlocksProblem& p, const Target& target, std::size_t config) {
  const auto [x, weight, y] = operands<3>();
  const Conv2dSizes s = as_lines(p.sizes);
  const std::int64_t columns = config == own_config
                                   ? tile_width(s.out_w, p.is_depthwise() ? 2 : p.tile_blocks, p.block, target)
                                   : tile_columns[config];
  if (!tiles_take(s, p.block)) return "too large an image or kernel";
  if (seen_by(s, std::max(s.out_w, columns)) > max_positions / p.block_in) return "too large a kernel";
  if (p.is_depthwise()) return plan_depthwise(p, s, target, columns);
  const UnitCut cut = units_of(p, s, target, columns);
  if (cut.items == 0) return "too large for the device's loops";
  const std::int64_t sums = cut.tiles * p.tile_blocks * columns * p.block;
  const std::int64_t slice = whole_lines(sums + cut.rows_seen(s) * cut.columns_seen(s) * cut.in_blocks * p.block_in);
  Plan plan;
  const Place scratch = plan.workspace(4 * static_cast<std::uint64_t>(cut.items * slice));
  plan.add(tiles_spec(p, s, target, columns), {{cut.items}, {1}}, x, weight, bias_of(p, weight), y, scratch,
           epilogue_args(p.epilogue, conv2d_e0, conv2d_e1, weight), kernel_sizes(p, s), s.kernel_window(),
           kernels::BlocksCut{kernels::number(s.images), kernels::number(cut.tiles), kernels::number(cut.in_blocks), 0},
           slice, p.flags());
  return plan;
}

PlanOr plan_direct(const Conv2dBlocksProblem& p, const Target& target, std::size_t) {
  const auto [x, weight, y] = operands<3>();
  Plan plan;
  add_blocks_direct(plan, p, target, {x, weight, bias_of(p, weight), y},
                    epilogue_args(p.epilogue, conv2d_e0, conv2d_e1, weight));
  return plan;
}

constexpr dispatch::Variant<Conv2dBlocksProblem> blocks_variants[] = {
    {"tiles", DeviceClass::cpu, plan_tiles, tile_configs, true},
    {"direct", DeviceClass::any, plan_direct, nullptr, true}};

/// The problem of these operands. Throws if their shapes do not fit the sizes.
Conv2dBlocksProblem problem_of(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dSizes& s) {
  const bool depthwise = s.groups > 1;
  require(s.groups == 1 || (s.groups == s.channels && s.groups == s.outputs), op, s.groups, " groups of ", s.channels,
          " channels and ", s.outputs, " outputs; one group, or one for each channel and output, is expected");
  require_storage(op, "the input", x);
  require(x.dim() == 5, op, "the input must have 5 axes (N, blocks, H, W, block), its shape is ", x.shape());
  require(weight.dim() == (depthwise ? 4 : 7), op, "the weight must have ", depthwise ? 4 : 7, " axes, its shape is ",
          weight.shape());
  Conv2dBlocksProblem p{.sizes = s,
                        .block_in = x.size(4),
                        .block = weight.size(-1),
                        .tile_blocks = depthwise ? 1 : weight.size(5),
                        .has_bias = bias.defined() ? 1 : 0,
                        .epilogue = {},
                        .type = storage_of(x),
                        .result_type = storage_of(x)};
  require(p.block == 4 || p.block == 8 || p.block == 16, op, "a block of ", p.block,
          " outputs; 4, 8 or 16 is expected");
  require_shape(op, "the input", x, {s.images, p.in_blocks(), s.height, s.width, p.block_in});
  if (depthwise)
    require_operand(op, "the input", x, "the weight", weight, {p.blocks(), s.kernel_h, s.kernel_w, p.block_in});
  else
    require_operand(op, "the input", x, "the weight", weight,
                    {ceil_div(p.blocks(), p.tile_blocks), p.in_blocks(), s.kernel_h, s.kernel_w, p.block_in,
                     p.tile_blocks, p.block});
  if (bias.defined()) require_operand(op, "the input", x, "the bias", bias, {p.blocks(), p.block});
  return p;
}

}  // namespace

const Table<Conv2dBlocksProblem> conv2d_blocks_table(op, blocks_variants);

dispatch::ProblemKey Conv2dBlocksProblem::key() const {
  const Conv2dSizes& s = sizes;
  const dispatch::ProblemKey key{{"n", s.images},         {"c", s.channels},        {"h", s.height},
                                 {"w", s.width},          {"k", s.outputs},         {"r", s.kernel_h},
                                 {"s", s.kernel_w},       {"stride_h", s.stride_h}, {"stride_w", s.stride_w},
                                 {"pad_h", s.pad_h},      {"pad_w", s.pad_w},       {"dil_h", s.dilation_h},
                                 {"dil_w", s.dilation_w}, {"out_h", s.out_h},       {"out_w", s.out_w},
                                 {"block_in", block_in},  {"block", block},         {"kind", is_depthwise() ? 1 : 0}};
  return key.with_types(type);
}

void add_blocks_direct(Plan& plan, const Conv2dBlocksProblem& p, const Target& target, const BlocksOperands& o,
                       const EpilogueArgs& e) {
  const Conv2dSizes& s = p.sizes;
  const std::int64_t count = s.images * p.blocks() * s.pixels() * p.block;
  runtime::Defines defines{{"VW", p.block}};
  define_elements(defines, p.type);
  define_result_type(defines, p.result_type);
  plan.add({"conv/conv2d_blocks_direct.cl", "conv2d_blocks_direct", defines, epilogue_prelude(p.epilogue)},
           target.flat_range(count), o.x, o.weight, o.bias, o.y, e, count, kernel_sizes(p, s), s.kernel_window(),
           kernels::number(p.block_in), kernels::number(p.tile_blocks), kernels::number(p.is_depthwise() ? 1 : 0),
           p.flags());
}

bool tiles_take(const Conv2dSizes& s, std::int64_t block) {
  constexpr std::int64_t max_unrolled = 32;
  return std::max(s.plane(), s.pixels()) <= max_positions / block && s.channels <= max_positions &&
         s.outputs <= max_positions && (s.groups == 1 || s.kernel_w <= max_unrolled);
}

std::int64_t channel_block(const Target& target) {
  // On a device that limits loops, no tiles would fit large layers.
  if (!target.takes_cpu_kernels() || target.loop_budget != std::numeric_limits<std::int64_t>::max()) return 0;
  return target.cpu_vector_width() == 16 ? 16 : 8;
}

std::int64_t tile_width(std::int64_t out_w, std::int64_t tile_blocks, std::int64_t block, const Target& target) {
  const std::int64_t registers = target.cpu_vector_width() == 16 && block == 16 ? 28 : 12;  // For sums.
  // Each width is a program. So a narrower tile must save something, and all wide rows have one program.
  constexpr double worth = 0.92;
  std::int64_t best = 0;
  double least = 0;
  for (const std::int64_t columns : tile_columns) {
    if (columns > std::max<std::int64_t>(registers / tile_blocks, 4)) continue;
    const double cost = static_cast<double>(ceil_div(out_w, columns)) * (static_cast<double>(columns) + 1);
    if (best == 0 || cost < worth * least) {
      best = columns;
      least = cost;
    }
  }
  return best;
}

std::int64_t blocks_of_tile(std::int64_t outputs, std::int64_t block) {
  const std::int64_t blocks = ceil_div(outputs, block);
  return blocks == 1 ? 1 : blocks % 2 != 0 && blocks % 3 == 0 ? 3 : 2;
}

ProductResult conv2d_blocks(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dSizes& sizes,
                            const ProductEpilogue* f) {
  Conv2dBlocksProblem problem = problem_of(x, weight, bias, sizes);
  const Tensor y =
      empty({sizes.images, problem.blocks(), sizes.out_h, sizes.out_w, problem.block}, x.dtype(), x.device());
  if (y.numel() == 0) return {y, true};
  problem.epilogue = layout_of(f);
  const Contiguous images(x), filters(weight), shift(bias);
  const PreparedPtr prepared = prepare(conv2d_blocks_table, problem, state_of(y));
  return {y, launch_conv2d(*prepared, images.filled(), in(filters), shift.filled(), y, f)};
}

}  // namespace crisol::ops
