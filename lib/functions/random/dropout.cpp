#include "crisol/functions/dropout.h"

#include "autograd/node.h"
#include "base/text.h"
#include "crisol/ops/dropout.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

namespace {

Tensor dropout_backward(const Tensor& dy, const Tensor& mask, double p) {
  const Tensor dx = ops::dropout_backward(dy, mask, p);
  if (!autograd::recording(dy)) return dx;
  return autograd::record_higher("dropout_backward", dx, {dy}, [mask = Saved(mask), p](const Tensor& ddx, Needs) {
    return Gradients{dropout_backward(ddx, mask.get(), p)};
  });
}

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training, const Generator& generator) {
  require(p >= 0 && p <= 1, "dropout", "p must be in [0, 1], it is ", p);
  if (!training) return x;
  const ops::DropoutResult result = ops::dropout(x, p, generator);
  if (!autograd::recording(x)) return result.y;
  return autograd::record_higher("dropout", result.y, {x}, [mask = Saved(result.mask), p](const Tensor& dy, Needs) {
    return Gradients{dropout_backward(dy, mask.get(), p)};
  });
}

Tensor dropout(const Tensor& x, double p, bool training) {
  return dropout(x, p, training, default_generator(x.device()));
}

}  // namespace crisol
