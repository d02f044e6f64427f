#include "ops/optim/wide_steps.h"

#include <cmath>

#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"

namespace crisol::ops {

namespace {

/// The values of `hyper` and `progress`, as cl_kernels/optim/optimizer.h lists them.
struct Control {
  explicit Control(const Tensor& hyper)
      : lr(select(hyper, 0, 0)),
        momentum(select(hyper, 0, 1)),
        one_minus_beta1(select(hyper, 0, 2)),
        skips(select(hyper, 0, 4)) {}

  /// Writes the new values of a tensor, unless the step must change nothing.
  void put(const Tensor& to, const Tensor& values) const { copy_into(to, where(skips, to, values)); }

  Tensor lr, momentum, one_minus_beta1, skips;
};

Tensor signed_gradients(const Tensor& gradients, bool maximize) { return maximize ? neg(gradients) : gradients; }

/// The gradients with the decay of the parameters.
Tensor decayed(const Tensor& gradients, const Tensor& parameters, bool maximize, double weight_decay) {
  const Tensor g = signed_gradients(gradients, maximize);
  return weight_decay == 0 ? g : add(g, mul(parameters, weight_decay));
}

/// a + share (b - a)
Tensor moved(const Tensor& a, const Tensor& b, const Operand& share) { return add(a, mul(sub(b, a), share)); }

Tensor mean_of_squares(const Tensor& squares, const Tensor& g, double kept) {
  return add(mul(squares, kept), mul(square(g), 1 - kept));
}

}  // namespace

void wide_sgd_step(const Tensor& parameters, const Tensor& gradients, const Tensor& momenta, const Tensor& hyper,
                   const Tensor& progress, const SgdRule& rule) {
  const Control control(hyper);
  Tensor g = decayed(gradients, parameters, rule.maximize, rule.weight_decay);
  if (momenta.defined()) {
    const Tensor later = add(mul(momenta, control.momentum), mul(g, 1 - rule.dampening));
    const Tensor b = where(le(select(progress, 0, 0), 1.0), g, later);
    control.put(momenta, b);
    g = rule.nesterov ? add(g, mul(b, control.momentum)) : b;
  }
  control.put(parameters, sub(parameters, mul(g, control.lr)));
}

void wide_adam_step(const Tensor& parameters, const Tensor& gradients, const Tensor& means, const Tensor& squares,
                    const Tensor& max_squares, const Tensor& hyper, const Tensor& progress, const AdamRule& rule) {
  const Control control(hyper);
  const Tensor g = decayed(gradients, parameters, rule.maximize, rule.decoupled ? 0 : rule.weight_decay);
  const Tensor m = moved(means, g, control.one_minus_beta1), v = mean_of_squares(squares, g, rule.beta2);
  const Tensor largest = max_squares.defined() ? maximum(max_squares, v) : v;
  const Tensor root = add(div(sqrt(largest), select(progress, 0, 2)), rule.eps);
  const Tensor shrunk = rule.decoupled ? mul(parameters, sub(1.0, mul(control.lr, rule.weight_decay))) : parameters;
  const Tensor p = sub(shrunk, mul(div(control.lr, select(progress, 0, 1)), div(m, root)));
  control.put(means, m);
  control.put(squares, v);
  if (max_squares.defined()) control.put(max_squares, largest);
  control.put(parameters, p);
}

void wide_lion_step(const Tensor& parameters, const Tensor& gradients, const Tensor& means, const Tensor& hyper,
                    const LionRule& rule) {
  const Control control(hyper);
  const Tensor g = signed_gradients(gradients, rule.maximize);
  const Tensor u = sign(moved(means, g, control.one_minus_beta1));
  const Tensor shrunk = mul(parameters, sub(1.0, mul(control.lr, rule.weight_decay)));
  const Tensor p = sub(shrunk, mul(u, control.lr)), m = add(mul(means, rule.beta2), mul(g, 1 - rule.beta2));
  control.put(means, m);
  control.put(parameters, p);
}

void wide_rmsprop_step(const Tensor& parameters, const Tensor& gradients, const Tensor& squares, const Tensor& means,
                       const Tensor& momenta, const Tensor& hyper, const RmspropRule& rule) {
  const Control control(hyper);
  const Tensor g = decayed(gradients, parameters, rule.maximize, rule.weight_decay);
  const Tensor v = mean_of_squares(squares, g, rule.alpha);
  Tensor variance = v;
  if (means.defined()) {
    const Tensor a = moved(means, g, 1 - rule.alpha);
    control.put(means, a);
    variance = maximum(sub(v, square(a)), 0.0);  // Rounding may make v - a a negative.
  }
  Tensor u = div(g, add(sqrt(variance), rule.eps));
  if (momenta.defined()) {
    u = add(u, mul(momenta, control.momentum));
    control.put(momenta, u);
  }
  control.put(squares, v);
  control.put(parameters, sub(parameters, mul(u, control.lr)));
}

void wide_average_step(const Tensor& averages, const Tensor& parameters, const Tensor& hyper, const Tensor& progress) {
  const Control control(hyper);
  copy_into(averages, where(le(select(progress, 0, 0), 1.0), parameters, moved(averages, parameters, control.lr)));
}

void wide_advance_step(const Tensor& progress, const Tensor& hyper, double beta2) {
  const Control control(hyper);
  const Tensor t = add(select(progress, 0, 0), 1.0);
  const auto correction = [&](const Operand& logarithm) { return neg(expm1(mul(t, logarithm))); };
  const Tensor bias1 = correction(select(hyper, 0, 3)), bias2 = sqrt(correction(std::log(beta2)));
  control.put(select(progress, 0, 0), t);
  control.put(select(progress, 0, 1), bias1);
  control.put(select(progress, 0, 2), bias2);
}

Tensor wide_global_norm(const std::vector<Tensor>& parts) {
  Tensor squares;
  for (const Tensor& part : parts) {
    const Tensor one = sum(square(cast(part, value_type(part.dtype()))));
    squares = squares.defined() ? add(squares, one) : one;
  }
  return sqrt(squares);
}

}  // namespace crisol::ops
