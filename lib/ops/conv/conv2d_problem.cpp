#include "ops/conv/conv2d_problem.h"

#include "base/text.h"
#include "ops/probe/matrix_probe.h"
#include "ops/product/gemm.h"
#include "ops/window.h"

namespace crisol::ops {

Shape Conv2dSizes::kernel_window() const {
  return {kernel_h,          kernel_w,          options.stride.h,   options.stride.w,
          options.padding.h, options.padding.w, options.dilation.h, options.dilation.w};
}

ProblemKey Conv2dProblem::key() const {
  const Conv2dOptions& o = sizes.options;
  return {{"n", sizes.images},     {"c", sizes.channels},    {"h", sizes.height},
          {"w", sizes.width},      {"k", sizes.outputs},     {"r", sizes.kernel_h},
          {"s", sizes.kernel_w},   {"stride_h", o.stride.h}, {"stride_w", o.stride.w},
          {"pad_h", o.padding.h},  {"pad_w", o.padding.w},   {"dil_h", o.dilation.h},
          {"dil_w", o.dilation.w}, {"groups", o.groups},     {"precision", static_cast<std::int64_t>(precision)}};
}

Conv2dProblem with_precision(const char* op, Conv2dProblem problem) {
  problem.precision = precision();
  problem.unit = matrix_unit_of(problem.device, problem.precision, op);
  return problem;
}

Conv2dSizes conv2d_sizes(const char* op, const Shape& input, const Shape& weight, const Conv2dOptions& options) {
  require(input.rank() == 4, op, "the input must have 4 axes (N, C, H, W), its shape is ", input);
  require(weight.rank() == 4, op, "the weight must have 4 axes (K, C/groups, R, S), its shape is ", weight);
  require(options.groups > 0, op, "groups is ", options.groups, ", it must be positive");
  require(input[1] % options.groups == 0, op, "the input has ", input[1], " channels, not a multiple of ",
          options.groups, " groups");
  require(weight[0] % options.groups == 0, op, "the weight has ", weight[0], " output channels, not a multiple of ",
          options.groups, " groups");
  require(weight[1] == input[1] / options.groups, op, "weight has ", weight[1], " input channels per group, input has ",
          input[1], " channels / ", options.groups, options.groups == 1 ? " group" : " groups");
  require(weight[2] < (1 << 30) && weight[3] < (1 << 30), op, "the weight's shape is ", weight, ", too large a kernel");
  const WindowAxis h{input[2], static_cast<int>(weight[2]), options.stride.h, options.padding.h, options.dilation.h};
  const WindowAxis w{input[3], static_cast<int>(weight[3]), options.stride.w, options.padding.w, options.dilation.w};
  return {
      input[0],  input[1],  input[2], input[3], weight[0], window_count(op, "height", h), window_count(op, "width", w),
      weight[2], weight[3], options};
}

const char* refuse_gather(const DeviceInfo& info, std::int64_t image_elements, std::int64_t rows, std::int64_t pixels) {
  if (!takes_cpu_kernels(info)) return "made for CPUs";
  // product/gather.h: 16 neighbouring columns lie in at most 16 images, whose distance must stay an int.
  if (image_elements >= (1 << 27)) return "one image has more than 2^27 elements";
  if (rows >= (1 << 22) || pixels >= (1 << 30)) return "the output plane is too large for the kernel's indices";
  return nullptr;
}

}  // namespace crisol::ops
