// Adaptive average pooling.
#include "crisol/ops/copy.h"
#include "crisol/ops/pool.h"
#include "ops/check.h"
#include "ops/pool_geometry.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

// A plane without elements has no mean.
void check_input(const char* op, const Shape& shape) {
  require_images(op, shape);
  require(shape[2] > 0 && shape[3] > 0, op, "the planes of input shape ", shape, " are empty");
}

void run(const char* kernel, const Tensor& from, const Tensor& to, const Shape& sizes) {
  runtime::DeviceState& device = state_of(from);
  runtime::launch(device, {"pool_adaptive_avg.cl", kernel}, runtime::flat_range(device, to.numel()), in(from), out(to),
                  to.numel(), sizes);
}

}  // namespace

Tensor adaptive_avg_pool2d(const Tensor& x, IntPair output) {
  constexpr const char* op = "adaptive_avg_pool2d";
  require_dtype(op, "the input", x, DType::f32);
  check_input(op, x.shape());
  require(output.h > 0 && output.w > 0, op, "the output's size is ", output, ", it must be positive");
  const Shape shape{x.size(0), x.size(1), output.h, output.w};
  require_images(op, shape);
  const Tensor input = contiguous(x);
  const Tensor y = empty(shape, DType::f32, x.device());
  run("adaptive_avg_pool_forward", input, y, {x.size(2), x.size(3), output.h, output.w});
  return y;
}

Tensor adaptive_avg_pool2d_backward(const Tensor& dy, const Shape& input_shape) {
  constexpr const char* op = "adaptive_avg_pool2d_backward";
  require_dtype(op, "the output\'s gradient", dy, DType::f32);
  require_images(op, dy.shape());
  check_input(op, input_shape);
  require(dy.size(0) == input_shape[0] && dy.size(1) == input_shape[1] && dy.size(2) > 0 && dy.size(3) > 0, op,
          "the output's gradient has shape ", dy.shape(), ", which no pooling of shape ", input_shape, " gives");
  const Tensor gradient = contiguous(dy);
  const Tensor dx = empty(input_shape, DType::f32, dy.device());
  run("adaptive_avg_pool_backward", gradient, dx, {input_shape[2], input_shape[3], dy.size(2), dy.size(3)});
  return dx;
}

}  // namespace crisol::ops
