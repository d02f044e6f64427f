// Convolution on CPUs as matrix products whose operands are gathered from the images (gemm_cpu_tiled.cl,
// gemm_cpu_dot.cl).
#include <algorithm>

#include "ops/conv/conv2d_products.h"
#include "ops/conv/conv2d_variants.h"
#include "ops/product/cpu/cpu_tiles.h"
#include "ops/product/cpu/gemm_cpu_dot.h"
#include "ops/product/gpu/tiled_product.h"

namespace crisol::ops {

namespace {

using kernels::number;

constexpr std::int64_t max_phases = 256;  // The limit for phases, because a plan names its packed weights with 8 bits.
constexpr const char* too_large = "too large for the kernel's indices or the device's loops";

// The reason why the kernels cannot gather columns from the images of this convolution, or nullptr.
const char* check_gather(const Conv2dSizes& s, std::int64_t rows, std::int64_t pixels) {
  // product/cpu/gather.h: 16 neighbouring columns are in at most 16 images, whose distance must fit into an int.
  if (std::max(s.input_image(), s.output_image()) >= (1 << 27)) return "one image has more than 2^27 elements";
  if (rows >= (1 << 22) || pixels >= (1 << 30)) return "the output plane is too large for the kernel's indices";
  return nullptr;
}

// A block has the whole depth if a panel of it fits into the cache. Otherwise every block adds its sums to the results
// in memory. Results of halves cannot hold such sums, so f32 sums would go to a workspace, and another launch would
// round them. That launch took as long as the product.
std::optional<CpuTilePlan> cut_of(const GatheredProduct& p, const Target& target) {
  constexpr std::int64_t most_depth = 2560;
  CpuTileChoice choice{.vectors = cpu_tile_vectors(target, p.m, p.n(), p.depth() * p.groups)};
  if (p.depth() <= most_depth) choice.depth = std::max(choice.depth, p.depth());
  return plan_cpu_tiles(target, p.m, p.n(), p.depth(), p.groups, true, choice);
}

// The forward pass reads the rows of the weight as they are. A phase reads only some taps.
PackSource pack_source(const GatheredProduct& p, std::int64_t type, bool forward) {
  if (forward)
    return {.m = p.m,
            .k = p.depth(),
            .row = p.depth(),
            .stride0 = 1,
            .count = p.groups,
            .batch = p.weight_strides[0],
            .type = type};
  return {.m = p.m,
          .k = p.depth(),
          .row = p.weight_strides[1],
          .count1 = p.taps_h,
          .count2 = p.taps_w,
          .stride0 = p.weight_strides[2],
          .stride1 = number(p.weight_strides[3]),
          .stride2 = number(p.weight_strides[4]),
          .count = p.groups,
          .batch = p.weight_strides[0],
          .type = type};
}

kernels::GatherParameters images_of(const GatheredProduct& p) {
  return {.image = p.src_image,
          .plane = p.src_channel,
          .size = p.images * p.src_image,
          .height = number(p.height),
          .width = number(p.width),
          .taps = number(p.taps()),
          .taps_w = p.taps_w,
          .step_h = p.step_h,
          .step_w = p.step_w,
          .start_h = p.start_h,
          .start_w = p.start_w,
          .tap_h = p.tap_h,
          .tap_w = p.tap_w};
}

Plan plan_product(const Conv2dProblem& problem, const Target& target, const GatheredProduct& p, const CpuTilePlan& cut,
                  bool forward) {
  const auto [src, weight, c] = operands<3>();
  Plan plan;
  const Place packed = derive_packed(plan, target, cpu_tile_defines(target, cut), weight.offset_by(p.weight_first),
                                     pack_source(p, problem.type, forward), cut.tile_rows);
  const Place results = c.offset_by(p.c_first), bias = problem.bias_or(weight);
  const std::int32_t flags = problem.has_bias != 0 ? bias_per_row : 0;
  // Sums of f32 of the whole depth, one matrix for each group.
  const bool as_part = !holds_sums({.row = 1, .column = 1, .type = problem.type}, p.depth(), cut.block_k);
  const Place to = as_part ? plan.workspace(4 * static_cast<std::uint64_t>(p.groups * p.m * p.n())) : results;
  kernels::ColumnParameters places = p.places();
  if (as_part) places.to_image = p.pixels(), places.to_row = number(p.columns), places.to_column = 1;
  add_cpu_tiles(plan, target, cut,
                {.packed = packed,
                 .b = src,
                 .c = to,
                 .bias = bias,
                 .b_type = problem.type,
                 .c_type = as_part ? 0 : problem.type,
                 .m = p.m,
                 .n = p.n(),
                 .k = p.depth(),
                 .batch = p.groups,
                 .a = {cut.packed_size(p.m, p.depth(), 1), 0},
                 .b_batch = p.src_group,
                 .c_batch = as_part ? p.m * p.n() : p.c_group,
                 .bias_batch = forward ? p.m : 0,
                 .c_row = as_part ? p.n() : p.c_row,
                 .flags = gathered | (as_part ? 0 : flags),
                 .epilogue = as_part ? EpilogueLayout() : problem.epilogue,
                 .args = as_part ? no_epilogue(packed) : problem.epilogue_args(packed),
                 .images = images_of(p),
                 .places = places});
  if (as_part)
    add_parts_sum(plan, target, sum_of_parts(problem, p, to, results, bias, 1, problem.epilogue_args(packed)));
  return plan;
}

// Whether tiles of a matrix of patches take less time than products of rows with rows. A product of two rows ends with
// a sum of its lanes, which costs little if the depth is large. A matrix of patches pays if many outputs read it. For
// 512 outputs of 2 x 2 pixels and 8 images (depth 32), tiles take 1.9 ms on one core and rows 9.2 ms. For 128 outputs
// and a depth of 512, tiles take 1.01 ms and rows 0.90 ms.
bool suits_patches(std::int64_t outputs, std::int64_t row, std::int64_t pixels) {
  constexpr std::int64_t many_outputs = 256, max_patches = std::int64_t{1} << 22;  // A matrix of 16 MB.
  return pixels > 0 && row * pixels <= max_patches && (outputs >= many_outputs || pixels <= 2 * outputs);
}

}  // namespace

PlanOr plan_cpu_gemm(const Conv2dProblem& p, const Target& target, std::size_t) {
  if (const char* reason = check_gather(p.sizes, p.sizes.out_h, p.sizes.pixels())) return reason;
  const GatheredProduct product = forward_product(p.sizes);
  const std::optional<CpuTilePlan> cut = cut_of(product, target);
  if (!cut) return too_large;
  return plan_product(p, target, product, *cut, true);
}

PlanOr plan_cpu_gemm_data(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [dy, weight, dx] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  if (const char* reason = check_gather(s, s.height, s.plane())) return reason;
  if (std::min(s.stride_h, s.height) * std::min(s.stride_w, s.width) > max_phases)
    return "a stride with more than 256 phases";
  Plan plan;
  for (const GatheredProduct& product : phase_products(s)) {
    const std::optional<CpuTilePlan> cut = cut_of(product, target);
    if (!cut) return too_large;
    // The phases run one after another, so they share their scratch memory.
    plan.append_sharing(plan_product(p, target, product, *cut, false), std::array{dy, weight, dx});
  }
  return plan;
}

PlanOr plan_cpu_rows(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [dy, x, dw] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  if (const char* reason = check_gather(s, s.out_h, s.pixels())) return reason;
  const std::int64_t m = s.group_outputs(), n = s.depth(), k = s.images * s.pixels();
  const std::optional<DotPlan> cut = plan_dot(target, m, n, k, s.groups, s.taps());
  if (!cut) return too_large;
  // A row of A is an output channel of dy. A row of B is a row (channel, r, s) of the im2col matrix. The depth runs
  // over all pixels.
  const kernels::GatherParameters planes_of_dy{.image = s.output_image(),
                                               .plane = s.pixels(),
                                               .size = s.images * s.output_image(),
                                               .height = number(s.out_h),
                                               .width = number(s.out_w),
                                               .taps = 1,
                                               .taps_w = 1,
                                               .step_h = 1,
                                               .step_w = 1,
                                               .start_h = 0,
                                               .start_w = 0,
                                               .tap_h = 0,
                                               .tap_w = 0};
  const kernels::GatherParameters windows_of_x{.image = s.input_image(),
                                               .plane = s.plane(),
                                               .size = s.images * s.input_image(),
                                               .height = number(s.height),
                                               .width = number(s.width),
                                               .taps = number(s.taps()),
                                               .taps_w = number(s.kernel_w),
                                               .step_h = number(s.stride_h),
                                               .step_w = number(s.stride_w),
                                               .start_h = number(-s.pad_h),
                                               .start_w = number(-s.pad_w),
                                               .tap_h = number(s.dilation_h),
                                               .tap_w = number(s.dilation_w)};
  GemmProblem product = inner_product(p, m, n, k, s.groups);
  product.a = {0, 0, m * s.pixels(), 0, p.type};
  product.b = {0, 0, s.group_channels() * s.plane(), 0, p.type};
  product.c = {n, 1, m * n, 0, p.type};
  Plan plan;
  add_dot(plan, target, *cut,
          {.problem = product,
           .at = {dy, x, dw, dw, dy, dy},
           .flags = gathered,
           .images_a = planes_of_dy,
           .images_b = windows_of_x,
           .pixels = {0, number(s.pixels()), number(s.out_w), 0, 0}});
  if (p.type == 0 && suits_patches(m, n, k))  // The products of a matrix of patches read f32 alone.
    return PlanOr::only_forced(std::move(plan), "tiles of a matrix of patches take less, because many outputs read it");
  return plan;
}

}  // namespace crisol::ops
