#include "ops/conv/gpu/conv2d_gather.h"

#include <algorithm>

#include "conv/sizes.h"
#include "ops/product/indices.h"
#include "ops/storage.h"
#include "product/sizes.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t max_columns = 128;  // The largest number of columns of all tiles.

std::int64_t row_entries(const GatheredProduct& p) { return p.packed_depth() / p.channel_vector(); }

// The number of entries. The last slice may reach beyond the depth. The number is even, so that A, which follows,
// starts at a multiple of four.
std::int64_t table_count(const GatheredProduct& p) { return (row_entries(p) + MAX_SLICE + 1) / 2 * 2; }

// The number of elements of the images that one tile reads.
std::int64_t seen_by_tile(const GatheredProduct& p) {
  return std::min(p.images, (max_columns - 2) / p.pixels() + 2) * p.src_image;
}

std::int64_t packed_floats(const GatheredProduct& p) { return p.groups * p.m * p.packed_depth(); }

// Whether one instruction can store four neighbours in a row of the result, and load the epilogue's operands for them.
bool stores_vectors(const GatheredProduct& p, const Conv2dProblem& problem) {
  return p.c_w == 1 && p.c_h == p.columns && is_multiple(p.pixels()) && is_multiple(p.c_image) &&
         is_multiple(p.c_group) && is_multiple(p.c_row) && is_multiple(problem.offsets[2] + p.c_first) &&
         reads_vectors(problem.epilogue);
}

DerivedKey key_of(const GatheredProduct& p, std::int64_t type) {
  static constexpr char forward[] = "gathered", transposed[] = "gathered, transposed";
  return {p.is_packed() ? forward : transposed,
          {p.groups, p.m, p.channels, p.taps_h, p.taps_w, p.src_channel, p.tap_h * p.width, p.tap_w,
           p.weight_strides[1], p.weight_strides[3], p.weight_strides[4], type}};
}

/// The weight in the form that a kernel takes.
struct PackedWeight {
  Place table, a;
};

// Derives a copy with the table. If the weight itself cannot be A, the copy also has A after the table.
PackedWeight derive_weight(Plan& plan, const Target& target, const GatheredProduct& p, const Place& weight,
                           std::int64_t type, bool packs) {
  const std::int64_t count = table_count(p), entries = p.depth() / p.channel_vector();
  const std::int64_t floats = 2 * count + (packs ? packed_floats(p) : 0);
  const Place derived = plan.derive(weight, key_of(p, type), 4 * static_cast<std::uint64_t>(floats));
  runtime::Defines defines = elements_of(type);
  define_storage(defines, "SRC_STORAGE", type);
  plan.add_to_derived(derived, {"conv/gpu/conv2d_tiled_prepare.cl", "conv2d_tiled_table", defines},
                      target.flat_range(count), derived,
                      kernels::TableParameters{number(count), number(entries), p.channel_vector(), 1, p.taps_h,
                                               p.taps_w, number(p.src_channel), 0, number(p.tap_h * p.width), p.tap_w});
  if (!packs) return {derived, weight};
  const Place a = derived.offset_by(2 * count);
  const std::int64_t packed = p.groups * p.m * row_entries(p);
  const auto& [group, line, channel, row, column] = p.weight_strides;
  plan.add_to_derived(derived, {"conv/gpu/conv2d_tiled_prepare.cl", "conv2d_tiled_pack", defines},
                      target.flat_range(packed), weight, a,
                      kernels::PackParameters{number(packed), number(p.m), number(entries), number(row_entries(p)),
                                              p.channel_vector(), 1, p.taps_h, p.taps_w, number(group), number(line),
                                              number(channel), 0, number(row), number(column)});
  return {derived, a};
}

}  // namespace

