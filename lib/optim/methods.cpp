// The optimisers: their settings, their states, and the op that takes a step.
#include "crisol/optim/methods.h"

#include "base/text.h"
#include "crisol/ops/optimizer.h"
#include "optim/optimizer_impl.h"

namespace crisol::optim {

namespace {

std::vector<ParamGroup> one_group(std::vector<Tensor> parameters) {
  std::vector<ParamGroup> groups(1);
  groups[0].params = std::move(parameters);
  return groups;
}

void accept(const ParamGroup&) {}

ParamGroup settings_of(const SGDOptions& o) {
  return {.lr = o.lr,
          .momentum = o.momentum,
          .dampening = o.dampening,
          .weight_decay = o.weight_decay,
          .nesterov = o.nesterov,
          .maximize = o.maximize};
}

/// Turns the options of Adam or AdamW into settings.
template <class Options>
ParamGroup settings_of_adam(const Options& o) {
  return {.lr = o.lr,
          .weight_decay = o.weight_decay,
          .beta1 = o.beta1,
          .beta2 = o.beta2,
          .eps = o.eps,
          .amsgrad = o.amsgrad,
          .maximize = o.maximize};
}

ParamGroup settings_of(const RMSpropOptions& o) {
  return {.lr = o.lr,
          .momentum = o.momentum,
          .weight_decay = o.weight_decay,
          .eps = o.eps,
          .alpha = o.alpha,
          .centered = o.centered,
          .maximize = o.maximize};
}

ParamGroup settings_of(const LionOptions& o) {
  return {.lr = o.lr, .weight_decay = o.weight_decay, .beta1 = o.beta1, .beta2 = o.beta2, .maximize = o.maximize};
}

void check_nesterov(const ParamGroup& group) {
  require(!*group.nesterov || (*group.momentum > 0 && *group.dampening == 0), "SGD",
          "nesterov needs momentum and no dampening, got momentum ", *group.momentum, ", dampening ", *group.dampening);
}

std::vector<std::string> states_of_sgd(const ParamGroup& group) {
  if (*group.momentum == 0) return {};
  return {momentum_state};
}

std::vector<std::string> states_of_adam(const ParamGroup& group) {
  std::vector<std::string> names{"exp_avg", "exp_avg_sq"};
  if (*group.amsgrad) names.emplace_back("max_exp_avg_sq");
  return names;
}

std::vector<std::string> states_of_rmsprop(const ParamGroup& group) {
  std::vector<std::string> names{"square_avg"};
  if (*group.centered) names.emplace_back("grad_avg");
  if (*group.momentum != 0) names.emplace_back(momentum_state);
  return names;
}

std::vector<std::string> states_of_lion(const ParamGroup&) { return {"exp_avg"}; }

}  // namespace

SGD::SGD(std::vector<ParamGroup> groups, const SGDOptions& defaults)
    : Optimizer({"SGD", check_nesterov, states_of_sgd,
                 [](const Range& r) {
                   const ParamGroup& g = r.group;
                   ops::sgd_step(r.parameters, r.gradients, r.state(momentum_state), r.hyper, r.progress,
                                 {*g.dampening, *g.weight_decay, *g.nesterov, *g.maximize});
                 }},
                std::move(groups), settings_of(defaults)) {}

SGD::SGD(std::vector<Tensor> parameters, const SGDOptions& options) : SGD(one_group(std::move(parameters)), options) {}

Optimizer::Method Optimizer::method_of_adam(const char* name, bool decoupled) {
  return {name, accept, states_of_adam, [decoupled](const Range& r) {
            const ParamGroup& g = r.group;
            ops::adam_step(r.parameters, r.gradients, r.state("exp_avg"), r.state("exp_avg_sq"),
                           *g.amsgrad ? r.state("max_exp_avg_sq") : Tensor(), r.hyper, r.progress,
                           {*g.beta2, *g.eps, *g.weight_decay, decoupled, *g.maximize});
          }};
}

Adam::Adam(std::vector<ParamGroup> groups, const AdamOptions& defaults)
    : Optimizer(method_of_adam("Adam", false), std::move(groups), settings_of_adam(defaults)) {}

Adam::Adam(std::vector<Tensor> parameters, const AdamOptions& options)
    : Adam(one_group(std::move(parameters)), options) {}

AdamW::AdamW(std::vector<ParamGroup> groups, const AdamWOptions& defaults)
    : Optimizer(method_of_adam("AdamW", true), std::move(groups), settings_of_adam(defaults)) {}

AdamW::AdamW(std::vector<Tensor> parameters, const AdamWOptions& options)
    : AdamW(one_group(std::move(parameters)), options) {}

RMSprop::RMSprop(std::vector<ParamGroup> groups, const RMSpropOptions& defaults)
    : Optimizer({"RMSprop", accept, states_of_rmsprop,
                 [](const Range& r) {
                   const ParamGroup& g = r.group;
                   ops::rmsprop_step(r.parameters, r.gradients, r.state("square_avg"),
                                     *g.centered ? r.state("grad_avg") : Tensor(), r.state(momentum_state), r.hyper,
                                     {*g.alpha, *g.eps, *g.weight_decay, *g.maximize});
                 }},
                std::move(groups), settings_of(defaults)) {}

RMSprop::RMSprop(std::vector<Tensor> parameters, const RMSpropOptions& options)
    : RMSprop(one_group(std::move(parameters)), options) {}

Lion::Lion(std::vector<ParamGroup> groups, const LionOptions& defaults)
    : Optimizer({"Lion", accept, states_of_lion,
                 [](const Range& r) {
                   const ParamGroup& g = r.group;
                   ops::lion_step(r.parameters, r.gradients, r.state("exp_avg"), r.hyper,
                                  {*g.beta2, *g.weight_decay, *g.maximize});
                 }},
                std::move(groups), settings_of(defaults)) {}

Lion::Lion(std::vector<Tensor> parameters, const LionOptions& options)
    : Lion(one_group(std::move(parameters)), options) {}

}  // namespace crisol::optim
