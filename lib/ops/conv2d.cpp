// Convolution. Variants "cpu_gemm", "im2col_gemm" and "direct".
#include "crisol/ops/conv.h"
#include "crisol/ops/copy.h"
#include "ops/check.h"
#include "ops/conv2d_problem.h"
#include "ops/gemm_cpu.h"
#include "ops/persistent.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr int column_ints = 7;  // COLUMN_INTS / VW of common/gather.h.

std::optional<TilePlan> plan_of(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  return plan_tiles(info, cpu_vector_width(state_of(p.y)), s.group_outputs(), s.images * s.pixels(), s.depth(),
                    s.groups(), column_ints);
}

const char* refuse_cpu_gemm(const Conv2dProblem& p, const DeviceInfo& info) {
  const Conv2dSizes& s = p.sizes;
  if (const char* reason = refuse_gather(info, s.channels * s.height * s.width, s.out_h, s.pixels())) return reason;
  return plan_of(p, info) ? nullptr : "too large for the kernel's indices or the device's loops";
}

void run_cpu_gemm(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  const Conv2dOptions& o = s.options;
  runtime::DeviceState& device = state_of(p.y);
  const TilePlan plan = *plan_of(p, runtime::info_of(device));
  const TileKernels kernels = resolve_tiles(device, plan, "GATHER");
  const std::int64_t packed_floats = plan.packed_size(s.group_outputs(), s.depth(), s.groups());
  const runtime::BlockPtr packed = runtime::allocate(device, 4 * static_cast<std::uint64_t>(packed_floats));
  const runtime::BlockPtr scratch = runtime::allocate(device, 4 * static_cast<std::uint64_t>(plan.items * plan.slice));
  const runtime::BufferView packed_view{packed.get(), 0};
  const auto i32 = [](std::int64_t value) { return static_cast<std::int32_t>(value); };

  launch_pack(device, plan, kernels,
              {.first = in(p.weight),
               .m = s.group_outputs(),
               .k = s.depth(),
               .row = s.depth(),
               .stride0 = 1,
               .count = s.groups(),
               .batch = s.group_outputs() * s.depth()},
              packed_view);
  runtime::launch(device, kernels.multiply, {{plan.items}, {1}}, packed_view, in(p.x), out(p.y),
                  in(p.bias.defined() ? p.bias : p.weight), runtime::BufferView{scratch.get(), 0},
                  i32(s.group_outputs()), s.images * s.pixels(), i32(s.depth()), i32(s.groups()),
                  packed_floats / s.groups(), s.group_channels() * s.height * s.width, s.group_outputs() * s.pixels(),
                  s.group_outputs(), s.pixels(), i32(s.height), i32(s.width), i32(s.taps()), i32(s.kernel_w),
                  o.stride.h, o.stride.w, -o.padding.h, -o.padding.w, o.dilation.h, o.dilation.w, i32(s.pixels()),
                  i32(s.out_w), s.channels * s.height * s.width, s.height * s.width,
                  s.images * s.channels * s.height * s.width, s.outputs * s.pixels(), i32(s.out_w), 1, plan.block_m,
                  plan.block_n, plan.block_k, plan.slice, p.bias.defined() ? bias_per_row : 0);
}

void run_direct(const Conv2dProblem& p) {
  runtime::DeviceState& device = state_of(p.y);
  const std::int64_t count = p.y.numel();
  runtime::launch(device, {"conv2d_direct.cl", "conv2d_direct"}, runtime::flat_range(device, count), in(p.x),
                  in(p.weight), in(p.bias.defined() ? p.bias : p.weight), out(p.y), count, p.sizes.kernel_sizes(),
                  p.sizes.kernel_window(), p.bias.defined() ? 1 : 0);
}

constexpr Variant<Conv2dProblem> variants[] = {{"cpu_gemm", refuse_cpu_gemm, run_cpu_gemm},
                                               {"im2col_gemm", refuse_conv2d_im2col, run_conv2d_im2col},
                                               {"direct", accept_all, run_direct}};

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  constexpr const char* op = "conv2d";
  require_dtype(op, "the input", x, DType::f32);
  require_dtype(op, "the weight", weight, DType::f32);
  require_device(op, "the input", x, "the weight", weight);
  const Conv2dSizes sizes = conv2d_sizes(op, x.shape(), weight.shape(), options);
  if (bias.defined()) require_operand(op, "the input", x, "the bias", bias, {sizes.outputs});
  const Tensor y = empty(sizes.output_shape(), DType::f32, x.device());
  if (y.numel() == 0) return y;
  const Conv2dProblem problem{sizes, contiguous(x), contiguous(weight), y, bias.defined() ? contiguous(bias) : bias};
  choose(op, variants, problem, x.device().info()).run(problem);
  return y;
}

}  // namespace crisol::ops
