#include "crisol/functions/norm.h"

#include "autograd/node.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

Tensor batch_norm2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                    const Tensor& running_var, const BatchNormOptions& options) {
  const ops::BatchNormResult result = ops::batch_norm2d(x, weight, bias, running_mean, running_var, options);
  if (!autograd::recording({x, weight, bias})) return result.y;
  return autograd::record("batch_norm2d", result.y, {x, weight, bias},
                          [x = Saved(x), weight = Saved(weight), mean = Saved(result.mean),
                           invstd = Saved(result.invstd), training = options.training](const Tensor& dy, Needs) {
                            const ops::NormGradients gradients = ops::batch_norm2d_backward(
                                dy, x.get(), weight.get(), mean.get(), invstd.get(), training);
                            return Gradients{gradients.x, gradients.weight, gradients.bias};
                          });
}

Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                  double epsilon) {
  const ops::LayerNormResult result = ops::layer_norm(x, normalized_shape, weight, bias, epsilon);
  if (!autograd::recording({x, weight, bias})) return result.y;
  return autograd::record("layer_norm", result.y, {x, weight, bias},
                          [x = Saved(x), weight = Saved(weight), mean = Saved(result.mean), rstd = Saved(result.rstd),
                           normalized_shape](const Tensor& dy, Needs needs) {
                            const ops::NormGradients gradients =
                                ops::layer_norm_backward(dy, x.get(), normalized_shape, weight.get(), mean.get(),
                                                         rstd.get(), needs[1] || needs[2]);
                            return Gradients{gradients.x, gradients.weight, gradients.bias};
                          });
}

}  // namespace crisol
