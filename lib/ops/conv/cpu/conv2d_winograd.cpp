// Convolution of 3 x 3 kernels by Winograd's F(4 x 4, 3 x 3) on CPUs (conv2d_winograd.cl), forward and backward data.
#include "ops/conv/conv2d_winograd.h"
#include "dispatch/device_defines.h"

#include <algorithm>
#include <limits>

#include "conv/sizes.h"
#include "dispatch/work_split.h"
#include "ops/conv/conv2d_variants.h"
#include "ops/product/cpu/cpu_tiles.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

using kernels::number;

struct Cut {
  std::int64_t width, rows, vectors;  // The register tile.
  std::int64_t blocks;                // Parts of the outputs.
  std::int64_t items, slice, iterations;

  std::int64_t columns() const { return vectors * width; }
  std::int64_t units(const WinogradSizes& s) const { return ceil_div(s.tiles(), columns()) * blocks; }
  std::int64_t weight_floats(const WinogradSizes& s) const {  // With the gaps of POSITION_STEP.
    return 36 * ceil_div(s.outputs, rows) * (s.channels * rows + width);
  }
};

// The floats of an item's scratch memory.
std::int64_t slice_of(const WinogradSizes& s, const Cut& cut) {
  const std::int64_t n = cut.columns();
  const std::int64_t tiles = 36 * s.channels * n + 36 * WINOGRAD_PANELS * cut.rows * n + 36 * (n + cut.width) + 16 * n;
  return ceil_div(tiles + 4 * (s.tiles_w() + cut.width + 1) + cut.width, 16) * 16;
}

// Loop iterations of a unit of work.
std::int64_t iterations_of(const WinogradSizes& s, const Cut& cut) {
  const std::int64_t n = cut.columns(), panels = ceil_div(s.outputs, cut.rows);
  const std::int64_t sorting = n * 6 * (ceil_div(s.width, cut.width) + 3 + cut.width);
  const std::int64_t storing = cut.rows * n * 4 * (cut.width + 6);
  return s.channels * (sorting + 40 * cut.vectors) + ceil_div(panels, cut.blocks) * (36 * (s.channels + 1) + storing) +
         8 * n * 36;
}

// The number of items, which share the units evenly. Each item has scratch memory, so a core has at most two items.
// Among these numbers, the largest one is taken whose last core ends first.
std::int64_t items_of(std::int64_t units, std::int64_t cores) {
  const std::int64_t most = std::min(units, std::max<std::int64_t>(4, 2 * cores)), least = std::min(units, cores);
  const auto rounds = [&](std::int64_t items) { return ceil_div(items, cores) * ceil_div(units, items); };
  std::int64_t best = most;
  for (std::int64_t items = most; items >= least; --items)
    if (rounds(items) < rounds(best)) best = items;
  return best;
}

Cut cut_of(const WinogradSizes& s, const Target& target) {
  Cut cut{};
  cut.width = target.cpu_vector_width();
  cut.vectors = panel_columns(target) / cut.width;
  cut.rows = cut.width == 16 ? 8 : 4;
  const std::int64_t panels = ceil_div(s.outputs, cut.rows);
  // With few tiles, as in the last layers of networks, some cores would have no work.
  const std::int64_t cores = std::max<std::int64_t>(1, target.info.compute_units);
  const auto uneven = [&](std::int64_t units) { return 8 * ceil_div(units, cores) * cores > 9 * units; };
  cut.blocks = 1;
  while (2 * cut.blocks <= panels && (cut.units(s) < 2 * cores || uneven(cut.units(s)))) cut.blocks *= 2;
  cut.items = items_of(cut.units(s), cores);
  cut.slice = slice_of(s, cut);
  cut.iterations = iterations_of(s, cut);
  return cut;
}

// Vector operations with Winograd's filtering, and with the direct sums. Measured: for a tile, sorting and transforming
// take 30 for a channel and 25 for an output. A unit computes all its columns, also those without a tile. Each part of
// the outputs transforms the tiles again.
struct Work {
  double filtering, sums;
};

Work work_of(const WinogradSizes& s, const Cut& cut) {
  const auto c = static_cast<double>(s.channels), k = static_cast<double>(s.outputs);
  const auto columns = static_cast<double>(ceil_div(s.tiles(), cut.columns()) * cut.columns());
  const double of_tile = 36 * c * k / 16 + 30 * c * static_cast<double>(cut.blocks) + 25 * k;
  return {columns * of_tile, static_cast<double>(s.images * s.out_h * s.out_w) * 9 * c * k / 16};
}

// Why direct sums take less. Null if they do not.
const char* why_direct_sums(const WinogradSizes& s, const Cut& cut) {
  const Work work = work_of(s, cut);
  return work.filtering > work.sums ? "too few channels or tiles, or too small planes to pay" : nullptr;
}

