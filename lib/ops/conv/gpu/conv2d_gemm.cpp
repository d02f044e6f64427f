// Convolution with 1 x 1 kernels as plain matrix products, one for each image, on GPUs.
#include "ops/conv/conv2d_variants.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t min_pixels = 256;  // With fewer pixels, most tiles of an image would be partly empty.

const char* check_form(const Conv2dSizes& s) {
  if (s.taps() != 1) return "the kernel is not 1 x 1";
  if (s.stride_h != 1 || s.stride_w != 1) return "a stride above 1";
  if (s.pad_h != 0 || s.pad_w != 0) return "padding";
  if (s.groups != 1) return "groups";
  if (s.channels == 0 || s.outputs == 0) return "nothing to add up";
  return nullptr;
}

/// The matrices of a product: two operands and the result.
struct Matrices {
  Place a, b, c;
};

PlanOr plan_product(const Conv2dProblem& p, const GemmProblem& problem, const Matrices& matrices,
                    const Target& target) {
  const auto [a, b, c] = matrices;
  Plan plan;
  if (problem.batch > 0) {  // Without images there is nothing to do.
    const dispatch::Choice product = choose_gemm(problem, target);
    plan.append(product.plan, std::array{a, b, c, p.bias_or(a), conv2d_e0, conv2d_e1});
  }
  if (p.sizes.images > 1 && p.sizes.pixels() < min_pixels)
    return PlanOr::only_forced(std::move(plan), "too few pixels an image");
  return plan;
}

}  // namespace

PlanOr plan_conv2d_gemm(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [x, weight, y] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  if (const char* reason = check_form(s)) return reason;
  const std::int64_t n = s.pixels();
  GemmProblem product = inner_product(p, s.outputs, n, s.channels, s.images);
  product.a = {s.channels, 1, 0, p.offsets[1]};
  product.b = {n, 1, s.channels * n, p.offsets[0]};
  product.c = {n, 1, s.outputs * n, p.offsets[2]};
  if (p.has_bias != 0) product.flags = bias_per_row;
  product.epilogue = p.epilogue;
  for (EpilogueLayout::Operand& operand : product.epilogue.operands)  // In the product, the batch is the image.
    operand.batch = operand.column * s.outputs * n;
  return plan_product(p, product, {weight, x, y}, target);
}

PlanOr plan_conv2d_gemm_data(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [dy, weight, dx] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  if (const char* reason = check_form(s)) return reason;
  const std::int64_t n = s.pixels();
  GemmProblem product = inner_product(p, s.channels, n, s.outputs, s.images);
  product.a = {1, s.channels, 0, p.offsets[1]};
  product.b = {n, 1, s.outputs * n, p.offsets[0]};
  product.c = {n, 1, s.channels * n, p.offsets[2]};
  return plan_product(p, product, {weight, dy, dx}, target);
}

PlanOr plan_conv2d_gemm_weight(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [dy, x, dw] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  if (s.images != 1) return "more than one image";
  if (const char* reason = check_form(s)) return reason;
  const std::int64_t k = s.pixels();
  GemmProblem product = inner_product(p, s.outputs, s.channels, k, 1);
  product.a = {k, 1, 0, p.offsets[0]};
  product.b = {1, k, 0, p.offsets[1]};
  product.c = {s.channels, 1, 0, p.offsets[2]};
  return plan_product(p, product, {dy, x, dw}, target);
}

}  // namespace crisol::ops
