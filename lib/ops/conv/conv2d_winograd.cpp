#include "ops/conv/conv2d_winograd.h"

#include <algorithm>
#include <limits>

#include "base/ceil_div.h"
#include "dispatch/persistent.h"
#include "ops/product/gemm_cpu.h"
#include "ops/product/gemm_epilogue.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

// A convolution as the kernels see it: backward data is one of dy with the kernels turned round.
struct Sizes {
  std::int64_t images, channels, height, width, outputs, out_h, out_w;
  int pad_h, pad_w;

  std::int64_t tiles_h() const { return ceil_div(out_h, 4); }
  std::int64_t tiles_w() const { return ceil_div(out_w, 4); }
  std::int64_t tiles() const { return images * tiles_h() * tiles_w(); }
};

Sizes forward_sizes(const Conv2dSizes& s) {
  return {s.images, s.channels,          s.height,           s.width, s.outputs, s.out_h,
          s.out_w,  s.options.padding.h, s.options.padding.w};
}

Sizes data_sizes(const Conv2dSizes& s) {
  return {s.images,
          s.outputs,
          s.out_h,
          s.out_w,
          s.channels,
          s.height,
          s.width,
          2 - s.options.padding.h,
          2 - s.options.padding.w};
}

constexpr std::int64_t panels_at_once = 4;  // PANELS of the kernel.

struct Plan {
  std::int64_t width, rows, vectors;  // The register tile.
  std::int64_t blocks;                // Parts of the outputs.
  std::int64_t items, slice, iterations;

  std::int64_t columns() const { return vectors * width; }
  std::int64_t units(const Sizes& s) const { return ceil_div(s.tiles(), columns()) * blocks; }
  std::int64_t weight_floats(const Sizes& s) const {  // With the gaps of POSITION_STEP.
    return 36 * ceil_div(s.outputs, rows) * (s.channels * rows + width);
  }
};

Plan plan_of(const Sizes& s, const runtime::DeviceState& device, const DeviceInfo& info) {
  Plan plan{};
  plan.width = cpu_vector_width(device);
  plan.vectors = panel_columns(device) / plan.width;
  plan.rows = plan.width == 16 ? 8 : 4;
  const std::int64_t n = plan.columns();
  const std::int64_t panels = ceil_div(s.outputs, plan.rows);
  const std::int64_t wanted = std::max<std::int64_t>(8, 2 * std::int64_t{info.compute_units});
  // Few tiles, as of the last layers of networks, would leave cores without work.
  const std::int64_t cores = std::max<std::int64_t>(1, info.compute_units);
  const auto uneven = [&](std::int64_t units) { return 8 * ceil_div(units, cores) * cores > 9 * units; };
  plan.blocks = 1;
  while (2 * plan.blocks <= panels && (plan.units(s) < 2 * cores || uneven(plan.units(s)))) plan.blocks *= 2;
  plan.items = std::min(plan.units(s), wanted);
  plan.slice = ceil_div(36 * s.channels * n + 36 * panels_at_once * plan.rows * n + 36 * (n + plan.width) + 16 * n +
                            4 * (s.tiles_w() + plan.width + 1) + plan.width,
                        16) *
               16;
  const std::int64_t sorting = n * 6 * (ceil_div(s.width, plan.width) + 3 + plan.width);
  const std::int64_t storing = plan.rows * n * 4 * (plan.width + 6);
  plan.iterations = s.channels * (sorting + 40 * plan.vectors) +
                    ceil_div(panels, plan.blocks) * (36 * (s.channels + 1) + storing) + 8 * n * 36;
  return plan;
}

const char* refuse(const Conv2dProblem& p, const Sizes& s, const DeviceInfo& info) {
  if (!takes_cpu_kernels(info)) return "made for CPUs";
  if (const char* reason = refuse_winograd_form(p.sizes)) return reason;
  // Vector operations a tile, measured: sorting and transforming a channel takes 30, an output 25.
  const auto c = static_cast<double>(s.channels), k = static_cast<double>(s.outputs);
  const double pixels = static_cast<double>(s.out_h * s.out_w) / static_cast<double>(s.tiles_h() * s.tiles_w());
  if (36 * c * k / 16 + 30 * c + 25 * k > pixels * 9 * c * k / 16) return "too few channels or too small planes to pay";
  const runtime::DeviceState& device = p.device;
  const Plan plan = plan_of(s, device, info);
  // Four times as much is read of the transformed weight, which few tiles share: 1.1 to 2.6 times the time of the
  // product, measured on PoCL with up to 16 tiles of 32 to 512 channels, packed weights kept.
  if (s.tiles() <= plan.width) return "too few tiles share the weight";
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 8;
  if (s.height * s.width > most || s.out_h * s.out_w > most || s.tiles_w() * 4 > most) return "too large an image";
  if (plan.iterations * ceil_div(plan.units(s), plan.items) > loop_budget(info))
    return "too large for the device's loops";
  return nullptr;
}

