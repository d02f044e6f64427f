// The settings of groups, by their names.
#pragma once

#include <optional>
#include <string>

#include "crisol/optim/optimizer.h"

namespace crisol::optim {

/// Calls visit(name, member) with each setting of a group. A member is a std::optional of double or bool.
template <class Visit>
void for_each_setting(const Visit& visit) {
  visit("lr", &ParamGroup::lr);
  visit("momentum", &ParamGroup::momentum);
  visit("dampening", &ParamGroup::dampening);
  visit("weight_decay", &ParamGroup::weight_decay);
  visit("beta1", &ParamGroup::beta1);
  visit("beta2", &ParamGroup::beta2);
  visit("eps", &ParamGroup::eps);
  visit("alpha", &ParamGroup::alpha);
  visit("nesterov", &ParamGroup::nesterov);
  visit("amsgrad", &ParamGroup::amsgrad);
  visit("centered", &ParamGroup::centered);
  visit("maximize", &ParamGroup::maximize);
  visit("initial_lr", &ParamGroup::initial_lr);
}

/// The settings of `base`, overwritten by the values that `changes` has. The result has no parameters. Throws
/// invalid_argument, "[op] …", for a setting that has no value in `base`. Each optimiser has initial_lr.
ParamGroup merge_settings(const std::string& op, const ParamGroup& base, const ParamGroup& changes);

/// Throws invalid_argument for a number outside its range.
void check_settings(const std::string& op, const ParamGroup& settings);

}  // namespace crisol::optim
