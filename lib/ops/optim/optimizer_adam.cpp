// Adam, AdamW and Lion.
#include <algorithm>
#include <cmath>
#include <vector>

#include "crisol/ops/elementwise.h"
#include "crisol/ops/optimizer_list.h"
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

int flags_of(const AdamRule& rule, bool amsgrad, bool counted) {
  return (rule.decoupled ? kernels::DECOUPLED : 0) | (amsgrad ? kernels::AMSGRAD : 0) |
         (rule.maximize ? kernels::MAXIMIZE : 0) | (counted ? kernels::COUNTED : 0);
}

/// Checks a step. Returns whether its progress is only a number.
bool check_adam(const char* op, const AdamBuffers& x, const Tensor& hyper, const AdamRule& rule) {
  const Tensor& p = x.parameters;
  check_flat(op, {"the parameters", p},
             {{"the gradients", x.gradients, true},
              {"the means", x.means},
              {"the squares", x.squares},
              {"the maximal squares", x.max_squares.defined() ? x.max_squares : p}});
  check_control(op, {"hyper", hyper}, p.device(), hyper_size, p.dtype());
  const bool counted = x.number.shape() == Shape{1};
  check_control(op, {"progress", x.number}, p.device(), counted ? 1 : progress_size, p.dtype());
  check_rate(op, "beta2", rule.beta2);
  check_amount(op, "eps", rule.eps);
  check_amount(op, "weight_decay", rule.weight_decay);
  return counted;
}

constexpr std::size_t most_of_list = 8;  // Parameters that a launch of optimizer_adam_list takes.

/// Steps up to most_of_list parameters with gradients of one type.
void launch_adam(const std::vector<const AdamBuffers*>& group, const Tensor& hyper, const AdamRule& rule) {
  runtime::DeviceState& device = state_of(hyper);
  std::int64_t total = 0;
  std::vector<runtime::KernelArg> args;
  for (std::size_t i = 0; i < most_of_list; ++i) {
    const AdamBuffers& x = *group[std::min(i, group.size() - 1)];
    const std::int64_t count = i < group.size() ? x.parameters.numel() : 0;
    for (const runtime::BufferView& buffer :
         {out(x.parameters), in(x.gradients), out(x.means), out(x.squares), in(x.number)})
      args.emplace_back(buffer);
    args.emplace_back(count);
    total += count;
  }
  args.emplace_back(in(hyper));
  for (const double number : {rule.beta2, 1 - rule.beta2, std::log(rule.beta2), rule.eps, rule.weight_decay})
    args.emplace_back(static_cast<float>(number));
  args.emplace_back(flags_of(rule, false, true));
  if (runtime::in_dry_run()) return;
  const runtime::KernelSpec spec =
      step_kernel(device, "optim/optimizer_adam_list.cl", "optimizer_adam_list", group[0]->gradients);
  runtime::enqueue(device, runtime::resolve(device, spec), step_range(device, total), args.data(), args.size());
}

}  // namespace

void adam_step(const Tensor& parameters, const Tensor& gradients, const Tensor& means, const Tensor& squares,
               const Tensor& max_squares, const Tensor& hyper, const Tensor& progress, const AdamRule& rule) {
  const AdamBuffers buffers{parameters, gradients, means, squares, max_squares, progress};
  const bool counted = check_adam("adam_step", buffers, hyper, rule);
  if (is_wide(parameters.dtype()))
    return wide_adam_step(parameters, gradients, means, squares, max_squares, hyper,
                          counted ? progress_at(progress, hyper, rule.beta2) : progress, rule);
  const bool amsgrad = max_squares.defined();
  runtime::DeviceState& device = state_of(parameters);
  // A missing buffer is replaced by an existing buffer, which the kernel does not use in its place.
  runtime::launch(device, step_kernel(device, "optim/optimizer_adam.cl", "optimizer_adam", gradients),
                  step_range(device, parameters.numel()), out(parameters), in(gradients), out(means), out(squares),
                  amsgrad ? out(max_squares) : in(parameters), in(hyper), in(progress), parameters.numel(),
                  static_cast<float>(rule.beta2), static_cast<float>(1 - rule.beta2),
                  static_cast<float>(std::log(rule.beta2)), static_cast<float>(rule.eps),
                  static_cast<float>(rule.weight_decay), flags_of(rule, amsgrad, counted));
}

void adam_steps(const std::vector<AdamBuffers>& list, const Tensor& hyper, const AdamRule& rule) {
  for (const AdamBuffers& x : list) check_adam("adam_steps", x, hyper, rule);
  std::vector<const AdamBuffers*> group;
  const auto finish = [&] {
    launch_adam(group, hyper, rule);
    group.clear();
  };
  for (const AdamBuffers& x : list) {
    if (is_wide(x.parameters.dtype()) || x.max_squares.defined() || x.number.numel() != 1) {
      adam_step(x.parameters, x.gradients, x.means, x.squares, x.max_squares, hyper, x.number, rule);
      continue;
    }
    if (!group.empty() && (group.size() == most_of_list || group[0]->gradients.dtype() != x.gradients.dtype()))
      finish();
    group.push_back(&x);
  }
  if (!group.empty()) finish();
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
