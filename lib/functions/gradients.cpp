#include "functions/gradients.h"

#include "autograd/node.h"
#include "crisol/functions/reduce.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/reduce.h"

namespace crisol::autograd {

Tensor view_backward(const Tensor& dy, const Shape& shape, const View& view) {
  const Tensor dx = zeros(shape, dy.dtype(), dy.device());
  ops::copy_into(view(dx), dy);
  if (!recording(dy)) return dx;
  return record_higher("view_backward", dx, {dy}, [view](const Tensor& ddx, Needs) { return Gradients{view(ddx)}; });
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  const Tensor y = ops::sum_to(x, shape);
  if (!recording(x)) return y;
  return record_higher("sum_to", y, {x},
                       [from = x.shape()](const Tensor& dy, Needs) { return Gradients{dy.expand(from)}; });
}

Tensor sum_backward(const Tensor& dy, const Shape& shape, const Shape& axes) {
  const Tensor dx = ops::sum_backward(dy, shape, axes);
  if (!recording(dy)) return dx;
  return record_higher("sum_backward", dx, {dy}, [from = dy.shape(), axes](const Tensor& ddx, Needs) {
    return Gradients{sum(ddx, axes).reshape(from)};
  });
}

}  // namespace crisol::autograd
