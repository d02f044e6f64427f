// Adam, AdamW and Lion.
#include <cmath>

#include "crisol/ops/elementwise.h"
#include "crisol/ops/view.h"
#include "ops/optim/optimizer_launch.h"
#include "ops/optim/wide_steps.h"

namespace crisol::ops {

namespace {

// The progress of an f64 step whose number is given.
Tensor progress_at(const Tensor& number, const Tensor& hyper, double beta2) {
  const Tensor progress = make_progress(number.device(), number.dtype());
  sub_into(narrow(progress, 0, 0, 1), number, 1.0);
  advance_step(progress, hyper, beta2);
  return progress;
}

}  // namespace

void adam_step(const Tensor& parameters, const Tensor& gradients, const Tensor& means, const Tensor& squares,
               const Tensor& max_squares, const Tensor& hyper, const Tensor& progress, const AdamRule& rule) {
  constexpr const char* op = "adam_step";
  const bool amsgrad = max_squares.defined();
  // A missing buffer is replaced by an existing buffer, which the kernel does not use in its place.
  const Tensor& largest = amsgrad ? max_squares : parameters;
  check_flat(op, {"the parameters", parameters},
             {{"the gradients", gradients, true},
              {"the means", means},
              {"the squares", squares},
              {"the maximal squares", largest}});
  check_control(op, {"hyper", hyper}, parameters.device(), hyper_size, parameters.dtype());
  const bool counted = progress.shape() == Shape{1};
  check_control(op, {"progress", progress}, parameters.device(), counted ? 1 : progress_size, parameters.dtype());
  check_rate(op, "beta2", rule.beta2);
  check_amount(op, "eps", rule.eps);
  check_amount(op, "weight_decay", rule.weight_decay);

  if (is_wide(parameters.dtype()))
    return wide_adam_step(parameters, gradients, means, squares, max_squares, hyper,
                          counted ? progress_at(progress, hyper, rule.beta2) : progress, rule);
  runtime::DeviceState& device = state_of(parameters);
  runtime::launch(device, step_kernel(device, "optim/optimizer_adam.cl", "optimizer_adam", gradients),
                  step_range(device, parameters.numel()), out(parameters), in(gradients), out(means), out(squares),
                  amsgrad ? out(largest) : in(largest), in(hyper), in(progress), parameters.numel(),
                  static_cast<float>(rule.beta2), static_cast<float>(1 - rule.beta2),
                  static_cast<float>(std::log(rule.beta2)), static_cast<float>(rule.eps),
                  static_cast<float>(rule.weight_decay),
                  (rule.decoupled ? kernels::DECOUPLED : 0) | (amsgrad ? kernels::AMSGRAD : 0) |
                      (rule.maximize ? kernels::MAXIMIZE : 0) | (counted ? kernels::COUNTED : 0));
}

void lion_step(const Tensor& parameters, const Tensor& gradients, const Tensor& means, const Tensor& hyper,
               const LionRule& rule) {
  constexpr const char* op = "lion_step";
  check_flat(op, {"the parameters", parameters}, {{"the gradients", gradients, true}, {"the means", means}});
  check_control(op, {"hyper", hyper}, parameters.device(), hyper_size, parameters.dtype());
  check_rate(op, "beta2", rule.beta2);
  check_amount(op, "weight_decay", rule.weight_decay);

  if (is_wide(parameters.dtype())) return wide_lion_step(parameters, gradients, means, hyper, rule);
  runtime::DeviceState& device = state_of(parameters);
  runtime::launch(device, step_kernel(device, "optim/optimizer_lion.cl", "optimizer_lion", gradients),
                  step_range(device, parameters.numel()), out(parameters), in(gradients), out(means), in(hyper),
                  parameters.numel(), static_cast<float>(rule.beta2), static_cast<float>(1 - rule.beta2),
                  static_cast<float>(rule.weight_decay), rule.maximize ? kernels::MAXIMIZE : 0);
}

}  // namespace crisol::ops
