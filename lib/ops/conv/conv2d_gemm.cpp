#include "ops/conv/conv2d_gemm.h"

#include "dispatch/gpu_variant.h"
#include "ops/product/gemm.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t least_pixels = 256;  // With fewer, tiles of one image's pixels are mostly edge.

const char* refuse(const char* op, const Conv2dSizes& s, const DeviceInfo& info) {
  if (const char* reason = refuse_off_gpu(op, "gemm", info)) return reason;
  const Conv2dOptions& o = s.options;
  if (s.taps() != 1) return "the kernel is not 1 x 1";
  if (o.stride.h != 1 || o.stride.w != 1) return "a stride above 1";
  if (o.padding.h != 0 || o.padding.w != 0) return "padding";
  if (s.groups() != 1) return "groups";
  if (s.channels == 0 || s.outputs == 0) return "nothing to add up";
  if (s.images > 1 && s.pixels() < least_pixels && forced_variant(op) != "gemm") return "too few pixels an image";
  return nullptr;
}

}  // namespace

const char* refuse_conv2d_gemm(const Conv2dProblem& p, const DeviceInfo& info) {
  return refuse("conv2d", p.sizes, info);
}

void run_conv2d_gemm(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  const std::int64_t n = s.pixels();
  Epilogue by_image;  // The product's batch.
  Gemm product{.device = p.device,
               .m = s.outputs,
               .n = n,
               .k = s.channels,
               .batch = s.images,
               .a = {in(p.weight), s.channels, 1},
               .b = {in(p.x), n, 1, s.channels * n},
               .c = {out(p.y), n, 1, s.outputs * n}};
  if (p.bias.defined()) {
    product.flags = bias_per_row;
    product.bias = in(p.bias);
  }
  if (p.epilogue != nullptr) {
    by_image = *p.epilogue;
    for (EpilogueOperand& operand : by_image.operands) operand.batch = operand.column * s.outputs * n;
    product.epilogue = &by_image;
  }
  if (!gemm(product)) *p.applied = false;
}

const char* refuse_conv2d_data_gemm(const Conv2dProblem& p, const DeviceInfo& info) {
  return refuse("conv2d_backward_data", p.sizes, info);
}

void run_conv2d_data_gemm(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  const std::int64_t n = s.pixels();
  gemm({.device = p.device,
        .m = s.channels,
        .n = n,
        .k = s.outputs,
        .batch = s.images,
        .a = {in(p.weight), 1, s.channels},
        .b = {in(p.y), n, 1, s.outputs * n},
        .c = {out(p.x), n, 1, s.channels * n}});
}

const char* refuse_conv2d_weight_gemm(const Conv2dProblem& p, const DeviceInfo& info) {
  if (p.sizes.images != 1) return "more than one image";
  return refuse("conv2d_backward_weight", p.sizes, info);
}

void run_conv2d_weight_gemm(const Conv2dProblem& p) {
  const Conv2dSizes& s = p.sizes;
  const std::int64_t k = s.pixels();
  gemm({.device = p.device,
        .m = s.outputs,
        .n = s.channels,
        .k = k,
        .a = {in(p.y), k, 1},
        .b = {in(p.x), 1, k},
        .c = {out(p.weight), s.channels, 1}});
}

}  // namespace crisol::ops
