// Gradient of a convolution's input: the API and the variants.
#include "crisol/ops/conv.h"
#include "ops/conv/conv2d_variants.h"
#include "ops/numbers.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

// The numbers are variant_growth(): Winograd's transforms add numbers up to eight times as large as the products. With
// tiles of 2 x 2 it is twice.
constexpr dispatch::Variant<Conv2dProblem> backward_data_variants[] = {
    {"depthwise", DeviceClass::gpu, of_f32<plan_depthwise_data>},
    {"gemm", DeviceClass::gpu, of_f32<plan_conv2d_gemm_data>},
    {"winograd_f4", DeviceClass::gpu, of_f32<plan_winograd_f4_data>, nullptr, false, 8},
    {"winograd_f2", DeviceClass::gpu, of_f32<plan_winograd_f2_data>, nullptr, false, 2},
    {"planes", DeviceClass::cpu, plan_planes_data},
    {"winograd", DeviceClass::cpu, plan_winograd_data, nullptr, false, 8},
    {"cpu_gemm", DeviceClass::cpu, plan_cpu_gemm_data},
    {"matrix", DeviceClass::any, plan_conv2d_matrix_data, conv2d_matrix_tiles},
    {"block", DeviceClass::gpu, plan_conv2d_block_data, conv2d_block_tiles},
    {"im2col_gemm", DeviceClass::any, of_f32<plan_im2col_data>},
    {"direct", DeviceClass::any, plan_direct_data, nullptr, false, 1, false, true}};

}  // namespace

const Table<Conv2dProblem> conv2d_backward_data_table("conv2d_backward_data", backward_data_variants);

namespace {

Tensor backward_data(const Tensor& dy, const Tensor& weight, const Shape& input, const Conv2dOptions& options,
                     const Tensor* into = nullptr) {
  const char* const op = conv2d_backward_data_table.op;
  require_numbers(op, weight.dtype());
  const Conv2dSizes sizes = conv2d_sizes(op, input, weight.shape(), options);
  return conv2d_gradient(conv2d_backward_data_table, sizes, dy, {input, "the weight", weight, true}, into);
}

}  // namespace

Tensor conv2d_backward_data(const Tensor& dy, const Tensor& weight, const Shape& input, const Conv2dOptions& options) {
  return backward_data(dy, weight, input, options);
}
void conv2d_backward_data_into(const Tensor& dx, const Tensor& dy, const Tensor& weight, const Shape& input,
                               const Conv2dOptions& options) {
  backward_data(dy, weight, input, options, &dx);
}

}  // namespace crisol::ops
