// Steps of optimisers with fused=True, the ops on lists of other optimisers, and the ops of GradScaler.
#include <ATen/CompositeExplicitAutogradFunctions.h>

#include "call.h"
#include "crisol/ops/optimizer_list.h"
#include "memory.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::DType;
using crisol::Tensor;

Tensor list_element(const std::vector<Tensor>& list, std::size_t i) { return list.empty() ? Tensor() : list[i]; }

// The tensors of a list, flat. A step asks for all its lists before it changes a parameter, because a refused call runs
// on the CPU from the start.
std::vector<Tensor> flat(const Call& c, std::size_t i) {
  std::vector<Tensor> list = c.tensors(i);
  for (Tensor& x : list) {
    need(x.is_contiguous(), "a parameter that is not contiguous");
    x = ops::reshape(x, {-1});
  }
  return list;
}

// Refuses what a step of the library refuses: the library takes f32 with gradients of any size, or f64.
void check_step(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                std::initializer_list<const std::vector<Tensor>*> states) {
  need(gradients.size() == parameters.size(), "a gradient for each parameter");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& x = parameters[i];
    const bool is_double = x.dtype() == DType::f64;
    need(is_double || x.dtype() == DType::f32, "a parameter that is neither float32 nor float64");
    need(x.dtype() == parameters[0].dtype(), "parameters of several types");
    need(is_floating(gradients[i].dtype()) && (gradients[i].dtype() == DType::f64) == is_double &&
             gradients[i].shape() == x.shape(),
         "a gradient that does not fit its parameter");
    for (const std::vector<Tensor>* state : states)
      need(state->empty() || (state->size() == parameters.size() && (*state)[i].dtype() == x.dtype() &&
                              (*state)[i].shape() == x.shape()),
           "a state that does not fit its parameter");
  }
}

// Refuses numbers of steps that Adam's kernel does not read.
void check_counts(const std::vector<Tensor>& steps, const std::vector<Tensor>& parameters) {
  need(steps.size() == parameters.size(), "a number of steps for each parameter");
  for (const Tensor& step : steps)
    need(step.numel() == 1 && step.dtype() == parameters[0].dtype(), "a number of steps of another type");
}

double rate(const c10::IValue& lr) { return lr.isTensor() ? lr.toTensor().item<double>() : lr.toDouble(); }

// The numbers of a step. PyTorch calls a step for the parameters of one device.
Tensor make_hyper(const Tensor& parameter, double lr, double momentum, const Tensor& skip) {
  const Tensor hyper = ops::make_hyper(parameter.device());
  ops::write_hyper(hyper, lr, momentum);
  ops::set_skip(hyper, skip);
  return hyper;
}

// The number behind an argument that is none or a tensor of one element, or an undefined tensor.
Tensor one_of(const Call& c, std::size_t i) { return c.is_none(i) ? Tensor() : ops::reshape(c.tensor(i), {1}); }

// Divides gradients by a scale, unless some gradient overflowed.
void divide_by_scale(const std::vector<Tensor>& gradients, const Tensor& scale, const Tensor& found) {
  if (!scale.defined()) return;
  const Tensor by = found.defined() ? ops::where(ops::ne(found, 0), 1.0, scale) : scale;
  for (const Tensor& gradient : gradients) ops::copy_into(gradient, ops::div(gradient, by));
}

// (parameters, gradients, means, squares, largest squares, steps, lr, beta1, beta2, weight decay, eps, amsgrad,
// maximize, scale, found_inf). PyTorch has counted the step before the call.
Results adam(const Call& c, bool decoupled) {
  const std::vector<Tensor> parameters = flat(c, 0), gradients = flat(c, 1), means = flat(c, 2), squares = flat(c, 3),
                            largest = flat(c, 4), steps = flat(c, 5);
  const ops::AdamRule rule{c.number(8), c.number(10), c.number(9), decoupled, c.flag(12)};
  check_step(parameters, gradients, {&means, &squares, &largest});
  check_counts(steps, parameters);
  if (parameters.empty()) return {};
  const Tensor hyper = make_hyper(parameters[0], rate(c.value(6)), c.number(7), c.tensor(14));
  divide_by_scale(gradients, one_of(c, 13), one_of(c, 14));
  std::vector<ops::AdamBuffers> list;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    list.push_back({parameters[i], gradients[i], means[i], squares[i], list_element(largest, i), steps[i]});
  ops::adam_steps(list, hyper, rule);
  return {};
}

