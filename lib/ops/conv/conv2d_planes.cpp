#include "ops/conv/conv2d_planes.h"

#include <algorithm>
#include <limits>

#include "base/ceil_div.h"
#include "dispatch/persistent.h"
#include "ops/product/gemm_cpu.h"
#include "ops/product/gemm_epilogue.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t rows_at_once = 4;        // ROWS of the kernel.
constexpr std::int64_t most_taps = 64;          // MOST_TAPS.
constexpr std::int64_t wanted_slice = 1 << 16;  // Floats: a quarter of a usual L2 cache.
constexpr std::int64_t most_slice = std::int64_t{1} << 24;

// A convolution as the kernel sees it: backward data is one of dy, with zeros between its elements where there was a
// stride, and the kernels turned round.
struct Planes {
  std::int64_t images, channels, height, width, outputs, out_h, out_w, groups;  // channels and outputs of a group
  Shape window;
  std::int64_t output_step, channel_step, group_step, flipped, insert_h, insert_w;

  std::int64_t width_of_line(std::int64_t lanes) const {
    return window[3] * (ceil_div(out_w, lanes) * lanes + (window[1] - 1) * window[7] / window[3] + 1);
  }
  std::int64_t rows_of(std::int64_t band) const { return (band - 1) * window[2] + (window[0] - 1) * window[6] + 1; }
  std::int64_t slice_of(std::int64_t band, std::int64_t lanes) const {
    return ceil_div(channels * rows_of(band) * width_of_line(lanes) + lanes, 16) * 16;
  }
};

Planes forward_planes(const Conv2dSizes& s) {
  return {s.images,
          s.group_channels(),
          s.height,
          s.width,
          s.group_outputs(),
          s.out_h,
          s.out_w,
          s.groups(),
          s.kernel_window(),
          s.depth(),
          s.taps(),
          s.group_outputs() * s.depth(),
          0,
          1,
          1};
}

Planes data_planes(const Conv2dSizes& s) {
  const Conv2dOptions& o = s.options;
  const Shape window{s.kernel_h,
                     s.kernel_w,
                     1,
                     1,
                     o.dilation.h * (s.kernel_h - 1) - o.padding.h,
                     o.dilation.w * (s.kernel_w - 1) - o.padding.w,
                     o.dilation.h,
                     o.dilation.w};
  return {s.images, s.group_outputs(), s.out_h,   s.out_w,  s.group_channels(), s.height,
          s.width,  s.groups(),        window,    s.taps(), s.depth(),          s.group_outputs() * s.depth(),
          1,        o.stride.h,        o.stride.w};
}

// Rows of a band: as many as the cache takes, but enough bands for all items, and within the device's loops.
struct Plan {
  std::int64_t lanes, band, items;
};

Plan plan_of(const Planes& p, const runtime::DeviceState& device, const DeviceInfo& info) {
  Plan plan{};
  plan.lanes = cpu_vector_width(device);
  plan.band = ceil_div(p.out_h, rows_at_once) * rows_at_once;
  const std::int64_t wanted = std::max<std::int64_t>(8, 2 * std::int64_t{info.compute_units});
  const auto units = [&] { return p.images * p.groups * ceil_div(p.out_h, plan.band); };
  while (plan.band > rows_at_once && (p.slice_of(plan.band, plan.lanes) > wanted_slice || units() < wanted))
    plan.band = ceil_div(plan.band / 2, rows_at_once) * rows_at_once;
  const std::int64_t vectors = ceil_div(p.out_w, plan.lanes);
  const std::int64_t copying =
      p.slice_of(plan.band, plan.lanes) / plan.lanes + p.channels * p.rows_of(plan.band) * (p.width + 1);
  const std::int64_t taps = p.channels * p.window[0] * (p.window[1] + 2);
  const std::int64_t iterations =
      copying + p.outputs * plan.band / rows_at_once * vectors * (taps + rows_at_once * (2 * plan.lanes + 4));
  const std::int64_t units_of_item = loop_budget(info) / iterations;
  plan.items = units_of_item == 0 ? 0 : std::min(units(), std::max(wanted, ceil_div(units(), units_of_item)));
  return plan;
}

const char* refuse(const Planes& p, const runtime::DeviceState& device, const DeviceInfo& info) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 8;
  if (p.window[1] > most_taps) return "a kernel of more than 64 columns";
  if (p.window[4] < 0 || p.window[5] < 0) return "a padding larger than the kernel";
  if (p.height * p.width > most || p.out_h * p.out_w > most || p.insert_h * p.height > most)
    return "too large an image";
  if (p.slice_of(rows_at_once, 16) > most_slice) return "too many channels or columns for the cache";
  if (plan_of(p, device, info).items == 0) return "too large for the device's loops";
  return nullptr;
}

void run(const Conv2dProblem& p, const Planes& s, const Tensor& from, const Tensor& to) {
  runtime::DeviceState& device = p.device;
  const DeviceInfo& info = runtime::info_of(device);
  const Plan plan = plan_of(s, device, info);
  const std::int64_t slice = s.slice_of(plan.band, plan.lanes);
  const runtime::BlockPtr scratch = runtime::allocate(device, 4 * static_cast<std::uint64_t>(plan.items * slice));
  runtime::Defines defines{{"VW", plan.lanes}};
  if (!info.fast_fma) defines.add({"NO_FMA", 1});
  const EpilogueArguments e = epilogue_arguments(p.epilogue, in(p.weight));
  runtime::launch(
      device, {"conv/conv2d_planes.cl", "conv2d_planes", defines, epilogue_prelude(p.epilogue)}, {{plan.items}, {1}},
      in(from), in(p.weight), in(p.bias.defined() ? p.bias : p.weight), out(to), runtime::BufferView{scratch.get(), 0},
      e.first, e.second, e.strides, e.scalars[0], e.scalars[1], e.scalars[2],
      Shape{s.images, s.channels, s.height, s.width, s.outputs, s.out_h, s.out_w, s.groups}, s.window,
      Shape{s.output_step, s.channel_step, s.group_step, s.flipped, s.insert_h, s.insert_w, plan.band, slice},
      (p.bias.defined() ? bias_per_row : 0) | epilogue_flags(p.epilogue));
}

