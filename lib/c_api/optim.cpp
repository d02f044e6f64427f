// Optimizers, averages of weights and clipping for C.
#include <string_view>
#include <type_traits>
#include <utility>

#include "c_api/handles.h"
#include "optim/settings.h"

using namespace crisol;
using namespace crisol::c_api;

namespace {

using optim::ParamGroup;

optim::ParamGroup group_of(int count, const crisol_tensor* const* parameters, int settings,
                           const crisol_setting* setting, const char* op) {
  ParamGroup group;
  group.params = tensors_of(parameters, count, op, "parameters");
  require(settings >= 0 && (settings == 0 || setting != nullptr), op, settings, " settings at ",
          setting == nullptr ? "null" : "an address");
  for (int i = 0; i < settings; ++i) {
    const std::string_view wanted = &need(setting[i].name, op, "the name of a setting");
    bool known = false;
    optim::for_each_setting([&](const char* name, auto member) {
      if (wanted != name) return;
      known = true;
      using Value = typename std::decay_t<decltype(group.*member)>::value_type;
      group.*member = static_cast<Value>(setting[i].value);
    });
    require(known, op, "there is no setting '", wanted, "'");
  }
  return group;
}

using OptimizerPtr = std::unique_ptr<optim::Optimizer>;

template <class Kind>
OptimizerPtr make(ParamGroup group) {
  std::vector<ParamGroup> groups;
  groups.push_back(std::move(group));
  return std::make_unique<Kind>(std::move(groups));
}

struct Kind {
  std::string_view name;
  OptimizerPtr (*make)(ParamGroup group);
};

constexpr Kind kinds[] = {{"sgd", make<optim::SGD>},
                          {"adam", make<optim::Adam>},
                          {"adamw", make<optim::AdamW>},
                          {"rmsprop", make<optim::RMSprop>},
                          {"lion", make<optim::Lion>}};

OptimizerPtr make_optimizer(std::string_view kind, ParamGroup group) {
  return row_named(kinds, kind, "optimizer_create", "optimizer").make(std::move(group));
}

crisol_status give_optimizer(crisol_optimizer** result, const char* op, const char* kind,
                             const crisol_tensor* const* parameters, int count,
                             std::initializer_list<crisol_setting> settings) noexcept {
  return guarded([&] {
    crisol_optimizer*& place = need(result, op, "result");
    place = new crisol_optimizer{
        make_optimizer(kind, group_of(count, parameters, static_cast<int>(settings.size()), settings.begin(), op))};
  });
}

optim::Optimizer& optimizer_of(crisol_optimizer* optimizer, const char* op) {
  return *need(optimizer, op, "optimizer").value;
}

}  // namespace

crisol_status crisol_optimizer_create(const char* kind, int count, const crisol_tensor* const* parameters, int settings,
                                      const crisol_setting* setting, crisol_optimizer** result) {
  constexpr const char* op = "optimizer_create";
  return guarded([&] {
    crisol_optimizer*& place = need(result, op, "result");
    place = new crisol_optimizer{
        make_optimizer(&need(kind, op, "kind"), group_of(count, parameters, settings, setting, op))};
  });
}

crisol_status crisol_sgd(int count, const crisol_tensor* const* parameters, double lr, double momentum,
                         double weight_decay, int nesterov, crisol_optimizer** result) {
  return give_optimizer(
      result, "sgd", "sgd", parameters, count,
      {{"lr", lr}, {"momentum", momentum}, {"weight_decay", weight_decay}, {"nesterov", nesterov != 0 ? 1.0 : 0.0}});
}

crisol_status crisol_adam(int count, const crisol_tensor* const* parameters, double lr, double beta1, double beta2,
                          double eps, double weight_decay, crisol_optimizer** result) {
  return give_optimizer(result, "adam", "adam", parameters, count,
                        {{"lr", lr}, {"beta1", beta1}, {"beta2", beta2}, {"eps", eps}, {"weight_decay", weight_decay}});
}

crisol_status crisol_adamw(int count, const crisol_tensor* const* parameters, double lr, double beta1, double beta2,
                           double eps, double weight_decay, crisol_optimizer** result) {
  return give_optimizer(result, "adamw", "adamw", parameters, count,
                        {{"lr", lr}, {"beta1", beta1}, {"beta2", beta2}, {"eps", eps}, {"weight_decay", weight_decay}});
}

crisol_status crisol_rmsprop(int count, const crisol_tensor* const* parameters, double lr, double alpha, double eps,
                             double weight_decay, double momentum, int centered, crisol_optimizer** result) {
  return give_optimizer(result, "rmsprop", "rmsprop", parameters, count,
                        {{"lr", lr},
                         {"alpha", alpha},
                         {"eps", eps},
                         {"weight_decay", weight_decay},
                         {"momentum", momentum},
                         {"centered", centered != 0 ? 1.0 : 0.0}});
}

void crisol_optimizer_destroy(crisol_optimizer* optimizer) { delete optimizer; }

crisol_status crisol_optimizer_add_param_group(crisol_optimizer* optimizer, int count,
                                               const crisol_tensor* const* parameters, int settings,
                                               const crisol_setting* setting) {
  constexpr const char* op = "optimizer_add_param_group";
  return guarded([&] {
    optim::Optimizer& own = optimizer_of(optimizer, op);
    ParamGroup group = group_of(count, parameters, settings, setting, op);
    const ParamGroup& first = own.param_groups().front();
    optim::for_each_setting([&](const char*, auto member) {
      if (!(group.*member)) group.*member = first.*member;
    });
    own.add_param_group(std::move(group));
  });
}

