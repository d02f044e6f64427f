#include "ops/conv/conv2d_problem.h"

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/conv/conv2d_wide.h"
#include "ops/conv/conv2d_winograd.h"
#include "ops/result.h"
#include "ops/storage.h"
#include "ops/window.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

kernels::ConvSizes Conv2dSizes::kernel_sizes() const noexcept {
  return {images, channels, height, width, outputs, out_h, out_w, groups};
}

kernels::ConvWindow Conv2dSizes::kernel_window() const noexcept {
  using kernels::number;
  return {number(kernel_h), number(kernel_w), number(stride_h),   number(stride_w),
          number(pad_h),    number(pad_w),    number(dilation_h), number(dilation_w)};
}

dispatch::ProblemKey Conv2dProblem::key() const {
  const Conv2dSizes& s = sizes;
  const dispatch::ProblemKey key{{"n", s.images},         {"c", s.channels},        {"h", s.height},
                                 {"w", s.width},          {"k", s.outputs},         {"r", s.kernel_h},
                                 {"s", s.kernel_w},       {"stride_h", s.stride_h}, {"stride_w", s.stride_w},
                                 {"pad_h", s.pad_h},      {"pad_w", s.pad_w},       {"dil_h", s.dilation_h},
                                 {"dil_w", s.dilation_w}, {"groups", s.groups},     {"precision", product.precision}};
  return key.with_types(type);
}

Conv2dProblem conv2d_problem(const Conv2dSizes& sizes) {
  Conv2dProblem problem{};
  problem.sizes = sizes;
  problem.product = product_context();
  return problem;
}

Conv2dProblem conv2d_problem(const Conv2dSizes& sizes, const std::array<const Tensor*, 3>& operands) {
  Conv2dProblem problem = conv2d_problem(sizes);
  for (std::size_t i = 0; i < operands.size(); ++i)
    problem.offsets[i] = static_cast<std::int64_t>(in(*operands[i]).offset % 4);
  problem.type = storage_of(*operands[0]);
  return problem;
}

void look_for_copy(Conv2dProblem& problem, const Tensor& weight, bool data) {
  const Target target = target_of(state_of(weight));
  if (!target.takes_cpu_kernels()) return;
  const std::optional<DerivedKey> key = winograd_copy_that_pays_if_kept(problem, target, data);
  if (key && !keeps_copy(in_with_copies(weight), *key)) problem.weight_is_new = 1;
}

OperandView weight_operand(const Conv2dProblem& problem, const Tensor& weight) {
  return problem.weight_is_new != 0 ? OperandView(in(weight)) : in_with_copies(weight);
}

bool launch_conv2d(const dispatch::Prepared& prepared, const Tensor& x, const dispatch::OperandView& weight,
                   const Tensor& bias, const Tensor& y, const ProductEpilogue* f) {
  const OperandView views[] = {in(x),
                               weight,
                               out(y),
                               bias.defined() ? in(bias) : weight.view,
                               epilogue_operand(f, 0, weight.view),
                               epilogue_operand(f, 1, weight.view)};
  launch(prepared, views, std::array{epilogue_scalars(f)});
  return layout_of(f).empty() || prepared.plan.fuses_epilogue();
}

Tensor conv2d_gradient(const Table<Conv2dProblem>& table, const Conv2dSizes& sizes, const Tensor& dy,
                       const Conv2dGradient& g, const Tensor* into) {
  require_operand(table.op, g.name, g.other, "the gradient", dy, sizes.output_shape(), g.other.dtype());
  Result result(table.op, into, g.shape, dy.dtype(), dy.device(), {&dy, &g.other});
  if (g.shape.numel() == 0) return result.done();
  if (!computes_in_f32(dy.dtype())) {
    copy_into(result.place(), g.is_weight ? wide_conv2d_backward_data(sizes, dy, g.other)
                                          : wide_conv2d_backward_weight(sizes, dy, g.other));
    return result.done();
  }
  const Contiguous gradient(dy), other(g.other);
  Conv2dProblem problem = conv2d_problem(sizes, {&gradient.layout(), &other.layout(), &result.place()});
  if (g.is_weight) look_for_copy(problem, other.layout(), true);
  const PreparedPtr prepared = prepare(table, problem, state_of(dy));
  const OperandView second = g.is_weight ? weight_operand(problem, other.filled()) : OperandView(in(other));
  launch(*prepared, {in(gradient), second, out(result)});
  return result.done();
}

GemmProblem inner_product(const Conv2dProblem& p, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch) {
  return {.m = m, .n = n, .k = k, .batch = batch, .a = {}, .b = {}, .c = {}, .context = p.product};
}

void require_channels(const char* op, const Shape& input, const Shape& weight, int groups) {
  require(groups > 0, op, "groups is ", groups, ", it must be positive");
  require(input[1] % groups == 0, op, "the input has ", input[1], " channels, not a multiple of ", groups, " groups");
  require(weight[0] % groups == 0, op, "the weight has ", weight[0], " output channels, not a multiple of ", groups,
          " groups");
  require(weight[1] == input[1] / groups, op, "weight has ", weight[1], " input channels per group, input has ",
          input[1], " channels / ", groups, groups == 1 ? " group" : " groups");
  for (int axis = 2; axis < weight.rank(); ++axis)
    require(weight[axis] < (1 << 30), op, "the weight's shape is ", weight, ", too large a kernel");
}

Conv2dSizes conv2d_sizes(const char* op, const Shape& input, const Shape& weight, const Conv2dOptions& options) {
  require(input.rank() == 4, op, "the input must have 4 axes (N, C, H, W), its shape is ", input);
  require(weight.rank() == 4, op, "the weight must have 4 axes (K, C/groups, R, S), its shape is ", weight);
  require_channels(op, input, weight, options.groups);
  const WindowAxis h{input[2], static_cast<int>(weight[2]), options.stride.h, options.padding.h, options.dilation.h};
  const WindowAxis w{input[3], static_cast<int>(weight[3]), options.stride.w, options.padding.w, options.dilation.w};
  return {.images = input[0],
          .channels = input[1],
          .height = input[2],
          .width = input[3],
          .outputs = weight[0],
          .out_h = window_count(op, "height", h),
          .out_w = window_count(op, "width", w),
          .kernel_h = weight[2],
          .kernel_w = weight[3],
          .stride_h = options.stride.h,
          .stride_w = options.stride.w,
          .pad_h = options.padding.h,
          .pad_w = options.padding.w,
          .dilation_h = options.dilation.h,
          .dilation_w = options.dilation.w,
          .groups = options.groups};
}

}  // namespace crisol::ops
