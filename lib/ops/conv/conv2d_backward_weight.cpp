// Gradient of a convolution's weight: the API and the variants.
#include "crisol/ops/conv.h"
#include "ops/conv/conv2d_variants.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

// The numbers are variant_growth(): Winograd's transforms add numbers up to eight times as large as the products. With
// tiles of 2 x 2 it is twice.
constexpr dispatch::Variant<Conv2dProblem> backward_weight_variants[] = {
    {"depthwise", DeviceClass::gpu, of_f32<plan_depthwise_weight>},
    {"gemm", DeviceClass::gpu, of_f32<plan_conv2d_gemm_weight>},
    {"planes", DeviceClass::cpu, plan_planes_weight},
    {"winograd", DeviceClass::cpu, plan_winograd_weight, nullptr, false, 8},
    {"cpu_dot", DeviceClass::cpu, plan_cpu_rows},
    {"matrix", DeviceClass::any, plan_conv2d_matrix_weight, conv2d_matrix_weight_tiles},
    {"block", DeviceClass::gpu, plan_conv2d_block_weight, conv2d_block_weight_tiles},
    {"im2col_gemm", DeviceClass::any, of_f32<plan_im2col_weight>},
    {"direct", DeviceClass::any, plan_direct_weight, nullptr, false, 1, false, true}};

}  // namespace

const Table<Conv2dProblem> conv2d_backward_weight_table("conv2d_backward_weight", backward_weight_variants);

namespace {

Tensor backward_weight(const Tensor& dy, const Tensor& x, const Shape& weight, const Conv2dOptions& options,
                       const Tensor* into = nullptr) {
  const char* const op = conv2d_backward_weight_table.op;
  require_floating(op, "the input", x);
  const Conv2dSizes sizes = conv2d_sizes(op, x.shape(), weight, options);
  return conv2d_gradient(conv2d_backward_weight_table, sizes, dy, {weight, "the input", x, false}, into);
}

}  // namespace

Tensor conv2d_backward_weight(const Tensor& dy, const Tensor& x, const Shape& weight, const Conv2dOptions& options) {
  return backward_weight(dy, x, weight, options);
}
void conv2d_backward_weight_into(const Tensor& dw, const Tensor& dy, const Tensor& x, const Shape& weight,
                                 const Conv2dOptions& options) {
  backward_weight(dy, x, weight, options, &dw);
}

}  // namespace crisol::ops