crisol_status crisol_optimizer_group_count(const crisol_optimizer* optimizer, int32_t* groups) {
  constexpr const char* op = "optimizer_group_count";
  return guarded([&] {
    need(groups, op, "groups") = static_cast<int32_t>(need(optimizer, op, "optimizer").value->param_groups().size());
  });
}

crisol_status crisol_optimizer_set(crisol_optimizer* optimizer, int32_t group, int settings,
                                   const crisol_setting* setting) {
  constexpr const char* op = "optimizer_set";
  return guarded([&] {
    require(group >= 0, op, "group ", group, " is negative");
    optimizer_of(optimizer, op)
        .set_param_group(static_cast<std::size_t>(group), group_of(0, nullptr, settings, setting, op));
  });
}

crisol_status crisol_optimizer_get(const crisol_optimizer* optimizer, int32_t group, const char* name, double* value) {
  constexpr const char* op = "optimizer_get";
  return guarded([&] {
    const std::vector<ParamGroup>& groups = need(optimizer, op, "optimizer").value->param_groups();
    require(group >= 0 && static_cast<std::size_t>(group) < groups.size(), op, "group ", group, " of ", groups.size());
    const std::string_view wanted = &need(name, op, "name");
    double& place = need(value, op, "value");
    bool known = false;
    optim::for_each_setting([&](const char* its_name, auto member) {
      const auto& setting = groups[static_cast<std::size_t>(group)].*member;
      if (wanted != its_name || !setting) return;
      known = true;
      place = static_cast<double>(*setting);
    });
    require(known, op, "the optimizer has no setting '", wanted, "'");
  });
}

crisol_status crisol_optimizer_zero_grad(crisol_optimizer* optimizer) {
  return guarded([&] { optimizer_of(optimizer, "optimizer_zero_grad").zero_grad(); });
}

crisol_status crisol_optimizer_zero_grad_in_place(crisol_optimizer* optimizer) {
  return guarded([&] { optimizer_of(optimizer, "optimizer_zero_grad_in_place").zero_grad(false); });
}

crisol_status crisol_optimizer_step(crisol_optimizer* optimizer) {
  return guarded([&] { optimizer_of(optimizer, "optimizer_step").step(); });
}

crisol_status crisol_optimizer_set_lr(crisol_optimizer* optimizer, double lr) {
  return guarded([&] { optimizer_of(optimizer, "optimizer_set_lr").set_lr(lr); });
}

crisol_status crisol_optimizer_state_dict(const crisol_optimizer* optimizer, crisol_named_tensors** result) {
  constexpr const char* op = "optimizer_state_dict";
  return give(result, op, [&] { return need(optimizer, op, "optimizer").value->state_dict(); });
}

crisol_status crisol_optimizer_load_state_dict(crisol_optimizer* optimizer, const crisol_named_tensors* state) {
  constexpr const char* op = "optimizer_load_state_dict";
  return guarded([&] { optimizer_of(optimizer, op).load_state_dict(state_of(state, op)); });
}

crisol_status crisol_clip_grad_norm(int count, const crisol_tensor* const* parameters, double max_norm,
                                    crisol_tensor** norm) {
  constexpr const char* op = "clip_grad_norm";
  return guarded([&] {
    const Tensor before = optim::clip_grad_norm(tensors_of(parameters, count, op, "parameters"), max_norm);
    if (norm != nullptr) *norm = new crisol_tensor{before};
  });
}

crisol_status crisol_clip_grad_value(int count, const crisol_tensor* const* parameters, double clip_value) {
  constexpr const char* op = "clip_grad_value";
  return guarded([&] { optim::clip_grad_value(tensors_of(parameters, count, op, "parameters"), clip_value); });
}

crisol_status crisol_ema_create(int count, const crisol_tensor* const* parameters, double decay, crisol_ema** result) {
  constexpr const char* op = "ema_create";
  return guarded([&] {
    crisol_ema*& place = need(result, op, "result");
    place = new crisol_ema{
        std::make_unique<optim::EMA>(tensors_of(parameters, count, op, "parameters"), optim::EMAOptions{decay})};
  });
}

void crisol_ema_destroy(crisol_ema* ema) { delete ema; }

crisol_status crisol_ema_update(crisol_ema* ema) {
  return guarded([&] { need(ema, "ema_update", "ema").value->update(); });
}

crisol_status crisol_ema_apply(crisol_ema* ema) {
  return guarded([&] { need(ema, "ema_apply", "ema").value->apply(); });
}

crisol_status crisol_ema_restore(crisol_ema* ema) {
  return guarded([&] { need(ema, "ema_restore", "ema").value->restore(); });
}

crisol_status crisol_ema_state_dict(const crisol_ema* ema, crisol_named_tensors** result) {
  constexpr const char* op = "ema_state_dict";
  return give(result, op, [&] { return need(ema, op, "ema").value->state_dict(); });
}

crisol_status crisol_ema_load_state_dict(crisol_ema* ema, const crisol_named_tensors* state) {
  constexpr const char* op = "ema_load_state_dict";
  return guarded([&] { need(ema, op, "ema").value->load_state_dict(state_of(state, op)); });
}
