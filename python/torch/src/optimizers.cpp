// Steps of optimisers with fused=True, and the ops of GradScaler.
#include "call.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::DType;
using crisol::Tensor;

Tensor list_element(const std::vector<Tensor>& list, std::size_t i) { return list.empty() ? Tensor() : list[i]; }

// Every tensor of a step is flat.
Tensor flat(const Tensor& x) {
  need(!x.defined() || x.is_contiguous(), "a parameter that is not contiguous");
  return x.defined() ? ops::reshape(x, {-1}) : x;
}

double rate(const c10::IValue& lr) { return lr.isTensor() ? lr.toTensor().item<double>() : lr.toDouble(); }

// (parameters, gradients, means, squares, largest squares, steps, lr, beta1, beta2, weight decay, eps, amsgrad,
// maximize, scale, found_inf). PyTorch has counted the step before the call.
Results adam(const Call& c, bool decoupled) {
  need(c.is_none(13), "a scale of gradients");
  const std::vector<Tensor> parameters = c.tensors(0), gradients = c.tensors(1), means = c.tensors(2),
                            squares = c.tensors(3), largest = c.tensors(4), steps = c.tensors(5);
  const ops::AdamRule rule{c.number(8), c.number(10), c.number(9), decoupled, c.flag(12)};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const crisol::Device device = parameters[i].device();
    const Tensor hyper = ops::make_hyper(device), progress = ops::make_progress(device);
    ops::write_hyper(hyper, rate(c.value(6)), c.number(7));
    ops::set_skip(hyper, c.tensor(14));
    ops::sub_into(ops::narrow(progress, 0, 0, 1), ops::reshape(steps[i], {1}), 1.0);
    ops::advance_step(progress, hyper, rule.beta2);
    ops::adam_step(flat(parameters[i]), flat(gradients[i]), flat(means[i]), flat(squares[i]),
                   flat(list_element(largest, i)), hyper, progress, rule);
  }
  return {};
}

// (parameters, gradients, momenta, weight decay, momentum, lr, dampening, nesterov, maximize, is first step, scale,
// found_inf)
Results sgd(const Call& c) {
  need(c.is_none(10), "a scale of gradients");
  const std::vector<Tensor> parameters = c.tensors(0), gradients = c.tensors(1), momenta = c.tensors(2);
  const ops::SgdRule rule{c.number(6), c.number(3), c.flag(7), c.flag(8)};
  const double momentum = c.number(4);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const crisol::Device device = parameters[i].device();
    const Tensor hyper = ops::make_hyper(device), progress = ops::make_progress(device);
    ops::write_hyper(hyper, rate(c.value(5)), momentum);
    ops::set_skip(hyper, c.tensor(11));
    if (!c.flag(9)) ops::fill_into(ops::narrow(progress, 0, 0, 1), 1);
    ops::advance_step(progress, hyper);
    ops::sgd_step(flat(parameters[i]), flat(gradients[i]), momentum == 0 ? Tensor() : flat(list_element(momenta, i)),
                  hyper, progress, rule);
  }
  return {};
}

// (gradients, found_inf, inverse scale)
Results unscale(const Call& c) {
  const Tensor found = ops::reshape(c.tensor(1), {1}), inverse = c.tensor(2);
  for (const Tensor& gradient : c.tensors(0)) {
    const Tensor bad = ops::logical_not(ops::all(ops::isfinite(gradient)));
    ops::maximum_into(found, found, ops::cast(ops::reshape(bad, {1}), DType::f32));
    ops::copy_into(gradient, ops::mul(gradient, inverse));
  }
  return {};
}

}  // namespace

Rows optimizer_rows() {
  return {
      {"_fused_adam_", [](const Call& c) { return adam(c, false); }},
      {"_fused_adam_.tensor_lr", [](const Call& c) { return adam(c, false); }},
      {"_fused_adamw_", [](const Call& c) { return adam(c, true); }},
      {"_fused_adamw_.tensor_lr", [](const Call& c) { return adam(c, true); }},
      {"_fused_sgd_", sgd},
      {"_fused_sgd_.tensor_lr", sgd},
      {"_amp_foreach_non_finite_check_and_unscale_", unscale},
  };
}

}  // namespace crisol_torch
