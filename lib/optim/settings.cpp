#include "optim/settings.h"

#include <cmath>
#include <string_view>

#include "base/text.h"

namespace crisol::optim {

ParamGroup merge_settings(const std::string& op, const ParamGroup& base, const ParamGroup& changes) {
  ParamGroup merged = base;
  merged.params.clear();
  for_each_setting([&](const char* name, auto member) {
    if (!(changes.*member).has_value()) return;
    require((base.*member).has_value() || std::string_view(name) == "initial_lr", op.c_str(), op, " has no setting ",
            name, "; it was set to ", *(changes.*member));
    merged.*member = changes.*member;
  });
  return merged;
}

void check_settings(const std::string& op, const ParamGroup& settings) {
  const auto amount = [&](const char* name, const std::optional<double>& value) {
    require(!value || (*value >= 0 && std::isfinite(*value)), op.c_str(), name, " is ", value.value_or(0),
            ", it must be finite and not negative");
  };
  const auto rate = [&](const char* name, const std::optional<double>& value) {
    require(!value || (*value >= 0 && *value < 1), op.c_str(), name, " is ", value.value_or(0),
            ", it must be at least 0 and below 1");
  };
  amount("the learning rate", settings.lr);
  amount("initial_lr", settings.initial_lr);
  amount("weight_decay", settings.weight_decay);
  amount("eps", settings.eps);
  rate("momentum", settings.momentum);
  rate("beta1", settings.beta1);
  rate("beta2", settings.beta2);
  rate("alpha", settings.alpha);
  const double dampening = settings.dampening.value_or(0);
  require(dampening >= 0 && dampening <= 1, op.c_str(), "dampening is ", dampening, ", it must be in [0, 1]");
}

}  // namespace crisol::optim
