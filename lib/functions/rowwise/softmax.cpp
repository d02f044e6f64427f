#include "crisol/functions/softmax.h"

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/ops/softmax.h"
#include "tensor/trace.h"

namespace crisol {

using autograd::call;
using autograd::raw_or_composed;
using autograd::SavedResult;

namespace {

Tensor softmax_backward(const Tensor& dy, const Tensor& y, int axis) {
  return raw_or_composed(
      {dy, y}, [&] { return ops::softmax_backward(dy, y, axis); },
      [&] { return y * (dy - sum(dy * y, {axis}, true)); });
}

Tensor log_softmax_backward(const Tensor& dy, const Tensor& y, int axis) {
  return raw_or_composed(
      {dy, y}, [&] { return ops::log_softmax_backward(dy, y, axis); },
      [&] { return dy - exp(y) * sum(dy, {axis}, true); });
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) {
  if (const autograd::Autocasts casts("softmax"); casts) return softmax(casts(x), axis);
  return call(
      "softmax", {x}, ops::softmax(x, axis),
      [&](Trace& trace, const Tensor& y) {
        trace.note(GraphOp::softmax, {x}, y, {{"axis", axis}});
      },
      [&](const Tensor& y) {
        return [y = SavedResult(y), axis](const Tensor& dy) { return softmax_backward(dy, y.get(), axis); };
      });
}

Tensor log_softmax(const Tensor& x, int axis) {
  if (const autograd::Autocasts casts("log_softmax"); casts) return log_softmax(casts(x), axis);
  return call(
      "log_softmax", {x}, ops::log_softmax(x, axis),
      [&](Trace& trace, const Tensor& y) {
        trace.note(GraphOp::log_softmax, {x}, y, {{"axis", axis}});
      },
      [&](const Tensor& y) {
        return [y = SavedResult(y), axis](const Tensor& dy) { return log_softmax_backward(dy, y.get(), axis); };
      });
}

}  // namespace crisol
