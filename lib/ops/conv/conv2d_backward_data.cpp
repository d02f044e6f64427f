// Gradient of a convolution's input. Variants for GPUs: "depthwise", "gemm", "winograd_f4", "winograd_f2", "matrix",
// "block" and "im2col_gemm"; for CPUs: "planes", "winograd", "cpu_gemm"; "direct".
#include <algorithm>
#include <vector>

#include "crisol/ops/conv.h"
#include "crisol/ops/copy.h"
#include "dispatch/persistent.h"
#include "ops/check.h"
#include "ops/conv/conv2d_block.h"
#include "ops/conv/conv2d_depthwise.h"
#include "ops/conv/conv2d_gemm.h"
#include "ops/conv/conv2d_matrix.h"
#include "ops/conv/conv2d_phase.h"
#include "ops/conv/conv2d_planes.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/conv/conv2d_winograd.h"
#include "ops/conv/conv2d_winograd_gpu.h"
#include "ops/product/gemm_cpu.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr int column_ints = 7;  // COLUMN_INTS / VW of product/gather.h.

struct PhasePlan {
  int first_h, first_w;
  Phase h, w;
  TilePlan plan;

  std::int64_t pixels() const noexcept { return h.positions * w.positions; }
  std::int64_t taps() const noexcept { return std::int64_t{h.taps} * w.taps; }
};

// Empty when one of the phases is beyond the kernel.
std::vector<PhasePlan> plans_of(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  const Conv2dOptions& o = s.options;
  std::vector<PhasePlan> plans;
  for (int h = 0; h < std::min<std::int64_t>(o.stride.h, s.height); ++h)
    for (int w = 0; w < std::min<std::int64_t>(o.stride.w, s.width); ++w) {
      PhasePlan phase{h,
                      w,
                      phase_of(h, s.height, s.kernel_h, o.stride.h, o.padding.h, o.dilation.h),
                      phase_of(w, s.width, s.kernel_w, o.stride.w, o.padding.w, o.dilation.w),
                      {}};
      const auto plan = plan_tiles(info, cpu_vector_width(p.device), s.group_channels(), s.images * phase.pixels(),
                                   s.group_outputs() * phase.taps(), s.groups(), column_ints);
      if (!plan) return {};
      phase.plan = *plan;
      plans.push_back(phase);
    }
  return plans;
}

const char* refuse_cpu_gemm(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  if (const char* reason = refuse_gather(info, std::max(s.channels * s.height * s.width, s.outputs * s.pixels()),
                                         s.height, s.height * s.width))
    return reason;
  return plans_of(p, info).empty() ? "too large for the kernel's indices or the device's loops" : nullptr;
}

std::uint64_t gemm_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  std::int64_t most = 0;
  for (const PhasePlan& phase : plans_of(p, info))
    most = std::max(most, phase.plan.items * phase.plan.slice +
                              phase.plan.packed_size(p.sizes.group_channels(), p.sizes.group_outputs() * phase.taps(),
                                                     p.sizes.groups()));
  return 4 * static_cast<std::uint64_t>(most);
}