// (parameters, gradients, momenta, weight decay, momentum, lr, dampening, nesterov, maximize, is first step, scale,
// found_inf)
Results sgd(const Call& c) {
  const std::vector<Tensor> parameters = flat(c, 0), gradients = flat(c, 1), momenta = flat(c, 2);
  const ops::SgdRule rule{c.number(6), c.number(3), c.flag(7), c.flag(8)};
  const double momentum = c.number(4);
  check_step(parameters, gradients, {&momenta});
  if (parameters.empty()) return {};
  const Tensor hyper = make_hyper(parameters[0], rate(c.value(5)), momentum, c.tensor(11));
  divide_by_scale(gradients, one_of(c, 10), one_of(c, 11));
  const Tensor progress = ops::make_progress(hyper.device());
  if (!c.flag(9)) ops::fill_into(ops::narrow(progress, 0, 0, 1), 1);
  ops::advance_step(progress, hyper);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    ops::sgd_step(parameters[i], gradients[i], momentum == 0 ? Tensor() : list_element(momenta, i), hyper, progress,
                  rule);
  return {};
}

// (parameters, gradients, sums, steps, lr, lr decay, weight decay, eps, maximize, scale, found_inf)
Results adagrad(const Call& c) {
  const std::vector<Tensor> parameters = flat(c, 0), gradients = flat(c, 1), sums = flat(c, 2), steps = flat(c, 3);
  const double lr = rate(c.value(4)), lr_decay = c.number(5), weight_decay = c.number(6), eps = c.number(7);
  check_step(parameters, gradients, {&sums});
  need(steps.size() == parameters.size(), "a number of steps for each parameter");
  const Tensor found = one_of(c, 10);
  divide_by_scale(gradients, one_of(c, 9), found);
  const Tensor bad = found.defined() ? ops::ne(found, 0) : Tensor();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& x = parameters[i];
    Tensor g = c.flag(8) ? ops::neg(gradients[i]) : gradients[i];
    if (weight_decay != 0) g = ops::addcmul(g, x, weight_decay);
    if (bad.defined()) g = ops::where(bad, 0.0, g);  // The step changes nothing then.
    ops::addcmul_into(sums[i], sums[i], g, g);
    Tensor root = ops::add(ops::sqrt(sums[i]), eps);
    if (bad.defined()) root = ops::where(bad, 1.0, root);
    if (lr_decay != 0) g = ops::div(g, ops::add(ops::mul(ops::sub(steps[i], 1.0), lr_decay), 1.0));
    ops::addcdiv_into(x, x, g, root, -lr);
  }
  return {};
}

// (gradients, found_inf, inverse scale)
Results unscale(const Call& c) {
  const Tensor found = ops::reshape(c.tensor(1), {1}), inverse = c.tensor(2);
  const std::vector<Tensor> gradients = c.tensors(0);
  for (const Tensor& gradient : gradients) need(is_floating(gradient.dtype()), "a gradient of whole numbers");
  for (const Tensor& gradient : gradients) {
    const Tensor bad = ops::logical_not(ops::all(ops::isfinite(gradient)));
    ops::maximum_into(found, found, ops::cast(ops::reshape(bad, {1}), DType::f32));
    ops::copy_into(gradient, ops::mul(gradient, inverse));
  }
  return {};
}

// (scale, steps since it changed, found_inf, growth, backoff, interval): PyTorch's rule.
Results update_scale(const Call& c) {
  const auto number = [&](std::size_t i) { return ops::reshape(c.tensor(i), {1}); };
  const Tensor scale = number(0), steps = number(1), bad = ops::ne(number(2), 0);
  const Tensor next = ops::add(steps, 1), is_due = ops::eq(next, c.scalar(5)), grown = ops::mul(scale, c.number(3));
  const Tensor good = ops::where(ops::logical_and(is_due, ops::isfinite(grown)), grown, scale);
  ops::where_into(scale, bad, ops::mul(scale, c.number(4)), good);
  ops::masked_fill_into(steps, next, ops::logical_or(bad, is_due), 0);
  return {c.value(0)};
}

// ---- Lists. PyTorch's own form of these ops calls the dispatcher for each tensor of a list.

namespace generic = at::compositeexplicitautograd;
using at::Scalar;
using at::TensorList;

