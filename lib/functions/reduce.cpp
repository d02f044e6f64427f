#include "crisol/functions/reduce.h"

#include "autograd/node.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

Tensor sum(const Tensor& x, const Shape& axes, bool keepdim) {
  const Tensor y = ops::sum(x, axes, keepdim);
  if (!autograd::recording({x})) return y;
  return autograd::record("sum", y, {x}, [shape = x.shape(), axes](const Tensor& dy, Needs) {
    return Gradients{ops::sum_backward(dy, shape, axes)};
  });
}

Tensor mean(const Tensor& x, const Shape& axes, bool keepdim) {
  const Tensor y = ops::mean(x, axes, keepdim);
  if (!autograd::recording({x})) return y;
  return autograd::record("mean", y, {x}, [shape = x.shape(), axes](const Tensor& dy, Needs) {
    return Gradients{ops::mean_backward(dy, shape, axes)};
  });
}

namespace {

Tensor record_extreme(const char* op, const Tensor& x, const Tensor& y, const Shape& axes) {
  if (!autograd::recording({x})) return y;
  return autograd::record(op, y, {x}, [x = Saved(x), y = Saved(y), axes](const Tensor& dy, Needs) {
    return Gradients{ops::max_backward(dy, x.get(), y.get(), axes)};
  });
}

}  // namespace

Tensor max(const Tensor& x, const Shape& axes, bool keepdim) {
  return record_extreme("max", x, ops::max(x, axes, keepdim), axes);
}

Tensor min(const Tensor& x, const Shape& axes, bool keepdim) {
  return record_extreme("min", x, ops::min(x, axes, keepdim), axes);
}

}  // namespace crisol
