#include "crisol/functions/softmax.h"

#include "autograd/node.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

Tensor softmax(const Tensor& x, int axis) {
  const Tensor y = ops::softmax(x, axis);
  if (!autograd::recording(x)) return y;
  return autograd::record("softmax", y, {x}, [y = Saved(y), axis](const Tensor& dy, Needs) {
    return Gradients{ops::softmax_backward(dy, y.get(), axis)};
  });
}

Tensor log_softmax(const Tensor& x, int axis) {
  const Tensor y = ops::log_softmax(x, axis);
  if (!autograd::recording(x)) return y;
  return autograd::record("log_softmax", y, {x}, [y = Saved(y), axis](const Tensor& dy, Needs) {
    return Gradients{ops::log_softmax_backward(dy, y.get(), axis)};
  });
}

}  // namespace crisol
