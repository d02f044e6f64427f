// Gradient of a convolution's weight. Variants for GPUs: "depthwise", "gemm", "block" and "im2col_gemm"; for CPUs:
// "planes", "winograd", "cpu_rows"; "direct".
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
#include "ops/product/gemm_rows_cpu.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

std::optional<RowPlan> plan_of(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  return plan_rows(info, cpu_vector_width(p.device), s.group_outputs(), s.depth(), s.images * s.pixels(), s.groups(),
                   s.taps());
}

const char* refuse_cpu_rows(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  const std::int64_t image = std::max(s.channels * s.height * s.width, s.outputs * s.pixels());
  if (const char* reason = refuse_gather(info, image, s.out_h, s.pixels())) return reason;
  return plan_of(p, info) ? nullptr : "too large for the kernel's indices or the device's loops";
}

std::uint64_t rows_workspace(const Conv2dProblem& p, const DeviceInfo& info) {
  const RowPlan plan = *plan_of(p, info);
  const std::int64_t partials = plan.splits == 1 ? 0 : plan.splits * p.sizes.weight_shape().numel();
  return 4 * static_cast<std::uint64_t>(partials + plan.items * plan.slice);
}

void run_cpu_rows(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  const Conv2dOptions& o = s.options;
  runtime::DeviceState& device = p.device;
  const RowPlan plan = *plan_of(p, runtime::info_of(device));
  const std::int64_t m = s.group_outputs(), n = s.depth(), x_image = s.channels * s.height * s.width;
  const Matrix c{out(p.weight), n, 1, m * n};
  // A row of A is an output channel of dy, a row of B a (channel, r, s) of the im2col matrix; both run over all pixels.
  const Gemm problem{.device = device,
                     .m = m,
                     .n = n,
                     .k = s.images * s.pixels(),
                     .batch = s.groups(),
                     .a = {in(p.y), 0, 0, m * s.pixels()},
                     .b = {in(p.x), 0, 0, s.group_channels() * s.height * s.width},
                     .c = c,
                     .bias = c.first};
  launch_rows(plan, resolve_rows(device, plan),
              {.problem = problem,
               .flags = gathered,
               .places = {s.outputs * s.pixels(), x_image, s.images * s.outputs * s.pixels(), s.images * x_image},
               .plane = {s.height, s.width, s.taps(), s.kernel_w, s.pixels(), s.out_w},
               .walk = {o.stride.h, o.stride.w, -o.padding.h, -o.padding.w, o.dilation.h, o.dilation.w}});
}

void run_direct(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  runtime::DeviceState& device = p.device;
  const std::int64_t count = p.weight.numel();
  runtime::Kernel& kernel = runtime::resolve(device, {"conv/conv2d_direct.cl", "conv2d_direct_weight"});
  const std::int64_t rows = s.images * s.out_h;
  const std::int64_t rows_at_once = std::max<std::int64_t>(1, loop_budget(runtime::info_of(device)) / (s.out_w + 1));
  std::int64_t first = 0;
  do {  // Also once without images, so that the gradient becomes 0.
    const std::int64_t end = rows_at_once < rows - first ? first + rows_at_once : rows;
    runtime::launch(device, kernel, runtime::flat_range(device, count), in(p.y), in(p.x), out(p.weight), count,
                    s.kernel_sizes(), s.kernel_window(), first, end);
    first = end;
  } while (first < rows);
}

constexpr Variant<Conv2dProblem> variants[] = {
    {"depthwise", refuse_depthwise_weight, run_depthwise_weight, depthwise_weight_workspace},
    {"gemm", refuse_conv2d_weight_gemm, run_conv2d_weight_gemm},
    {"planes", refuse_planes_weight, run_planes_weight, planes_weight_workspace},
    {"winograd", refuse_winograd_weight, run_winograd_weight, winograd_weight_workspace},
    {"cpu_rows", refuse_cpu_rows, run_cpu_rows, rows_workspace},
    {"matrix", refuse_matrix_weight, run_matrix_weight, matrix_weight_workspace, &conv2d_matrix_weight_settings},
    {"block", refuse_block_weight, run_block_weight, block_weight_workspace, &conv2d_block_weight_settings},
    {"im2col_gemm", refuse_conv2d_im2col, run_conv2d_weight_im2col, im2col_workspace},
    {"direct", accept_all, run_direct}};

}  // namespace

std::span<const Variant<Conv2dProblem>> conv2d_backward_weight_variants() { return variants; }

Tensor conv2d_backward_weight(const Tensor& dy, const Tensor& x, const Shape& weight, const Conv2dOptions& options) {
  constexpr const char* op = "conv2d_backward_weight";
  require_dtype(op, "the input", x, DType::f32);
  const Conv2dSizes sizes = conv2d_sizes(op, x.shape(), weight, options);
  require_operand(op, "the input", x, "the gradient", dy, sizes.output_shape());
  const Tensor dw = empty(weight, DType::f32, x.device());
  if (dw.numel() == 0) return dw;
  const Conv2dProblem problem = with_precision(op, {sizes, state_of(dw), contiguous(x), dw, contiguous(dy)});
  choose(op, variants, problem, x.device().info()).run(problem);
  return dw;
}

}  // namespace crisol::ops
