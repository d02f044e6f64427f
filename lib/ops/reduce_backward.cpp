// What reductions need in backward: expansion of gradients, and the way back from a broadcast.
#include "base/text.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "ops/collapse.h"
#include "ops/pointwise_program.h"
#include "ops/reduce_axes.h"

namespace crisol::ops {

namespace {

// A result of reducing x_shape, with the reduced axes or without, as a view in which they have size 1.
Tensor with_axes(const char* op, const Tensor& dy, const Shape& x_shape, unsigned reduced) {
  require(dy.defined(), op, "the gradient is undefined");
  const Shape with = reduced_shape(x_shape, reduced, true);
  require(dy.shape() == with || dy.shape() == reduced_shape(x_shape, reduced, false), op, "a gradient of shape ",
          dy.shape(), " for a reduction of ", x_shape, " to ", with);
  return reshape(dy, with);
}

}  // namespace

Tensor sum_to(const Tensor& x, const Shape& shape) {
  require(x.defined(), "sum_to", "the tensor is undefined");
  if (x.shape() == shape) return x;
  require(broadcast_shape("sum_to", x.shape(), shape) == x.shape(), "sum_to", "shape ", shape,
          " does not broadcast to ", x.shape());
  const int ahead = x.dim() - shape.rank();
  Shape axes;
  for (int i = 0; i < x.dim(); ++i)
    if (i < ahead || (shape[i - ahead] == 1 && x.shape()[i] != 1)) axes.push_back(i);
  return reshape(axes.empty() ? x : sum(x, axes), shape);
}

Tensor sum_backward(const Tensor& dy, const Shape& x_shape, const Shape& axes) {
  const unsigned reduced = reduced_axes("sum_backward", x_shape.rank(), axes);
  return expand(with_axes("sum_backward", dy, x_shape, reduced), x_shape);
}

Tensor mean_backward(const Tensor& dy, const Shape& x_shape, const Shape& axes) {
  const unsigned reduced = reduced_axes("mean_backward", x_shape.rank(), axes);
  const Tensor spread = with_axes("mean_backward", dy, x_shape, reduced);
  std::int64_t count = 1;
  for (int i = 0; i < x_shape.rank(); ++i)
    if ((reduced >> i & 1u) != 0) count *= x_shape[i];
  return expand(div_scalar(spread, static_cast<double>(count)), x_shape);
}

Tensor max_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes) {
  require(x.defined(), "max_backward", "the input is undefined");
  const unsigned reduced = reduced_axes("max_backward", x.dim(), axes);
  const Tensor gradient = with_axes("max_backward", dy, x.shape(), reduced);
  const Tensor extreme = with_axes("max_backward", y, x.shape(), reduced);
  // A NaN result came from the NaNs.
  static const PointwiseProgram equal(
      {"max_backward", "x y", "((x == y) | ((x != x) & (y != y))) ? (T)(1.0f) : (T)(0.0f)"}, {DType::f32, DType::f32},
      DType::f32);
  const Tensor hits = equal.run({&x, &extreme});
  return mul(hits, div(gradient, sum(hits, axes, true)));
}

}  // namespace crisol::ops
