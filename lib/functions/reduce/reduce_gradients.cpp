#include "functions/reduce/reduce_gradients.h"

#include <algorithm>
#include <cmath>

#include "autograd/call.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/reduce.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "functions/gradients.h"
#include "ops/reduce/reduce_axes.h"

namespace crisol::autograd {

namespace {

std::int64_t reduced_elements(const Shape& shape, const Shape& axes) {
  return ops::reduced_count(shape, ops::reduced_axes("reduce", shape.rank(), axes));
}

// The gradient of an op whose derivative is constant, so `raw(dy)` is linear in dy.
template <class Raw>
Tensor constant_derivative(const Tensor& dy, const Shape& x_shape, const Shape& axes, const Raw& raw) {
  return raw_or_composed(
      {dy}, [&] { return raw(dy); },
      [&] { return sum_backward(dy, x_shape, axes) * raw(ones(dy.shape(), dy.dtype(), dy.device())); });
}

// The product as a tree of elementwise products. Its gradients are right also where elements are 0.
Tensor prod_of_products(const Tensor& x, const Shape& axes) {
  const unsigned reduced = ops::reduced_axes("prod", x.dim(), axes);
  Shape order, kept;
  for (int i = 0; i < x.dim(); ++i) {
    if ((reduced >> i & 1u) != 0) continue;
    order.push_back(i);
    kept.push_back(x.size(i));
  }
  for (int i = 0; i < x.dim(); ++i)
    if ((reduced >> i & 1u) != 0) order.push_back(i);
  Shape rows = kept;
  rows.push_back(ops::reduced_count(x.shape(), reduced));
  Tensor all = x.permute(order).reshape(rows);
  for (std::int64_t count = all.size(-1); count > 1; count = all.size(-1)) {
    const std::int64_t half = count / 2;
    const Tensor products = all.narrow(-1, 0, half) * all.narrow(-1, half, half);
    all = count % 2 == 0 ? products : cat({products, all.narrow(-1, 2 * half, 1)}, -1);
  }
  return all.reshape(kept);
}

// x with 1 in place of 0. The gradients of stddev and norm divide by x, and where x is 0 the gradient is
// 0.
Tensor ones_for_zeros(const Tensor& x) { return where(ops::eq(x, 0), 1.0, x); }

// share · (x - mean) / degrees of freedom, broadcast to x.
Tensor from_mean(const Tensor& share, const Tensor& x, const Shape& axes, double correction) {
  const double degrees = std::max(0.0, static_cast<double>(reduced_elements(x.shape(), axes)) - correction);
  return sum_backward(share, x.shape(), axes) * (x - mean(x, axes, true)) * (1 / degrees);
}

}  // namespace

Tensor mean_backward(const Tensor& dy, const Shape& x_shape, const Shape& axes) {
  return raw_or_composed(
      {dy}, [&] { return ops::mean_backward(dy, x_shape, axes); },
      [&] { return sum_backward(dy / static_cast<double>(reduced_elements(x_shape, axes)), x_shape, axes); });
}

Tensor prod_backward(const Tensor& dy, const Tensor& x, const Shape& axes) {
  if (!linked({x}) || x.numel() == 0)
    return constant_derivative(dy, x.shape(), axes, [&](const Tensor& d) { return ops::prod_backward(d, x, axes); });
  const Tensor y = prod_of_products(x, axes);
  return grad({y}, {x}, {.grad_outputs = {dy.reshape(y.shape())}, .create_graph = true})[0];
}

Tensor max_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes) {
  return constant_derivative(dy, x.shape(), axes, [&](const Tensor& d) { return ops::max_backward(d, x, y, axes); });
}

Tensor max_with_indices_backward(const Tensor& dy, const Tensor& indices, const Shape& x_shape, int axis) {
  return call(
      "max_with_indices_backward", {dy}, ops::max_with_indices_backward(dy, indices, x_shape, axis), unnoted, [&] {
        return [indices = Saved(indices), rank = x_shape.rank(), axis](const Tensor& ddx) {
          const Tensor& index = indices.get();
          return gather(ddx, axis, index.dim() == rank ? index : ops::unsqueeze(index, axis)).reshape(index.shape());
        };
      });
}

Tensor var_backward(const Tensor& dy, const Tensor& x, const Shape& axes, double correction) {
  return raw_or_composed(
      {dy, x}, [&] { return ops::var_backward(dy, x, axes, correction); },
      [&] { return from_mean(2 * dy, x, axes, correction); });
}

Tensor stddev_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes, double correction) {
  return raw_or_composed(
      {dy, x, y}, [&] { return ops::stddev_backward(dy, x, y, axes, correction); },
      [&] {
        const Tensor share = where(ops::eq(y, 0), 0.0, dy.reshape(y.shape()) / ones_for_zeros(y));
        return from_mean(share, x, axes, correction);
      });
}

Tensor norm_backward(const Tensor& dy, const Tensor& x, const Tensor& y, double p, const Shape& axes) {
  const auto raw = [&](const Tensor& d) { return ops::norm_backward(d, x, y, p, axes); };
  if (std::isinf(p) || p == 0 || p == 1) return constant_derivative(dy, x.shape(), axes, raw);
  return raw_or_composed(
      {dy, x, y}, [&] { return raw(dy); },
      [&] {
        const Tensor share = sum_backward(where(ops::eq(y, 0), 0.0, dy.reshape(y.shape())), x.shape(), axes);
        const Tensor ratio = x / sum_backward(ones_for_zeros(y), x.shape(), axes);
        if (p == 2) return share * ratio;
        const Tensor is_zero = ops::eq(x, 0);
        return share * where(is_zero, 0.0, sign(x) * pow(abs(where(is_zero, 1.0, ratio)), p - 1));
      });
}

Tensor logsumexp_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes) {
  return raw_or_composed(
      {dy, x, y}, [&] { return ops::logsumexp_backward(dy, x, y, axes); },
      [&] { return sum_backward(dy, x.shape(), axes) * exp(x - sum_backward(y, x.shape(), axes)); });
}

Tensor cumsum_backward(const Tensor& dy, int axis) {
  return call("cumsum_backward", {dy}, ops::cumsum_backward(dy, axis), unnoted,
              [&] { return [axis](const Tensor& ddx) { return cumsum(ddx, axis); }; });
}

}  // namespace crisol::autograd
