// Depthwise convolution on GPUs (conv2d_depthwise.cl, conv2d_depthwise_weight.cl).
#include <algorithm>

#include "base/ceil_div.h"
#include "conv/sizes.h"
#include "ops/conv/conv2d_variants.h"
#include "ops/product/gpu/tiled_product.h"
#include "ops/product/indices.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t max_taps = 49;       // Limit for the taps, because they are held in registers.
constexpr std::int64_t max_seen_rows = 32;  // The kernel has unrolled code for each row.

std::int64_t strips(std::int64_t planes, std::int64_t rows, std::int64_t columns) {
  return planes * ceil_div(rows, DEPTHWISE_ROWS) * columns;
}

// The loop rounds of an item for one strip, if loops are not unrolled.
std::int64_t rounds_of_strip(const Conv2dSizes& s) {
  const std::int64_t seen = (DEPTHWISE_ROWS - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
  return 2 * s.taps() + 8 + seen * (s.kernel_w + 1 + DEPTHWISE_ROWS * (s.kernel_w + 1));
}

const char* check_sizes(const Conv2dSizes& s, std::int64_t stride_h) {
  if (s.group_channels() != 1 || s.groups == 1) return "not depthwise";
  if (s.taps() > max_taps) return "the kernel has more than 49 elements";
  if ((DEPTHWISE_ROWS - 1) * stride_h + (s.kernel_h - 1) * s.dilation_h + 1 > max_seen_rows)
    return "the stride or the dilation is too large";
  const std::int64_t rows = s.height + 2 * s.pad_h + (s.out_h + 4) * s.stride_h;
  const std::int64_t columns = s.width + 2 * s.pad_w + s.kernel_w * s.dilation_w;
  if (rows >= max_index / columns || s.images * std::max(s.input_image(), s.output_image()) >= max_index)
    return "too large for the kernel's indices";
  return nullptr;
}

// The defines for the kernels' window. Backward data inserts zeros where the forward pass has a stride.
runtime::Defines defines_of(const Conv2dSizes& s, const Target& target, bool flipped) {
  runtime::Defines defines{{"TAPS_H", s.kernel_h},
                           {"TAPS_W", s.kernel_w},
                           {"DILATION_H", s.dilation_h},
                           {"DILATION_W", s.dilation_w},
                           {"STRIDE_H", flipped ? 1 : s.stride_h},
                           {"STRIDE_W", flipped ? 1 : s.stride_w},
                           {"INSERT_H", flipped ? s.stride_h : 1},
                           {"INSERT_W", flipped ? s.stride_w : 1}};
  define_device(defines, target);
  return defines;
}

kernels::DepthwiseParameters forward_parameters(const Conv2dSizes& s) {
  return {.outputs = number(s.outputs),
          .out_h = number(s.out_h),
          .out_w = number(s.out_w),
          .height = number(s.height),
          .width = number(s.width),
          .ins = 1,
          .outs = number(s.group_outputs()),
          .pad_h = number(s.pad_h),
          .pad_w = number(s.pad_w),
          .unused = 0};
}

// A convolution as the kernel computes it. Backward data is a convolution of dy with flipped kernels.
Plan plan_strips(const Conv2dProblem& p, const Target& target, bool flipped) {
  const auto [from, weight, to] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  runtime::KernelSpec spec{"conv/gpu/conv2d_depthwise.cl", "conv2d_depthwise", defines_of(s, target, flipped),
                           epilogue_prelude(p.epilogue)};
  if (flipped) spec.defines.add({"FLIPPED", 1});
  const EpilogueArgs e = p.epilogue_args(weight);
  kernels::DepthwiseParameters sizes = forward_parameters(s);
  if (flipped)
    sizes = {.outputs = number(s.channels),
             .out_h = number(s.height),
             .out_w = number(s.width),
             .height = number(s.out_h),
             .width = number(s.out_w),
             .ins = number(s.group_outputs()),
             .outs = 1,
             .pad_h = number((s.kernel_h - 1) * s.dilation_h - s.pad_h),
             .pad_w = number((s.kernel_w - 1) * s.dilation_w - s.pad_w),
             .unused = 0};
  const std::int64_t count = strips(s.images * sizes.outputs, sizes.out_h, sizes.out_w);
  Plan plan;
  plan.add(spec, target.flat_range(count), from, weight, p.bias_or(weight), to, e, static_cast<std::uint32_t>(count),
           sizes, p.flags());
  return plan;
}

// The number of pieces of the images: enough groups for every compute unit, where each item has several strips.
std::int64_t split_k_of(const Conv2dSizes& s, const Target& target) {
  const std::int64_t all = strips(s.images, s.out_h, s.out_w), budget = target.loop_budget;
  const std::int64_t wanted = ceil_div(std::int64_t{8} * target.info.compute_units, s.outputs);
  const std::int64_t fewest =
      budget > all * rounds_of_strip(s) ? 1 : ceil_div(all * rounds_of_strip(s), DEPTHWISE_ITEMS * (budget / 2));
  return std::max({std::int64_t{1}, fewest, std::min(wanted, all / (4 * DEPTHWISE_ITEMS))});
}

}  // namespace

PlanOr plan_depthwise(const Conv2dProblem& p, const Target& target, std::size_t) {
  if (const char* reason = check_sizes(p.sizes, p.sizes.stride_h)) return reason;
  return plan_strips(p, target, false);
}

PlanOr plan_depthwise_data(const Conv2dProblem& p, const Target& target, std::size_t) {
  if (const char* reason = check_sizes(p.sizes, 1)) return reason;
  if (p.sizes.group_outputs() > target.loop_budget / rounds_of_strip(p.sizes)) return "too many outputs a channel";
  return plan_strips(p, target, true);
}

PlanOr plan_depthwise_weight(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [dy, x, dw] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  if (const char* reason = check_sizes(s, s.stride_h)) return reason;
  if (s.images == 0) return "there are no images";
  if (target.info.max_work_group < DEPTHWISE_ITEMS) return "the device's work-groups are too small";
  const std::int64_t split_k = split_k_of(s, target), count = s.weight_size();
  Plan plan;
  const Place to = split_k > 1 ? plan.workspace(4 * static_cast<std::uint64_t>(split_k * count)) : dw;
  plan.add({"conv/gpu/conv2d_depthwise_weight.cl", "conv2d_depthwise_weight", defines_of(s, target, false)},
           {{split_k * s.outputs * DEPTHWISE_ITEMS}, {DEPTHWISE_ITEMS}}, x, dy, to, forward_parameters(s),
           static_cast<std::uint32_t>(s.images), static_cast<std::uint32_t>(split_k));
  if (split_k > 1) add_numbers_sum(plan, target, to, dw, count, number(split_k));
  return plan;
}

}  // namespace crisol::ops