const char* check(const WinogradSizes& s, const Cut& cut, const Target& target) {
  // The transformed weight is four times as large as the weight. If few tiles share each read of it, reading takes too
  // long: on PoCL, Winograd took 1.1 to 2.6 times as long as the product, with up to 16 tiles, 32 to 512 channels and
  // kept packed weights.
  if (s.tiles() <= cut.width) return "too few tiles share the weight";
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 8;
  if (s.height * s.width > most || s.out_h * s.out_w > most || s.tiles_w() * 4 > most) return "too large an image";
  if (cut.iterations * ceil_div(cut.units(s), cut.items) > target.loop_budget)
    return "too large for the device's loops";
  return nullptr;
}

// Whether filtering pays if the weight is transformed for one call. Measured with 512 channels on PoCL: the transform
// takes as long as 150 vector operations for each kernel, and so 32 tiles took as long as the products.
bool pays_once(const WinogradSizes& s, const Cut& cut) {
  const Work work = work_of(s, cut);
  return 150 * static_cast<double>(s.channels * s.outputs) < work.sums - work.filtering;
}

DerivedKey key_of(const WinogradSizes& s, const Cut& cut, std::int64_t type) {
  static constexpr char kind[] = "winograd";
  return {kind, {s.outputs, s.channels, s.output_stride(), s.channel_stride(), cut.rows, s.flipped, type}};
}

// Derives the transformed weight.
Place derive_weight(Plan& plan, const Place& weight, std::int64_t type, const WinogradSizes& s, const Cut& cut,
                    const runtime::Defines& defines, const Target& target) {
  const Place transformed =
      plan.derive(weight, key_of(s, cut, type), 4 * static_cast<std::uint64_t>(cut.weight_floats(s)));
  const std::int64_t units = ceil_div(s.outputs, cut.rows) * ceil_div(s.channels, cut.width / cut.rows);
  plan.add_to_derived(transformed, {"conv/cpu/conv2d_winograd.cl", "winograd_weights", defines},
                      persistent_range(target, units, cut.width * 20), weight, transformed, number(s.outputs),
                      number(s.channels), s.output_stride(), s.channel_stride(), s.flipped ? 1 : 0);
  return transformed;
}

PlanOr plan_of(const Conv2dProblem& p, const Target& target, bool data) {
  const auto [from, weight, to] = operands<3>();
  if (const char* reason = check_winograd_form(p.sizes)) return reason;
  const WinogradSizes s = winograd_sizes(p.sizes, 4, data);
  const Cut cut = cut_of(s, target);
  if (const char* reason = check(s, cut, target)) return reason;
  runtime::Defines defines{{"VW", cut.width}, {"MR", cut.rows}, {"NV", cut.vectors}};
  dispatch::define_math(defines, target.info);
  define_elements(defines, p.type);
  define_result_type(defines, p.type);
  Plan plan;
  const Place scratch = plan.workspace(4 * static_cast<std::uint64_t>(cut.items * cut.slice));
  const Place transformed = derive_weight(plan, weight, p.type, s, cut, defines, target);
  const EpilogueArgs e = p.epilogue_args(transformed);
  plan.add({"conv/cpu/conv2d_winograd.cl", "winograd_multiply", defines, epilogue_prelude(p.epilogue)},
           {{cut.items}, {1}}, transformed, from, to, p.bias_or(transformed), scratch, e,
           kernels::WinogradParameters{.images = s.images,
                                       .slice = cut.slice,
                                       .channels = number(s.channels),
                                       .height = number(s.height),
                                       .width = number(s.width),
                                       .outputs = number(s.outputs),
                                       .out_h = number(s.out_h),
                                       .out_w = number(s.out_w),
                                       .pad_h = s.pad_h,
                                       .pad_w = s.pad_w,
                                       .blocks = number(cut.blocks),
                                       .unused = 0},
           p.flags());
  if (const char* reason = why_direct_sums(s, cut)) return PlanOr::only_forced(std::move(plan), reason);
  if (p.weight_is_new != 0 && !pays_once(s, cut))
    return PlanOr::only_forced(std::move(plan), "too few tiles share a weight that is transformed for one call");
  return plan;
}

}  // namespace

bool winograd_halves(const Conv2dSizes& sizes, const Target& target) {
  if (check_winograd_form(sizes) != nullptr) return false;
  const WinogradSizes s = winograd_sizes(sizes, 4, false);
  const Cut cut = cut_of(s, target);
  if (check(s, cut, target) != nullptr) return false;
  const Work work = work_of(s, cut);
  return 2 * work.filtering <= work.sums;
}

std::optional<DerivedKey> winograd_copy_that_pays_if_kept(const Conv2dProblem& p, const Target& target, bool data) {
  if (check_winograd_form(p.sizes) != nullptr) return std::nullopt;
  const WinogradSizes s = winograd_sizes(p.sizes, 4, data);
  const Cut cut = cut_of(s, target);
  if (check(s, cut, target) != nullptr || why_direct_sums(s, cut) != nullptr || pays_once(s, cut)) return std::nullopt;
  return key_of(s, cut, p.type);
}

PlanOr plan_winograd(const Conv2dProblem& p, const Target& target, std::size_t) { return plan_of(p, target, false); }

PlanOr plan_winograd_data(const Conv2dProblem& p, const Target& target, std::size_t) {
  return plan_of(p, target, true);
}

}  // namespace crisol::ops
