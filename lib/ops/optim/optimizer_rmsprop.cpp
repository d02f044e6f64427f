// RMSprop.
#include "ops/optim/optimizer_launch.h"
#include "ops/optim/wide_steps.h"

namespace crisol::ops {

void rmsprop_step(const Tensor& parameters, const Tensor& gradients, const Tensor& squares, const Tensor& means,
                  const Tensor& momenta, const Tensor& hyper, const RmspropRule& rule) {
  constexpr const char* op = "rmsprop_step";
  const bool centered = means.defined();
  const bool has_momentum = momenta.defined();
  // A missing buffer is replaced by an existing buffer, which the kernel does not use in its place.
  const Tensor& mean = centered ? means : parameters;
  const Tensor& buffer = has_momentum ? momenta : parameters;
  check_flat(op, {"the parameters", parameters},
             {{"the gradients", gradients, true},
              {"the squares", squares},
              {"the means", mean},
              momenta_of(buffer, gradients)});
  check_control(op, {"hyper", hyper}, parameters.device(), hyper_size, parameters.dtype());
  check_rate(op, "alpha", rule.alpha);
  check_amount(op, "eps", rule.eps);
  check_amount(op, "weight_decay", rule.weight_decay);

  if (is_wide(parameters.dtype()))
    return wide_rmsprop_step(parameters, gradients, squares, means, momenta, hyper, rule);
  runtime::DeviceState& device = state_of(parameters);
  runtime::launch(device, momentum_kernel(device, "optimizer_rmsprop", gradients, buffer),
                  step_range(device, parameters.numel()), out(parameters), in(gradients), out(squares),
                  centered ? out(mean) : in(mean), has_momentum ? out(buffer) : in(buffer), in(hyper),
                  parameters.numel(), static_cast<float>(rule.alpha), static_cast<float>(1 - rule.alpha),
                  static_cast<float>(rule.eps), static_cast<float>(rule.weight_decay),
                  (centered ? kernels::CENTERED : 0) | (has_momentum ? kernels::WITH_MOMENTUM : 0) |
                      (rule.maximize ? kernels::MAXIMIZE : 0));
}

}  // namespace crisol::ops
