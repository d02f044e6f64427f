// Convolution: the API and the variants.
#include "crisol/ops/conv.h"

#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/view.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/conv/conv2d_variants.h"
#include "ops/conv/conv2d_wide.h"
#include "ops/numbers.h"
#include "ops/product/with_epilogue.h"
#include "ops/result.h"
#include "ops/storage.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

// The numbers are variant_growth(): Winograd's transforms add numbers up to eight times as large as the products. With
// tiles of 2 x 2 it is twice.
constexpr dispatch::Variant<Conv2dProblem> variants[] = {
    {"depthwise", DeviceClass::gpu, of_f32<plan_depthwise>, nullptr, true},
    {"gemm", DeviceClass::gpu, of_f32<plan_conv2d_gemm>, nullptr, true},
    {"winograd_f4", DeviceClass::gpu, of_f32<plan_winograd_f4>, nullptr, true, 8},
    {"winograd_f2", DeviceClass::gpu, of_f32<plan_winograd_f2>, nullptr, true, 2},
    {"few_pixels", DeviceClass::cpu, plan_few_pixels, nullptr, true},
    {"planes", DeviceClass::cpu, plan_planes, nullptr, true},
    {"winograd", DeviceClass::cpu, plan_winograd, nullptr, true, 8},
    {"cpu_gemm", DeviceClass::cpu, plan_cpu_gemm, nullptr, true},
    {"matrix", DeviceClass::any, plan_conv2d_matrix, conv2d_matrix_tiles, true},
    {"block", DeviceClass::gpu, plan_conv2d_block, conv2d_block_tiles, true},
    {"im2col_gemm", DeviceClass::any, of_f32<plan_im2col>},
    {"direct", DeviceClass::any, plan_direct, nullptr, true, 1, false, true}};

ProductResult convolve(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options,
                       const ProductEpilogue* f, const Tensor* into = nullptr) {
  const char* const op = conv2d_table.op;
  require_numbers(op, x.dtype());
  require_dtype(op, "the weight", weight, x.dtype());
  require_device(op, "the input", x, "the weight", weight);
  const Conv2dSizes sizes = conv2d_sizes(op, x.shape(), weight.shape(), options);
  if (bias.defined()) require_operand(op, "the input", x, "the bias", bias, {sizes.outputs}, x.dtype());
  Result result(op, into, sizes.output_shape(), x.dtype(), x.device(), {&x, &weight, &bias});
  const Tensor& y = result.place();
  if (y.numel() == 0) return {result.done(), true};
  if (!computes_in_f32(x.dtype())) {
    const Tensor products = wide_conv2d(sizes, x, weight);
    copy_into(y, bias.defined() ? add(products, reshape(bias, {sizes.outputs, 1, 1})) : products);
    return {result.done(), false};
  }
  const Contiguous images(x), filters(weight), shift(bias);
  Conv2dProblem problem = conv2d_problem(sizes, {&images.layout(), &filters.layout(), &y});
  problem.has_bias = bias.defined() ? 1 : 0;
  problem.epilogue = layout_of(f);
  for (EpilogueLayout::Operand& operand : problem.epilogue.operands)
    operand.batch = sizes.group_outputs() * operand.row;  // In the kernels, a batch is a group of channels.
  look_for_copy(problem, filters.layout(), false);
  const PreparedPtr prepared = prepare(conv2d_table, problem, state_of(y));
  const bool has_epilogue =
      launch_conv2d(*prepared, images.filled(), weight_operand(problem, filters.filled()), shift.filled(), y, f);
  return {result.done(), has_epilogue};
}

}  // namespace

const Table<Conv2dProblem> conv2d_table("conv2d", variants);

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  return convolve(x, weight, bias, options, nullptr).y;
}
void conv2d_into(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias,
                 const Conv2dOptions& options) {
  convolve(x, weight, bias, options, nullptr, &y);
}

ProductResult conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options,
                     const ProductEpilogue& f) {
  return convolve(x, weight, bias, options, &f);
}

}  // namespace crisol::ops