// The slice of the weights' gradient: a padded plane of x, one of dy, a vector for each tap.
std::int64_t weight_slice(const Planes& p, std::int64_t lanes) {
  const std::int64_t rows = ceil_div(p.out_h, rows_at_once) * rows_at_once;
  const std::int64_t out_line = ceil_div(p.out_w, lanes) * lanes + 1;
  return ceil_div(p.rows_of(rows) * p.width_of_line(lanes) + rows * out_line + (p.window[0] * p.window[1] + 1) * lanes,
                  16) *
         16;
}

// Work-items of the weights' gradient.
std::int64_t weight_items(const Planes& p, const DeviceInfo& info) {
  const std::int64_t channels = p.groups * p.outputs;
  const bool bounded = loop_budget(info) != std::numeric_limits<std::int64_t>::max();
  return bounded ? channels : std::min(channels, std::max<std::int64_t>(8, 2 * std::int64_t{info.compute_units}));
}

std::uint64_t workspace_of(const Conv2dProblem& p, const Planes& s, const DeviceInfo& info) {
  const Plan plan = plan_of(s, p.device, info);
  return 4 * static_cast<std::uint64_t>(plan.items * s.slice_of(plan.band, plan.lanes));
}

}  // namespace

std::uint64_t planes_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  return workspace_of(p, forward_planes(p.sizes), info);
}

std::uint64_t planes_data_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  return workspace_of(p, data_planes(p.sizes), info);
}

std::uint64_t planes_weight_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  const Planes s = forward_planes(p.sizes);
  return 4 * static_cast<std::uint64_t>(weight_items(s, info) * weight_slice(s, cpu_vector_width(p.device)));
}

const char* refuse_planes(const Conv2dProblem& p, const DeviceInfo& info) {
  if (!takes_cpu_kernels(info)) return "made for CPUs";
  const Planes s = forward_planes(p.sizes);
  if (s.outputs > (s.channels == 1 ? 4 : 2)) return "many outputs a group: a matrix product is faster";
  if (s.channels == 0) return "nothing to add up";
  return refuse(s, p.device, info);
}

void run_planes(const Conv2dProblem& p) { run(p, forward_planes(p.sizes), p.x, p.y); }

const char* refuse_planes_data(const Conv2dProblem& p, const DeviceInfo& info) {
  if (!takes_cpu_kernels(info)) return "made for CPUs";
  const Planes s = data_planes(p.sizes);
  if (s.outputs > (s.channels == 1 ? 4 : 2)) return "many outputs a group: a matrix product is faster";
  if (s.channels == 0) return "nothing to add up";
  if (s.channels > 1 && s.insert_h * s.insert_w > 1) return "a stride, whose zeros would be added up too";
  return refuse(s, p.device, info);
}

void run_planes_data(const Conv2dProblem& p) { run(p, data_planes(p.sizes), p.y, p.x); }

const char* refuse_planes_weight(const Conv2dProblem& p, const DeviceInfo& info) {
  if (!takes_cpu_kernels(info)) return "made for CPUs";
  const Planes s = forward_planes(p.sizes);
  if (s.channels != 1 || s.groups == 1) return "not depthwise";
  if (const char* reason = refuse(s, p.device, info)) return reason;
  if (weight_slice(s, 16) > most_slice) return "too large an image";
  const std::int64_t lanes = cpu_vector_width(p.device);
  const std::int64_t image = (s.height * s.width + s.out_h * s.out_w) +
                             s.window[0] * s.window[1] * (s.out_h + 4) * (ceil_div(s.out_w, lanes) + 2);
  const std::int64_t all = s.images * image + weight_slice(s, lanes);
  if (all * ceil_div(s.groups * s.outputs, std::max<std::int64_t>(8, s.groups * s.outputs)) > loop_budget(info))
    return "too large for the device's loops";
  return nullptr;
}

void run_planes_weight(const Conv2dProblem& p) {
  runtime::DeviceState& device = p.device;
  const DeviceInfo& info = runtime::info_of(device);
  const Planes s = forward_planes(p.sizes);
  const std::int64_t lanes = cpu_vector_width(device), slice = weight_slice(s, lanes);
  const std::int64_t items = weight_items(s, info);
  const runtime::BlockPtr scratch = runtime::allocate(device, 4 * static_cast<std::uint64_t>(items * slice));
  runtime::Defines defines{{"VW", lanes}};
  if (!info.fast_fma) defines.add({"NO_FMA", 1});
  runtime::launch(device, {"conv/conv2d_planes.cl", "conv2d_planes_weight", defines}, {{items}, {1}}, in(p.x), in(p.y),
                  out(p.weight), runtime::BufferView{scratch.get(), 0},
                  Shape{s.images, s.channels, s.height, s.width, s.outputs, s.out_h, s.out_w, s.groups}, s.window,
                  slice);
}

}  // namespace crisol::ops
