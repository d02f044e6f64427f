#include "ops/conv/conv2d_depthwise.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "dispatch/gpu_variant.h"
#include "dispatch/persistent.h"
#include "ops/product/gemm_block.h"
#include "ops/product/gemm_epilogue.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t rows_at_once = 4;  // ROWS of the kernels.
constexpr std::int64_t items = 128;       // ITEMS of conv2d_depthwise_weight.cl.
constexpr std::int64_t most_taps = 49;    // They stand in registers.
constexpr std::int64_t most_seen = 32;    // Rows that an item reads, each in code of its own.
constexpr std::int64_t most_index = std::int64_t{1} << 30;

std::int64_t strips(std::int64_t planes, std::int64_t rows, std::int64_t columns) {
  return planes * ceil_div(rows, rows_at_once) * columns;
}

// Turns of all loops of an item for a strip, where they are not unrolled.
std::int64_t turns_of_strip(const Conv2dSizes& s) {
  const std::int64_t seen = (rows_at_once - 1) * s.options.stride.h + (s.kernel_h - 1) * s.options.dilation.h + 1;
  return 2 * s.taps() + 8 + seen * (s.kernel_w + 1 + rows_at_once * (s.kernel_w + 1));
}

const char* refuse(const char* op, const Conv2dSizes& s, std::int64_t stride_h, const DeviceInfo& info) {
  if (const char* reason = refuse_off_gpu(op, "depthwise", info)) return reason;
  const Conv2dOptions& o = s.options;
  if (s.group_channels() != 1 || s.groups() == 1) return "not depthwise";
  if (s.taps() > most_taps) return "the kernel has more than 49 elements";
  if ((rows_at_once - 1) * stride_h + (s.kernel_h - 1) * o.dilation.h + 1 > most_seen)
    return "the stride or the dilation is too large";
  const std::int64_t rows = s.height + 2 * std::int64_t{o.padding.h} + (s.out_h + 4) * o.stride.h;
  const std::int64_t columns = s.width + 2 * std::int64_t{o.padding.w} + s.kernel_w * o.dilation.w;
  if (rows >= most_index / columns ||
      s.images * std::max(s.channels * s.height * s.width, s.outputs * s.pixels()) >= most_index)
    return "too large for the kernel's indices";
  return nullptr;
}

// The window of the kernels; stride and insertion change places for backward data.
runtime::Defines defines_of(const Conv2dSizes& s, const DeviceInfo& info, bool flipped) {
  const Conv2dOptions& o = s.options;
  runtime::Defines defines{{"TAPS_H", s.kernel_h},
                           {"TAPS_W", s.kernel_w},
                           {"DILATION_H", o.dilation.h},
                           {"DILATION_W", o.dilation.w},
                           {"STRIDE_H", flipped ? 1 : o.stride.h},
                           {"STRIDE_W", flipped ? 1 : o.stride.w},
                           {"INSERT_H", flipped ? o.stride.h : 1},
                           {"INSERT_W", flipped ? o.stride.w : 1}};
  define_block(defines, info);
  return defines;
}

void run(const Conv2dProblem& p, const Tensor& from, const Tensor& to, bool flipped) {
  const Conv2dSizes& s = p.sizes;
  const Conv2dOptions& o = s.options;
  runtime::DeviceState& device = p.device;
  const Shape &input = from.shape(), &output = to.shape();
  const std::int64_t count = strips(output[0] * output[1], output[2], output[3]);
  runtime::KernelSpec spec{"conv/conv2d_depthwise.cl", "conv2d_depthwise",
                           defines_of(s, runtime::info_of(device), flipped), epilogue_prelude(p.epilogue)};
  if (flipped) spec.defines.add({"FLIPPED", 1});
  const EpilogueArguments e = epilogue_arguments(p.epilogue, in(p.weight));
  const std::int64_t ins = flipped ? s.group_outputs() : 1, outs = flipped ? 1 : s.group_outputs();
  const auto number = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  runtime::launch(device, spec, runtime::flat_range(device, count), in(from), in(p.weight),
                  in(p.bias.defined() ? p.bias : p.weight), out(to), e.first, e.second, e.strides, e.scalars[0],
                  e.scalars[1], e.scalars[2], static_cast<std::uint32_t>(count),
                  Shape{output[1], output[2], output[3], input[2], input[3], ins, outs},
                  number(flipped ? (s.kernel_h - 1) * o.dilation.h - o.padding.h : o.padding.h),
                  number(flipped ? (s.kernel_w - 1) * o.dilation.w - o.padding.w : o.padding.w),
                  (p.bias.defined() ? bias_per_row : 0) | epilogue_flags(p.epilogue));
}

