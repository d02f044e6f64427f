#include "crisol/functions/dropout.h"

#include "autograd/node.h"
#include "base/text.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

Tensor dropout(const Tensor& x, double p, bool training, const Generator& generator) {
  require(p >= 0 && p <= 1, "dropout", "p must be in [0, 1], it is ", p);
  if (!training) return x;
  const ops::DropoutResult result = ops::dropout(x, p, generator);
  if (!autograd::recording(x)) return result.y;
  return autograd::record("dropout", result.y, {x}, [mask = Saved(result.mask), p](const Tensor& dy, Needs) {
    return Gradients{ops::dropout_backward(dy, mask.get(), p)};
  });
}

Tensor dropout(const Tensor& x, double p, bool training) {
  return dropout(x, p, training, default_generator(x.device()));
}

}  // namespace crisol
