#include "crisol/functions/conv.h"

#include "autograd/node.h"
#include "crisol/ops/reduce.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  const Tensor y = ops::conv2d(x, weight, bias, options);
  if (!autograd::recording({x, weight, bias})) return y;
  return autograd::record("conv2d", y, {x, weight, bias},
                          [x = Saved(x), weight = Saved(weight), options](const Tensor& dy, Needs needs) {
                            Gradients gradients(3);
                            if (needs[0])
                              gradients[0] = ops::conv2d_backward_data(dy, weight.get(), x.get().shape(), options);
                            if (needs[1])
                              gradients[1] = ops::conv2d_backward_weight(dy, x.get(), weight.get().shape(), options);
                            if (needs[2]) gradients[2] = ops::sum(dy, {0, 2, 3});
                            return gradients;
                          });
}

}  // namespace crisol
