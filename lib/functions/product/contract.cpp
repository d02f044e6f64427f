// Diagonals, and products of vectors and tensors, made of views, sums and matmul.
#include "autograd/autocast.h"
#include "autograd/call.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/linalg.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "functions/gradients.h"
#include "ops/check.h"
#include "ops/collapse.h"
#include "ops/numbers.h"
#include "tensor/trace.h"

namespace crisol {

using autograd::call;

namespace {

void require_two(const char* op, const Tensor& a, const Tensor& b) {
  require(a.defined() && b.defined(), op, "an operand is undefined");
}

/// A product that sums over the axes that both tensors have: a is (M…, K…), b is (K…, N…).
Tensor contract(const Tensor& a, const Tensor& b, int count) {
  Shape shape;
  std::int64_t rows = 1, columns = 1, summed = 1;
  for (int i = 0; i < a.dim() - count; ++i) shape.push_back(a.size(i)), rows *= a.size(i);
  for (int i = 0; i < count; ++i) summed *= b.size(i);
  for (int i = count; i < b.dim(); ++i) shape.push_back(b.size(i)), columns *= b.size(i);
  return matmul(a.reshape({rows, summed}), b.reshape({summed, columns})).reshape(shape);
}

}  // namespace

Tensor diagonal(const Tensor& x, std::int64_t offset, int axis_a, int axis_b) {
  constexpr const char* op = "diagonal";
  require(x.defined(), op, "the tensor is undefined");
  const int a = normalized_axis(op, axis_a, x.dim()), b = normalized_axis(op, axis_b, x.dim());
  require(a != b, op, "both axes are axis ", a, " of shape ", x.shape());
  const std::int64_t rows = x.size(a) + std::min<std::int64_t>(offset, 0);
  const std::int64_t columns = x.size(b) - std::max<std::int64_t>(offset, 0);
  const std::int64_t length = std::max<std::int64_t>(0, std::min(rows, columns));
  Shape shape, strides;
  for (int i = 0; i < x.dim(); ++i) {
    if (i == a || i == b) continue;
    shape.push_back(x.size(i));
    strides.push_back(x.strides()[i]);
  }
  shape.push_back(length);
  strides.push_back(x.strides()[a] + x.strides()[b]);
  const std::int64_t start = offset < 0 ? -offset * x.strides()[a] : offset * x.strides()[b];
  return call(
      op, {x}, make_view(x, shape, strides, x.offset() + (length > 0 ? start : 0)),
      [&](Trace& trace, const Tensor& y) { trace.made(op, y); },
      [&] {
        return [shape = x.shape(), offset, a, b](const Tensor& dy) {
          return autograd::view_backward(dy, shape, [=](const Tensor& other) { return diagonal(other, offset, a, b); });
        };
      });
}

Tensor matrix_trace(const Tensor& x, std::int64_t offset) {
  constexpr const char* op = "matrix_trace";
  require(x.defined(), op, "the tensor is undefined");
  require(x.dim() >= 2, op, "the tensor must be (…, R, C), its shape is ", x.shape());
  return sum(diagonal(x, offset, -2, -1), {-1});
}

Tensor matrix_transpose(const Tensor& x) {
  constexpr const char* op = "matrix_transpose";
  require(x.defined(), op, "the tensor is undefined");
  require(x.dim() >= 2, op, "the tensor must be (…, R, C), its shape is ", x.shape());
  return x.transpose(-2, -1);
}

Tensor outer(const Tensor& a, const Tensor& b) {
  constexpr const char* op = "outer";
  require_two(op, a, b);
  require(a.dim() == 1 && b.dim() == 1, op, "both operands must have rank 1, their shapes are ", a.shape(), " and ",
          b.shape());
  return a.unsqueeze(1) * b;
}

Tensor vecdot(const Tensor& a, const Tensor& b, int axis) {
  constexpr const char* op = "vecdot";
  if (const autograd::Autocasts casts(op); casts) return vecdot(casts(a), casts(b), axis);
  require_two(op, a, b);
  const int rank = std::min(a.dim(), b.dim());
  require(axis < 0 && axis >= -rank, op, "axis ", axis, " must be in [-", rank, ", -1] for shapes ", a.shape(), " and ",
          b.shape());
  require(a.size(axis) == b.size(axis), op, "the sizes along axis ", axis, " of shapes ", a.shape(), " and ", b.shape(),
          " differ");
  const DType dtype = promote_types(a.dtype(), b.dtype());
  ops::require_numbers(op, dtype);
  // Halves are multiplied and added in f32.
  const DType wide = is_floating(dtype) ? value_type(dtype) : dtype;
  return sum(a.to(wide) * b.to(wide), {axis}).to(dtype);
}

Tensor tensordot(const Tensor& a, const Tensor& b, int axes) {
  constexpr const char* op = "tensordot";
  require_two(op, a, b);
  require(axes >= 0 && axes <= std::min(a.dim(), b.dim()), op, axes, " axes of shapes ", a.shape(), " and ", b.shape());
  Shape last, first;
  for (int i = 0; i < axes; ++i) {
    last.push_back(a.dim() - axes + i);
    first.push_back(i);
  }
  return tensordot(a, b, last, first);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Shape& a_axes, const Shape& b_axes) {
  if (const autograd::Autocasts casts("tensordot", {a, b}); casts) return tensordot(casts(a), casts(b), a_axes, b_axes);
  constexpr const char* op = "tensordot";
  require_two(op, a, b);
  require(a_axes.rank() == b_axes.rank(), op, a_axes.rank(), " axes ", a_axes, " of the left operand and ",
          b_axes.rank(), " axes ", b_axes, " of the right");
  std::array<bool, Shape::max_rank> of_a{}, of_b{};
  Shape a_summed, a_order, b_order;
  for (int k = 0; k < a_axes.rank(); ++k) {
    const int i = normalized_axis(op, a_axes[k], a.dim()), j = normalized_axis(op, b_axes[k], b.dim());
    require(!of_a[static_cast<std::size_t>(i)] && !of_b[static_cast<std::size_t>(j)], op, "an axis is named twice in ",
            a_axes, " or ", b_axes);
    require(a.size(i) == b.size(j), op, "axis ", i, " of shape ", a.shape(), " and axis ", j, " of shape ", b.shape(),
            " have different sizes");
    of_a[static_cast<std::size_t>(i)] = of_b[static_cast<std::size_t>(j)] = true;
    a_summed.push_back(i);
    b_order.push_back(j);
  }
  for (int i = 0; i < a.dim(); ++i)
    if (!of_a[static_cast<std::size_t>(i)]) a_order.push_back(i);
  for (const std::int64_t axis : a_summed) a_order.push_back(axis);
  for (int j = 0; j < b.dim(); ++j)
    if (!of_b[static_cast<std::size_t>(j)]) b_order.push_back(j);
  const int rank = a.dim() + b.dim() - 2 * a_axes.rank();
  require(rank <= Shape::max_rank, op, "the result has ", rank, " axes; at most ", Shape::max_rank, " are allowed");
  return contract(a.permute(a_order), b.permute(b_order), a_axes.rank());
}

Tensor cross(const Tensor& a, const Tensor& b, int axis) {
  constexpr const char* op = "cross";
  require_two(op, a, b);
  const Shape shape = ops::broadcast_shape(op, a.shape(), b.shape());
  const int back = normalized_axis(op, axis, shape.rank()) - shape.rank();
  const bool fits = a.dim() >= -back && b.dim() >= -back && a.size(back) == 3 && b.size(back) == 3;
  require(fits, op, "both operands must have 3 elements along axis ", axis, ", their shapes are ", a.shape(), " and ",
          b.shape());
  const auto rolled = [back](const Tensor& x, std::int64_t by) { return roll(x, {by}, {back}); };
  return rolled(a, -1) * rolled(b, 1) - rolled(a, 1) * rolled(b, -1);
}

}  // namespace crisol