const char* check_gathering(const Conv2dSizes& s) {
  static_assert(WINDOW_ROWS == 16 && WINDOW_COLUMNS == 15, "the reason names them");
  if (s.kernel_h > WINDOW_ROWS || s.kernel_w > WINDOW_COLUMNS) return "the kernel is larger than 16 x 15";
  const std::int64_t rows = s.height + s.out_h + 2 * s.pad_h + WINDOW_ROWS * s.dilation_h;
  const std::int64_t columns = s.width + s.out_w + 2 * s.pad_w + WINDOW_COLUMNS * s.dilation_w;
  if (rows >= max_index / columns) return "the padded planes are too large for the kernel's indices";
  if (std::max(s.input_image(), s.output_image()) >= max_index)
    return "one image is too large for the kernel's indices";
  return nullptr;
}

const char* check_gathered(const GatheredProduct& p, const Target& target) {
  if (p.n() >= max_index || packed_floats(p) >= max_index) return "too large for the kernel's indices";
  if (p.n() > 0 && seen_by_tile(p) > max_index) return "the images are too large for the kernel's indices";
  return p.packed_depth() / 4 > target.loop_budget ? "too deep" : nullptr;
}

int max_gathered_split_k(const GatheredProduct& p, const Target& target) {
  const std::int64_t results = std::max<std::int64_t>(1, p.groups * p.m * p.n());
  return max_split_k(target, 4 * results, 4 * (2 * table_count(p) + packed_floats(p)));
}

void add_gathered(Plan& plan, const Target& target, const Conv2dProblem& problem, const GatheredProduct& p,
                  const Engine& engine, const TilePlan& cut) {
  const auto [src, weights, results] = operands<3>();
  const Place weight = weights.offset_by(p.weight_first), c = results.offset_by(p.c_first);
  const std::int64_t depth = p.packed_depth(), count = p.groups * p.m * p.n();
  const int split_k = cut.split_k, vectors = stores_vectors(p, problem) ? 4 : 1;
  const bool is_split = split_k > 1;
  // A packed weight is f32.
  const bool packs = !p.is_packed() || problem.type != 0 || !is_multiple(problem.offsets[1] + p.weight_first);
  const auto [table, a] = derive_weight(plan, target, p, weight, problem.type, packs);
  const Place sums = is_split ? plan.workspace(4 * static_cast<std::uint64_t>(count * split_k)) : c;
  const Place bias = problem.bias_or(weight);
  const EpilogueArgs e = problem.epilogue_args(src);
  const std::int64_t size = p.m * p.n();

  runtime::KernelSpec multiply{"conv/gpu/conv2d_tiled.cl", "conv2d_tiled"};
  engine.define(multiply, cut.tile, target);
  multiply.defines.add({"CHANNEL_VECTOR", p.channel_vector()});
  define_storage(multiply.defines, "SRC_STORAGE", problem.type);
  const int stored = is_split ? (is_multiple(p.n()) ? 4 : 1) : vectors;
  define_result(multiply, target, is_split ? EpilogueLayout{} : problem.epilogue, std::min(engine.result_run(), stored),
                is_split ? 0 : problem.type);
  // The sums of each part of the depth go to matrices without gaps between images.
  plan.add(multiply, range_of(engine, cut), a, src, sums, bias, table, e,
           kernels::ProductParameters{p.m, p.n(), depth, cut.part_depth, split_k, is_split ? 0 : problem.flags()},
           kernels::MatrixParameters{p.m * depth, depth},
           kernels::PatchesParameters{p.src_image, p.src_group, number(p.pixels()), number(p.pixels()),
                                      number(p.columns), 0},
           p.window(),
           is_split ? kernels::ResultParameters{split_k * size, p.n(), 1, size}
                    : kernels::ResultParameters{p.c_group, p.c_row, 1, 0},
           is_split ? kernels::ColumnParameters{} : p.places());
  if (!is_split) return;
  PartsSum sum = sum_of_parts(problem, p, sums, c, bias, split_k, e);
  sum.vectors = vectors;
  add_parts_sum(plan, target, sum);
}

}  // namespace crisol::ops