// Whether the tensors at each place of the lists have one shape and one dtype that the device computes in f32.
bool fit(TensorList first, std::initializer_list<TensorList> others) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!first[i].is_privateuseone() || first[i].is_neg() || !computes_in_f32(first[i].scalar_type())) return false;
    for (const TensorList& list : others)
      if (list.size() != first.size() || list[i].device() != first[i].device() || list[i].is_neg() ||
          list[i].scalar_type() != first[i].scalar_type() || list[i].sizes() != first[i].sizes())
        return false;
  }
  return true;
}
bool fit(TensorList first, std::initializer_list<TensorList> others, at::ArrayRef<Scalar> numbers, std::size_t count) {
  return numbers.size() == count && fit(first, others) &&
         std::none_of(numbers.begin(), numbers.end(), [](const Scalar& number) { return number.isComplex(); });
}

// Calls f(i, tensor i of the list).
template <class F>
void each(TensorList list, F f) {
  guarded([&] {
    for (std::size_t i = 0; i < list.size(); ++i) f(i, tensor_of(list[i]));
  });
}

void add_number(TensorList x, const Scalar& number) {
  if (!fit(x, {}, number, 1)) return generic::_foreach_add_(x, number);
  each(x, [&](std::size_t, const Tensor& t) { ops::add_into(t, t, scalar_of(number)); });
}
void add_list(TensorList x, TensorList other, const Scalar& alpha) {
  if (!fit(x, {other}, alpha, 1)) return generic::_foreach_add_(x, other, alpha);
  each(x, [&](std::size_t i, const Tensor& t) { ops::addcmul_into(t, t, tensor_of(other[i]), 1, scalar_of(alpha)); });
}
void multiply(TensorList x, const Scalar& number) {
  if (!fit(x, {}, number, 1)) return generic::_foreach_mul_(x, number);
  each(x, [&](std::size_t, const Tensor& t) { ops::mul_into(t, t, scalar_of(number)); });
}
void divide(TensorList x, at::ArrayRef<Scalar> numbers) {
  if (!fit(x, {}, numbers, x.size())) return generic::_foreach_div_(x, numbers);
  each(x, [&](std::size_t i, const Tensor& t) { ops::div_into(t, t, scalar_of(numbers[i])); });
}
void lerp(TensorList x, TensorList other, const Scalar& weight) {
  if (!fit(x, {other}, weight, 1)) return generic::_foreach_lerp_(x, other, weight);
  each(x, [&](std::size_t i, const Tensor& t) { ops::lerp_into(t, t, tensor_of(other[i]), scalar_of(weight)); });
}
void add_product(TensorList x, TensorList a, TensorList b, const Scalar& factor) {
  if (!fit(x, {a, b}, factor, 1)) return generic::_foreach_addcmul_(x, a, b, factor);
  each(x, [&](std::size_t i, const Tensor& t) {
    ops::addcmul_into(t, t, tensor_of(a[i]), tensor_of(b[i]), scalar_of(factor));
  });
}
void add_quotient(TensorList x, TensorList a, TensorList b, at::ArrayRef<Scalar> factors) {
  if (!fit(x, {a, b}, factors, x.size())) return generic::_foreach_addcdiv_(x, a, b, factors);
  each(x, [&](std::size_t i, const Tensor& t) {
    ops::addcdiv_into(t, t, tensor_of(a[i]), tensor_of(b[i]), scalar_of(factors[i]));
  });
}
std::vector<at::Tensor> square_root(TensorList x) {
  if (!fit(x, {})) return generic::_foreach_sqrt(x);
  std::vector<at::Tensor> results;
  each(x, [&](std::size_t, const Tensor& t) { results.push_back(wrap(ops::sqrt(t))); });
  return results;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_foreach_add_.Scalar", add_number);
  m.impl("_foreach_add_.List", add_list);
  m.impl("_foreach_mul_.Scalar", multiply);
  m.impl("_foreach_div_.ScalarList", divide);
  m.impl("_foreach_lerp_.Scalar", lerp);
  m.impl("_foreach_addcmul_.Scalar", add_product);
  m.impl("_foreach_addcdiv_.ScalarList", add_quotient);
  m.impl("_foreach_sqrt", square_root);
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
      {"_fused_adagrad_", adagrad},
      {"_fused_adagrad_.tensor_lr", adagrad},
      {"_amp_update_scale_", update_scale},
      {"_amp_foreach_non_finite_check_and_unscale_", unscale},
  };
}

}  // namespace crisol_torch
