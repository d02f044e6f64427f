// Convolution. Variants for GPUs: "depthwise", "gemm", "winograd_f4", "winograd_f2", "matrix", "block" and
// "im2col_gemm"; for CPUs: "planes", "winograd", "cpu_gemm"; "direct".
#include <algorithm>

#include "crisol/ops/conv.h"
#include "crisol/ops/copy.h"
#include "dispatch/persistent.h"
#include "ops/check.h"
#include "ops/conv/conv2d_block.h"
#include "ops/conv/conv2d_depthwise.h"
#include "ops/conv/conv2d_gemm.h"
#include "ops/conv/conv2d_matrix.h"
#include "ops/conv/conv2d_planes.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/conv/conv2d_winograd.h"
#include "ops/conv/conv2d_winograd_gpu.h"
#include "ops/product/gemm_cpu.h"
#include "ops/product/gemm_epilogue.h"
#include "ops/product/with_epilogue.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr int column_ints = 7;  // COLUMN_INTS / VW of product/gather.h.

std::optional<TilePlan> plan_of(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  return plan_tiles(info, cpu_vector_width(p.device), s.group_outputs(), s.images * s.pixels(), s.depth(), s.groups(),
                    column_ints);
}

const char* refuse_cpu_gemm(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  if (const char* reason =
          refuse_gather(info, std::max(s.channels * s.height * s.width, s.outputs * s.pixels()), s.out_h, s.pixels()))
    return reason;
  return plan_of(p, info) ? nullptr : "too large for the kernel's indices or the device's loops";
}

std::uint64_t gemm_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  const TilePlan plan = *plan_of(p, info);
  const std::int64_t packed = plan.packed_size(p.sizes.group_outputs(), p.sizes.depth(), p.sizes.groups());
  return 4 * static_cast<std::uint64_t>(packed + plan.items * plan.slice);
}

void run_cpu_gemm(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  const Conv2dOptions& o = s.options;
  runtime::DeviceState& device = p.device;
  const TilePlan plan = *plan_of(p, runtime::info_of(device));
  const TileKernels kernels = resolve_tiles(device, plan, p.epilogue);
  const runtime::BlockPtr scratch = runtime::allocate(device, 4 * static_cast<std::uint64_t>(plan.items * plan.slice));
  const runtime::BlockPtr packed = packed_operand(device, kernels.pack,
                                                  {.first = in(p.weight),
                                                   .m = s.group_outputs(),
                                                   .k = s.depth(),
                                                   .row = s.depth(),
                                                   .stride0 = 1,
                                                   .count = s.groups(),
                                                   .batch = s.group_outputs() * s.depth()},
                                                  plan.tile_rows, p.weight.impl()->storage.get());
  launch_tiles(device, plan, kernels,
               {.packed = {packed.get(), 0},
                .b = in(p.x),
                .c = out(p.y),
                .bias = in(p.bias.defined() ? p.bias : p.weight),
                .scratch = {scratch.get(), 0},
                .m = s.group_outputs(),
                .n = s.images * s.pixels(),
                .k = s.depth(),
                .batch = s.groups(),
                .a_batch = plan.packed_size(s.group_outputs(), s.depth(), 1),
                .b_batch = s.group_channels() * s.height * s.width,
                .c_batch = s.group_outputs() * s.pixels(),
                .bias_batch = s.group_outputs(),
                .c_row = s.pixels(),
                .flags = gathered | (p.bias.defined() ? bias_per_row : 0),
                .epilogue = p.epilogue,
                .plane = {s.height, s.width, s.taps(), s.kernel_w, s.pixels(), s.out_w, s.out_w, 1},
                .walk = {o.stride.h, o.stride.w, -o.padding.h, -o.padding.w, o.dilation.h, o.dilation.w,
                         s.channels * s.height * s.width, s.height * s.width},
                .b_size = s.images * s.channels * s.height * s.width,
                .to_image = s.outputs * s.pixels()});
}

void run_direct(const Conv2dProblem& p) {
  runtime::DeviceState& device = p.device;
  const std::int64_t count = p.y.numel();
  const EpilogueArguments e = epilogue_arguments(p.epilogue, in(p.weight));
  const std::int32_t flags = (p.bias.defined() ? bias_per_row : 0) | epilogue_flags(p.epilogue);
  runtime::launch(device, {"conv/conv2d_direct.cl", "conv2d_direct", {}, epilogue_prelude(p.epilogue)},
                  runtime::flat_range(device, count), in(p.x), in(p.weight), in(p.bias.defined() ? p.bias : p.weight),
                  out(p.y), e.first, e.second, e.strides, e.scalars[0], e.scalars[1], e.scalars[2], count,
                  p.sizes.kernel_sizes(), p.sizes.kernel_window(), flags);
}

constexpr Variant<Conv2dProblem> variants[] = {
    {"depthwise", refuse_depthwise, run_depthwise},
    {"gemm", refuse_conv2d_gemm, run_conv2d_gemm},
    winograd_tiles<false, 4>,
    winograd_tiles<false, 2>,
    {"planes", refuse_planes, run_planes, planes_workspace},
    {"winograd", refuse_winograd, run_winograd, winograd_workspace},
    {"cpu_gemm", refuse_cpu_gemm, run_cpu_gemm, gemm_workspace},
    {"matrix", refuse_matrix, run_matrix, matrix_workspace, &conv2d_matrix_settings},
    {"block", refuse_block, run_block, block_workspace, &conv2d_block_settings},
    {"im2col_gemm", refuse_conv2d_im2col, run_conv2d_im2col, im2col_workspace},
    {"direct", accept_all, run_direct}};

Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options,
                const Epilogue* f, bool& applied) {
  constexpr const char* op = "conv2d";
  require_dtype(op, "the input", x, DType::f32);
  require_dtype(op, "the weight", weight, DType::f32);
  require_device(op, "the input", x, "the weight", weight);
  const Conv2dSizes sizes = conv2d_sizes(op, x.shape(), weight.shape(), options);
  if (bias.defined()) require_operand(op, "the input", x, "the bias", bias, {sizes.outputs});
  const Tensor y = empty(sizes.output_shape(), DType::f32, x.device());
  applied = true;
  if (y.numel() == 0) return y;
  Conv2dProblem problem = with_precision(
      op, {sizes, state_of(y), contiguous(x), contiguous(weight), y, bias.defined() ? contiguous(bias) : bias});
  const Choice<Conv2dProblem> choice = choose(op, variants, problem, x.device().info());
  Epilogue by_group;  // The kernels' batch is the group, whose channels follow one another.
  if (f != nullptr) {
    by_group = *f;
    for (EpilogueOperand& operand : by_group.operands) operand.batch = sizes.group_outputs() * operand.row;
    problem.epilogue = &by_group;
    problem.applied = &applied;
  }
  choice.run(problem);
  return y;
}

}  // namespace

std::span<const Variant<Conv2dProblem>> conv2d_variants() { return variants; }

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  bool applied = false;
  return convolve(x, weight, bias, options, nullptr, applied);
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options,
              const Epilogue& f, bool& applied) {
  return convolve(x, weight, bias, options, &f, applied);
}

}  // namespace crisol::ops