void run_phase(const Conv2dProblem& p, const PhasePlan& phase, const TileKernels& kernels,
               runtime::BufferView scratch) {
  const Conv2dSizes& s = p.sizes;
  const Conv2dOptions& o = s.options;
  const TilePlan& plan = phase.plan;
  runtime::DeviceState& device = p.device;
  const std::int64_t m = s.group_channels(), k = s.group_outputs() * phase.taps();
  runtime::BufferView weight = in(p.weight);
  weight.offset += static_cast<std::uint64_t>(phase.h.first_tap * s.kernel_w + phase.w.first_tap);
  runtime::BufferView dx = out(p.x);
  dx.offset += static_cast<std::uint64_t>(phase.first_h * s.width + phase.first_w);

  const runtime::BlockPtr packed = packed_operand(device, kernels.pack,
                                                  {.first = weight,
                                                   .m = m,
                                                   .k = k,
                                                   .row = s.taps(),
                                                   .count1 = phase.h.taps,
                                                   .count2 = phase.w.taps,
                                                   .stride0 = s.depth(),
                                                   .stride1 = phase.h.tap_step * s.kernel_w,
                                                   .stride2 = phase.w.tap_step,
                                                   .count = s.groups(),
                                                   .batch = s.group_outputs() * s.depth()},
                                                  plan.tile_rows, p.weight.impl()->storage.get());
  launch_tiles(
      device, plan, kernels,
      {.packed = {packed.get(), 0},
       .b = in(p.y),
       .c = dx,
       .bias = scratch,
       .scratch = scratch,
       .m = m,
       .n = s.images * phase.pixels(),
       .k = k,
       .batch = s.groups(),
       .a_batch = plan.packed_size(m, k, 1),
       .b_batch = s.group_outputs() * s.pixels(),
       .c_batch = m * s.height * s.width,
       .bias_batch = 0,
       .c_row = s.height * s.width,
       .flags = gathered,
       .plane = {s.out_h, s.out_w, phase.taps(), phase.w.taps, phase.pixels(), phase.w.positions, o.stride.h * s.width,
                 o.stride.w},
       .walk = {1, 1, phase.h.start, phase.w.start, phase.h.step, phase.w.step, s.outputs * s.pixels(), s.pixels()},
       .b_size = s.images * s.outputs * s.pixels(),
       .to_image = s.channels * s.height * s.width});
}

void run_cpu_gemm(const Conv2dProblem& p) {
  runtime::DeviceState& device = p.device;
  const std::vector<PhasePlan> phases = plans_of(p, runtime::info_of(device));
  const TileKernels kernels = resolve_tiles(device, phases.front().plan);
  std::int64_t floats = 0;  // The queue runs one phase after the other, so they share the workspace.
  for (const PhasePlan& phase : phases) floats = std::max(floats, phase.plan.items * phase.plan.slice);
  const runtime::BlockPtr scratch = runtime::allocate(device, 4 * static_cast<std::uint64_t>(floats));
  for (const PhasePlan& phase : phases) run_phase(p, phase, kernels, {scratch.get(), 0});
}

void run_direct(const Conv2dProblem& p) {
  runtime::DeviceState& device = p.device;
  const std::int64_t count = p.x.numel();
  runtime::launch(device, {"conv/conv2d_direct.cl", "conv2d_direct_data"}, runtime::flat_range(device, count), in(p.y),
                  in(p.weight), out(p.x), count, p.sizes.kernel_sizes(), p.sizes.kernel_window());
}

constexpr Variant<Conv2dProblem> variants[] = {
    {"depthwise", refuse_depthwise_data, run_depthwise_data},
    {"gemm", refuse_conv2d_data_gemm, run_conv2d_data_gemm},
    winograd_tiles<true, 4>,
    winograd_tiles<true, 2>,
    {"planes", refuse_planes_data, run_planes_data, planes_data_workspace},
    {"winograd", refuse_winograd_data, run_winograd_data, winograd_data_workspace},
    {"cpu_gemm", refuse_cpu_gemm, run_cpu_gemm, gemm_workspace},
    {"matrix", refuse_matrix_data, run_matrix_data, matrix_data_workspace, &conv2d_matrix_data_settings},
    {"block", refuse_block_data, run_block_data, block_data_workspace, &conv2d_block_data_settings},
    {"im2col_gemm", refuse_conv2d_im2col, run_conv2d_data_im2col, im2col_workspace},
    {"direct", accept_all, run_direct}};

}  // namespace

std::span<const Variant<Conv2dProblem>> conv2d_backward_data_variants() { return variants; }

Tensor conv2d_backward_data(const Tensor& dy, const Tensor& weight, const Shape& input, const Conv2dOptions& options) {
  constexpr const char* op = "conv2d_backward_data";
  require_dtype(op, "the weight", weight, DType::f32);
  const Conv2dSizes sizes = conv2d_sizes(op, input, weight.shape(), options);
  require_operand(op, "the weight", weight, "the gradient", dy, sizes.output_shape());
  const Tensor dx = empty(input, DType::f32, dy.device());
  if (dx.numel() == 0) return dx;
  const Conv2dProblem problem = with_precision(op, {sizes, state_of(dx), dx, contiguous(weight), contiguous(dy)});
  choose(op, variants, problem, dy.device().info()).run(problem);
  return dx;
}

}  // namespace crisol::ops
