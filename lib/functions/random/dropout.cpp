#include "crisol/functions/dropout.h"

#include "autograd/call.h"
#include "base/text.h"
#include "crisol/ops/dropout.h"

namespace crisol {

using autograd::call;
using autograd::Saved;
using autograd::unnoted;

namespace {

Tensor dropout_backward(const Tensor& dy, const Tensor& mask, double p) {
  return call("dropout_backward", {dy}, ops::dropout_backward(dy, mask, p), unnoted, [&] {
    return [mask = Saved(mask), p](const Tensor& ddx) { return dropout_backward(ddx, mask.get(), p); };
  });
}

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training, const Generator& generator) {
  require(p >= 0 && p <= 1, "dropout", "p must be in [0, 1], it is ", p);
  if (!training) return x;
  const ops::DropoutResult result = ops::dropout(x, p, generator);
  return call("dropout", {x}, result.y, unnoted, [&] {
    return [mask = Saved(result.mask), p](const Tensor& dy) { return dropout_backward(dy, mask.get(), p); };
  });
}

Tensor dropout(const Tensor& x, double p, bool training) {
  return dropout(x, p, training, default_generator(x.device()));
}

}  // namespace crisol
