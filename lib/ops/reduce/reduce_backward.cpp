// Helpers for the gradients of reductions: expansion of gradients, and the gradient of a broadcast.
#include <array>
#include <cmath>

#include "base/text.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "ops/check.h"
#include "ops/collapse.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/reduce_axes.h"
#include "ops/reduce/reduce_tensor.h"
#include "tensor/impl.h"

namespace crisol::ops {

namespace {

/// dy and y as views to which x can be broadcast.
struct Spread {
  Tensor dy, y;
  std::int64_t count;  ///< The number of elements for each result.
};

Spread spread_over(const char* op, const Tensor& dy, const Tensor& x, const Tensor* y, const Shape& axes) {
  require(x.defined(), op, "the input is undefined");
  const unsigned reduced = reduced_axes(op, x.dim(), axes);
  return {with_axes(op, dy, x.shape(), reduced), y != nullptr ? with_axes(op, *y, x.shape(), reduced) : Tensor(),
          reduced_count(x.shape(), reduced)};
}

// Makes a row that is in no table. Gradients of reductions compute such rows from two or three tensors.
constexpr PointwiseRow row_of(const char* op, std::array<const char*, 3> inputs, const char* forward,
                              const char* number = nullptr) {
  const std::size_t count = inputs[2] != nullptr ? 3 : 2;
  return {op,
          RowRule::floating,
          count,
          {inputs[0], inputs[1], inputs[2]},
          number != nullptr ? 1u : 0u,
          {number},
          forward,
          nullptr,
          {},
          forward};
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
  return expand(div(spread, static_cast<double>(reduced_count(x_shape, reduced))), x_shape);
}

Tensor prod_backward(const Tensor& dy, const Tensor& x, const Shape& axes) {
  constexpr const char* op = "prod_backward";
  const Spread at = spread_over(op, dy, x, nullptr, axes);
  // Computes the product without the zeros, and the number of zeros. If there is one zero, only this element has a
  // gradient. If there are more, no element has one.
  static const ReduceRule others{op, Combine::prod, ReduceTypes::floating, "(x == (T)(0)) ? (T)(1) : x"};
  static const ReduceRule zeros{op, Combine::sum, ReduceTypes::floating, "(x == (T)(0)) ? (T)(1) : (T)(0)"};
  const Tensor product = reduce(others, x, axes, true).values, count = reduce(zeros, x, axes, true).values;
  static constexpr PointwiseRow share =
      row_of(op, {"x", "p", "z"}, "(x == 0.0f) ? ((z == 1.0f) ? p : (T)(0.0f)) : ((z == 0.0f) ? p / x : (T)(0.0f))");
  return mul(pointwise(share, {x, product, count}), at.dy);
}

Tensor max_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes) {
  const Spread at = spread_over("max_backward", dy, x, &y, axes);
  // If the result is NaN, the gradient goes to the elements that are NaN.
  static constexpr PointwiseRow equal =
      row_of("max_backward", {"x", "y"}, "((x == y) | ((x != x) & (y != y))) ? (T)(1.0f) : (T)(0.0f)");
  const Tensor hits = pointwise(equal, {x, at.y});
  return mul(hits, div(at.dy, sum(hits, axes, true)));
}

Tensor max_with_indices_backward(const Tensor& dy, const Tensor& indices, const Shape& x_shape, int axis) {
  constexpr const char* op = "max_with_indices_backward";
  axis = axis_or_scalar(op, axis, x_shape.rank());
  if (x_shape.empty()) return with_axes(op, dy, x_shape, 0);
  const Tensor gradient = with_axes(op, dy, x_shape, 1u << axis), at = with_axes(op, indices, x_shape, 1u << axis);
  require(at.dtype() == DType::i64, op, "the indices are ", at.dtype(), ", must be i64");
  Shape along = Shape::filled(x_shape.rank(), 1);
  along[axis] = x_shape[axis];
  const Tensor numbers = reshape(arange(0, static_cast<double>(x_shape[axis]), 1, DType::i64, dy.device()), along);
  return where(eq(numbers, at), gradient, 0);
}

Tensor var_backward(const Tensor& dy, const Tensor& x, const Shape& axes, double correction) {
  const Spread at = spread_over("var_backward", dy, x, nullptr, axes);
  const Tensor middle = mean(x, axes, true);
  static constexpr PointwiseRow slope = row_of("var_backward", {"x", "m", "g"}, "(x - m) * g * factor", "factor");
  const double factor = 2 / std::fmax(0.0, static_cast<double>(at.count) - correction);
  return pointwise(slope, {x, middle, at.dy}, {factor});
}

Tensor stddev_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes, double correction) {
  const Spread at = spread_over("stddev_backward", dy, x, &y, axes);
  static constexpr PointwiseRow root =
      row_of("stddev_backward", {"g", "y"}, "(y == 0.0f) ? (T)(0.0f) : g / (y * 2.0f)");
  return var_backward(pointwise(root, {at.dy, at.y}), x, axes, correction);
}

Tensor norm_backward(const Tensor& dy, const Tensor& x, const Tensor& y, double p, const Shape& axes) {
  constexpr const char* op = "norm_backward";
  const Spread at = spread_over(op, dy, x, &y, axes);
  if (p == 0) return full(x.shape(), 0, x.dtype(), x.device());
  if (std::isinf(p)) {
    static constexpr PointwiseRow equal = row_of(op, {"x", "y"}, "(fabs(x) == y) ? sign(x) : (T)(0.0f)");
    const Tensor hits = pointwise(equal, {x, at.y});
    // The sum of squares is 0 if the norm is 0 or NaN.
    return mul(hits, div(at.dy, maximum(sum(mul(hits, hits), axes, true), 1)));
  }
  if (p == 1) {
    static constexpr PointwiseRow side = row_of(op, {"x", "g"}, "sign(x) * g");
    return pointwise(side, {x, at.dy});
  }
  if (p == 2) {
    static constexpr PointwiseRow share = row_of(op, {"x", "y", "g"}, "(y == 0.0f) ? (T)(0.0f) : x * (g / y)");
    return pointwise(share, {x, at.y, at.dy});
  }
  static constexpr PointwiseRow share =
      row_of(op, {"x", "y", "g"},
             "((y == 0.0f) | (x == 0.0f)) ? (T)(0.0f) : sign(x) * pow(fabs(x) / y, (T)(p - 1.0f)) * g", "p");
  return pointwise(share, {x, at.y, at.dy}, {p});
}

Tensor logsumexp_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes) {
  const Spread at = spread_over("logsumexp_backward", dy, x, &y, axes);
  static constexpr PointwiseRow share = row_of("logsumexp_backward", {"x", "y", "g"}, "exp(x - y) * g");
  return pointwise(share, {x, at.y, at.dy});
}

}  // namespace crisol::ops
