// Gradient of a convolution's weight. Variants "cpu_rows", "im2col_gemm" and "direct".
#include <algorithm>

#include "crisol/ops/conv.h"
#include "crisol/ops/copy.h"
#include "ops/check.h"
#include "ops/conv2d_problem.h"
#include "ops/gemm_rows_cpu.h"
#include "ops/persistent.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

std::optional<RowPlan> plan_of(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  return plan_rows(info, cpu_vector_width(state_of(p.y)), s.group_outputs(), s.depth(), s.images * s.pixels(),
                   s.groups(), s.taps());
}

const char* refuse_cpu_rows(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  const std::int64_t image = std::max(s.channels * s.height * s.width, s.outputs * s.pixels());
  if (const char* reason = refuse_gather(info, image, s.out_h, s.pixels())) return reason;
  return plan_of(p, info) ? nullptr : "too large for the kernel's indices or the device's loops";
}

void run_cpu_rows(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  const Conv2dOptions& o = s.options;
  runtime::DeviceState& device = state_of(p.weight);
  const RowPlan plan = *plan_of(p, runtime::info_of(device));
  const RowKernels kernels = resolve_rows(device, plan, "GATHER");
  const std::int64_t m = s.group_outputs(), n = s.depth();
  const runtime::BlockPtr scratch = runtime::allocate(device, 4 * static_cast<std::uint64_t>(plan.items * plan.slice));
  const runtime::BlockPtr partials = allocate_partials(device, plan, m, n, s.groups());
  const runtime::BufferView partials_view{partials.get(), 0};
  const runtime::BufferView dw = out(p.weight);
  const auto i32 = [](std::int64_t value) { return static_cast<std::int32_t>(value); };

  // A row of A is an output channel of dy, a row of B a (channel, r, s) of the im2col matrix; both run over all pixels.
  runtime::launch(device, kernels.multiply, {{plan.items}, {1}}, in(p.y), in(p.x), partials ? partials_view : dw,
                  in(p.y), runtime::BufferView{scratch.get(), 0}, i32(m), i32(n), s.images * s.pixels(),
                  i32(s.groups()), plan.splits, m * s.pixels(), s.group_channels() * s.height * s.width, m * n,
                  std::int64_t{0}, s.groups() * m * n, n, std::int64_t{1}, i32(s.height), i32(s.width), i32(s.taps()),
                  i32(s.kernel_w), o.stride.h, o.stride.w, -o.padding.h, -o.padding.w, o.dilation.h, o.dilation.w,
                  i32(s.out_h), i32(s.out_w), s.outputs * s.pixels(), s.images * s.outputs * s.pixels(),
                  s.channels * s.height * s.width, s.images * s.channels * s.height * s.width, plan.block_m,
                  plan.block_n, plan.block_k, plan.slice, 0);
  if (partials) {
    const Matrix c{dw, n, 1, m * n};
    launch_sum(plan, kernels,
               {.device = device, .m = m, .n = n, .k = 0, .batch = s.groups(), .a = c, .b = c, .c = c, .bias = dw},
               partials_view);
  }
}

void run_direct(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  runtime::DeviceState& device = state_of(p.weight);
  const std::int64_t count = p.weight.numel();
  runtime::Kernel& kernel = runtime::resolve(device, {"conv2d_direct.cl", "conv2d_direct_weight"});
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

constexpr Variant<Conv2dProblem> variants[] = {{"cpu_rows", refuse_cpu_rows, run_cpu_rows},
                                               {"im2col_gemm", refuse_conv2d_im2col, run_conv2d_weight_im2col},
                                               {"direct", accept_all, run_direct}};

}  // namespace

Tensor conv2d_backward_weight(const Tensor& dy, const Tensor& x, const Shape& weight, const Conv2dOptions& options) {
  constexpr const char* op = "conv2d_backward_weight";
  require_dtype(op, "the input", x, DType::f32);
  const Conv2dSizes sizes = conv2d_sizes(op, x.shape(), weight, options);
  require_operand(op, "the input", x, "the gradient", dy, sizes.output_shape());
  const Tensor dw = empty(weight, DType::f32, x.device());
  if (dw.numel() == 0) return dw;
  const Conv2dProblem problem{sizes, contiguous(x), dw, contiguous(dy), {}};
  choose(op, variants, problem, x.device().info()).run(problem);
  return dw;
}

}  // namespace crisol::ops