// The transformed kernels: those that the weight keeps, or new ones.
runtime::BlockPtr transformed_weight(const Conv2dProblem& p, const Sizes& s, const Plan& plan,
                                     const runtime::Defines& defines, bool flipped) {
  static constexpr char kind[] = "winograd";
  runtime::DeviceState& device = p.device;
  const runtime::BufferView weight = in(p.weight);
  const std::int64_t output_step = flipped ? 9 : 9 * s.channels, channel_step = flipped ? 9 * s.outputs : 9;
  Storage& owner = *p.weight.impl()->storage;
  const std::uint64_t version = owner.version.load(std::memory_order_relaxed);
  const DerivedKey key{
      kind, {static_cast<std::int64_t>(weight.offset), s.outputs, s.channels, output_step, channel_step, plan.rows}};
  const DerivedData::Found found = owner.find_derived(key, version);
  if (found.data) return std::static_pointer_cast<runtime::Block>(found.data);
  const std::int64_t units = ceil_div(s.outputs, plan.rows) * ceil_div(s.channels, plan.width / plan.rows);
  runtime::BlockPtr block = runtime::allocate(device, 4 * static_cast<std::uint64_t>(plan.weight_floats(s)));
  runtime::launch(device, {"conv/conv2d_winograd.cl", "winograd_weights", defines},
                  persistent_range(device, units, plan.width * 20), weight, runtime::BufferView{block.get(), 0},
                  static_cast<std::int32_t>(s.outputs), static_cast<std::int32_t>(s.channels), output_step,
                  channel_step, flipped ? 1 : 0);
  if (!found.worth_keeping) return block;
  return std::static_pointer_cast<runtime::Block>(owner.derived.keep(key, version, block));
}

void run(const Conv2dProblem& p, const Sizes& s, const Tensor& from, const Tensor& to, bool flipped) {
  runtime::DeviceState& device = p.device;
  const DeviceInfo& info = runtime::info_of(device);
  const Plan plan = plan_of(s, device, info);
  runtime::Defines defines{{"VW", plan.width}, {"MR", plan.rows}, {"NV", plan.vectors}};
  if (!info.fast_fma) defines.add({"NO_FMA", 1});
  runtime::Kernel& multiply =
      runtime::resolve(device, {"conv/conv2d_winograd.cl", "winograd_multiply", defines, epilogue_prelude(p.epilogue)});
  const runtime::BlockPtr scratch = runtime::allocate(device, 4 * static_cast<std::uint64_t>(plan.items * plan.slice));
  const runtime::BlockPtr weight = transformed_weight(p, s, plan, defines, flipped);
  const runtime::BufferView any{weight.get(), 0};
  const EpilogueArguments e = epilogue_arguments(p.epilogue, any);
  runtime::launch(device, multiply, {{plan.items}, {1}}, any, in(from), out(to), p.bias.defined() ? in(p.bias) : any,
                  runtime::BufferView{scratch.get(), 0}, e.first, e.second, e.strides, e.scalars[0], e.scalars[1],
                  e.scalars[2], Shape{s.images, s.channels, s.height, s.width, s.outputs, s.out_h, s.out_w, plan.slice},
                  s.pad_h, s.pad_w, static_cast<std::int32_t>(plan.blocks),
                  (p.bias.defined() ? bias_per_row : 0) | epilogue_flags(p.epilogue));
}

std::uint64_t workspace_of(const Conv2dProblem& p, const Sizes& s, const DeviceInfo& info) {
  const Plan plan = plan_of(s, p.device, info);
  return 4 * static_cast<std::uint64_t>(plan.weight_floats(s) + plan.items * plan.slice);
}

}  // namespace

const char* refuse_winograd_form(const Conv2dSizes& s) {
  const Conv2dOptions& o = s.options;
  if (s.kernel_h != 3 || s.kernel_w != 3) return "the kernel is not 3 x 3";
  if (o.stride.h != 1 || o.stride.w != 1 || o.dilation.h != 1 || o.dilation.w != 1)
    return "a stride or dilation above 1";
  if (o.groups != 1) return "groups";
  if (o.padding.h > 2 || o.padding.w > 2) return "a padding above 2";
  if (s.channels == 0 || s.outputs == 0 || s.images == 0) return "nothing to add up";
  return nullptr;
}

std::uint64_t winograd_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  return workspace_of(p, forward_sizes(p.sizes), info);
}

std::uint64_t winograd_data_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  return workspace_of(p, data_sizes(p.sizes), info);
}

const char* refuse_winograd(const Conv2dProblem& p, const DeviceInfo& info) {
  return refuse(p, forward_sizes(p.sizes), info);
}

void run_winograd(const Conv2dProblem& p) { run(p, forward_sizes(p.sizes), p.x, p.y, false); }

const char* refuse_winograd_data(const Conv2dProblem& p, const DeviceInfo& info) {
  return refuse(p, data_sizes(p.sizes), info);
}

void run_winograd_data(const Conv2dProblem& p) { run(p, data_sizes(p.sizes), p.y, p.x, true); }

}  // namespace crisol::ops
