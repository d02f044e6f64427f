#include "crisol/functions/softmax.h"

#include "autograd/node.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/ops/softmax.h"
#include "tensor/recorder.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::SavedResult;

namespace {

Tensor softmax_backward(const Tensor& dy, const Tensor& y, int axis) {
  if (!autograd::linking(dy, y)) return ops::softmax_backward(dy, y, axis);
  return y * (dy - sum(dy * y, {axis}, true));
}

Tensor log_softmax_backward(const Tensor& dy, const Tensor& y, int axis) {
  if (!autograd::linking(dy, y)) return ops::log_softmax_backward(dy, y, axis);
  return dy - exp(y) * sum(dy, {axis}, true);
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) {
  const Tensor y = ops::softmax(x, axis);
  if (Recorder* r = recorder()) r->note("Softmax", {x}, y, {{"axis", axis}});
  if (!autograd::recording(x)) return y;
  return autograd::record_higher("softmax", y, {x}, [y = SavedResult(y), axis](const Tensor& dy, Needs) {
    return Gradients{softmax_backward(dy, y.get(), axis)};
  });
}

Tensor log_softmax(const Tensor& x, int axis) {
  const Tensor y = ops::log_softmax(x, axis);
  if (Recorder* r = recorder()) r->note("LogSoftmax", {x}, y, {{"axis", axis}});
  if (!autograd::recording(x)) return y;
  return autograd::record_higher("log_softmax", y, {x}, [y = SavedResult(y), axis](const Tensor& dy, Needs) {
    return Gradients{log_softmax_backward(dy, y.get(), axis)};
  });
}

}  // namespace crisol