// Pieces of the images: enough groups for every unit, each with several strips an item.
std::int64_t parts_of(const Conv2dSizes& s, const DeviceInfo& info) {
  const std::int64_t all = strips(s.images, s.out_h, s.out_w);
  const std::int64_t wanted = ceil_div(std::int64_t{8} * info.compute_units, s.outputs);
  const std::int64_t fewest = loop_budget(info) > all * turns_of_strip(s)
                                  ? 1
                                  : ceil_div(all * turns_of_strip(s), items * (loop_budget(info) / 2));
  return std::max({std::int64_t{1}, fewest, std::min(wanted, all / (4 * items))});
}

}  // namespace

const char* refuse_depthwise(const Conv2dProblem& p, const DeviceInfo& info) {
  return refuse("conv2d", p.sizes, p.sizes.options.stride.h, info);
}

void run_depthwise(const Conv2dProblem& p) { run(p, p.x, p.y, false); }

const char* refuse_depthwise_data(const Conv2dProblem& p, const DeviceInfo& info) {
  if (const char* reason = refuse("conv2d_backward_data", p.sizes, 1, info)) return reason;
  if (p.sizes.group_outputs() > loop_budget(info) / turns_of_strip(p.sizes)) return "too many outputs a channel";
  return nullptr;
}

void run_depthwise_data(const Conv2dProblem& p) { run(p, p.y, p.x, true); }

const char* refuse_depthwise_weight(const Conv2dProblem& p, const DeviceInfo& info) {
  if (const char* reason = refuse("conv2d_backward_weight", p.sizes, p.sizes.options.stride.h, info)) return reason;
  if (p.sizes.images == 0) return "there are no images";
  if (info.max_work_group < items) return "the device's work-groups are too small";
  return nullptr;
}

std::uint64_t depthwise_weight_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  const std::int64_t parts = parts_of(p.sizes, info);
  return parts == 1 ? 0 : 4 * static_cast<std::uint64_t>(parts * p.sizes.weight_shape().numel());
}

void run_depthwise_weight(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  const Conv2dOptions& o = s.options;
  runtime::DeviceState& device = p.device;
  const DeviceInfo& info = runtime::info_of(device);
  const std::int64_t parts = parts_of(s, info), count = s.weight_shape().numel();
  runtime::Kernel& sum = runtime::resolve(
      device, {"conv/conv2d_depthwise_weight.cl", "conv2d_depthwise_weight", defines_of(s, info, false)});
  runtime::Kernel* const add = parts > 1 ? &runtime::resolve(device, {"product/gemm_parts.cl", "gemm_parts"}) : nullptr;
  const runtime::BlockPtr sums =
      parts > 1 ? runtime::allocate(device, 4 * static_cast<std::uint64_t>(parts * count)) : nullptr;
  const runtime::BufferView dw = out(p.weight), to = parts > 1 ? runtime::BufferView{sums.get(), 0} : dw;
  runtime::launch(device, sum, {{parts * s.outputs * items}, {items}}, in(p.x), in(p.y), to,
                  Shape{s.outputs, s.out_h, s.out_w, s.height, s.width, s.group_outputs(), s.images, parts},
                  o.padding.h, o.padding.w);
  if (add == nullptr) return;
  const EpilogueArguments e = epilogue_arguments(nullptr, to);
  runtime::launch(device, *add, runtime::flat_range(device, count), to, dw, dw, e.first, e.second, e.strides,
                  e.scalars[0], e.scalars[1], e.scalars[2], std::int64_t{1}, count, std::int64_t{1}, count, count,
                  std::int64_t{1}, static_cast<std::int32_t>(parts), 0);
}

}  // namespace crisol::ops
