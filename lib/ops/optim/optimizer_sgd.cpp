// Stochastic gradient descent, and the moving average of parameters.
#include "ops/optim/optimizer_launch.h"
#include "ops/optim/wide_steps.h"

namespace crisol::ops {

void sgd_step(const Tensor& parameters, const Tensor& gradients, const Tensor& momenta, const Tensor& hyper,
              const Tensor& progress, const SgdRule& rule) {
  constexpr const char* op = "sgd_step";
  const bool has_momentum = momenta.defined();
  // A missing buffer is replaced by an existing buffer, which the kernel does not use in its place.
  const Tensor& buffer = has_momentum ? momenta : parameters;
  check_flat(op, {"the parameters", parameters}, {{"the gradients", gradients, true}, momenta_of(buffer, gradients)});
  check_control(op, {"hyper", hyper}, parameters.device(), hyper_size, parameters.dtype());
  check_control(op, {"progress", progress}, parameters.device(), progress_size, parameters.dtype());
  check_amount(op, "weight_decay", rule.weight_decay);
  require(rule.dampening >= 0 && rule.dampening <= 1, op, "dampening is ", rule.dampening, ", it must be in 0 … 1");
  require(!rule.nesterov || (has_momentum && rule.dampening == 0), op,
          "Nesterov's momentum needs a momentum and no dampening, dampening is ", rule.dampening);

  if (is_wide(parameters.dtype())) return wide_sgd_step(parameters, gradients, momenta, hyper, progress, rule);
  runtime::DeviceState& device = state_of(parameters);
  runtime::launch(device, momentum_kernel(device, "optimizer_sgd", gradients, buffer),
                  step_range(device, parameters.numel()), out(parameters), in(gradients),
                  has_momentum ? out(buffer) : in(buffer), in(hyper), in(progress), parameters.numel(),
                  static_cast<float>(rule.weight_decay), static_cast<float>(1 - rule.dampening),
                  (has_momentum ? kernels::WITH_MOMENTUM : 0) | (rule.nesterov ? kernels::NESTEROV : 0) |
                      (rule.maximize ? kernels::MAXIMIZE : 0));
}

void average_step(const Tensor& averages, const Tensor& parameters, const Tensor& hyper, const Tensor& progress) {
  constexpr const char* op = "average_step";
  check_flat(op, {"the averages", averages}, {{"the parameters", parameters, true}});
  check_control(op, {"hyper", hyper}, averages.device(), hyper_size, averages.dtype());
  check_control(op, {"progress", progress}, averages.device(), progress_size, averages.dtype());
  if (is_wide(averages.dtype())) return wide_average_step(averages, parameters, hyper, progress);
  runtime::DeviceState& device = state_of(averages);
  runtime::launch(device, step_kernel(device, "optim/optimizer_sgd.cl", "optimizer_average", parameters),
                  step_range(device, averages.numel()), out(averages), in(parameters), in(hyper), in(progress),
                  averages.numel());
}

}  // namespace crisol::ops
