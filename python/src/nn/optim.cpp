// Optimisers. A group of parameters is a dict with PyTorch's keys.
#include <algorithm>
#include <array>

#include "arguments.h"
#include "bindings.h"
#include "collector.h"
#include "option_casters.h"

namespace crisol::python {

namespace {

using optim::Optimizer;
using optim::ParamGroup;

struct NumberSetting {
  const char* name;
  std::optional<double> ParamGroup::*member;
};
constexpr NumberSetting numbers[]{
    {"lr", &ParamGroup::lr},
    {"momentum", &ParamGroup::momentum},
    {"dampening", &ParamGroup::dampening},
    {"weight_decay", &ParamGroup::weight_decay},
    {"eps", &ParamGroup::eps},
    {"alpha", &ParamGroup::alpha},
    {"initial_lr", &ParamGroup::initial_lr},
};

struct FlagSetting {
  const char* name;
  std::optional<bool> ParamGroup::*member;
};
constexpr FlagSetting flags[]{
    {"nesterov", &ParamGroup::nesterov},
    {"amsgrad", &ParamGroup::amsgrad},
    {"centered", &ParamGroup::centered},
    {"maximize", &ParamGroup::maximize},
};

/// Reads a parameter: a tensor, or a pair (name, tensor) of named_parameters().
Tensor parameter_of(nb::handle entry) {
  if (nb::isinstance<nb::tuple>(entry) && nb::len(entry) == 2 && nb::isinstance<Tensor>(entry[1]))
    return nb::cast<Tensor>(entry[1]);
  if (nb::isinstance<Tensor>(entry)) return nb::cast<Tensor>(entry);
  PyErr_Format(PyExc_TypeError, "[optim] params are tensors, pairs (name, tensor) or dicts with \"params\", not a %S",
               entry.type().attr("__name__").ptr());
  throw nb::python_error();
}

/// An iterator over parameters.
nb::object iterator_of(nb::handle params) {
  PyObject* const iterator = PyObject_GetIter(params.ptr());
  if (iterator != nullptr) return nb::steal(iterator);
  PyErr_Clear();
  parameter_of(params);  // Refuses it.
  return nb::make_tuple(nb::borrow(params)).attr("__iter__")();
}

std::vector<Tensor> tensors_of(nb::handle object) {
  if (nb::isinstance<Tensor>(object)) return {nb::cast<Tensor>(object)};
  std::vector<Tensor> tensors;
  for (const nb::handle x : iterator_of(object)) tensors.push_back(parameter_of(x));
  return tensors;
}

bool set_number(ParamGroup& group, const std::string& key, nb::handle value) {
  for (const NumberSetting& setting : numbers)
    if (key == setting.name) return group.*setting.member = nb::cast<double>(value), true;
  return false;
}

bool set_flag(ParamGroup& group, const std::string& key, nb::handle value) {
  for (const FlagSetting& setting : flags)
    if (key == setting.name) return group.*setting.member = nb::cast<bool>(value), true;
  return false;
}

/// Reads a group. `others` gets the entries that are no settings of the library. Python keeps them.
ParamGroup group_of(const nb::dict& dict, nb::dict& others) {
  ParamGroup group;
  for (const auto& [key_object, value] : dict) {
    const std::string key = nb::cast<std::string>(key_object);
    if (key == "params") {
      group.params = tensors_of(value);
    } else if (key == "betas") {
      const auto [beta1, beta2] = nb::cast<std::pair<double, double>>(value);
      group.beta1 = beta1;
      group.beta2 = beta2;
    } else if (!set_number(group, key, value) && !set_flag(group, key, value)) {
      others[key_object] = value;
    }
  }
  return group;
}

nb::dict dict_of_settings(const ParamGroup& group) {
  nb::dict dict;
  for (const NumberSetting& setting : numbers)
    if (group.*setting.member) dict[setting.name] = *(group.*setting.member);
  if (group.beta1) dict["betas"] = std::make_pair(*group.beta1, *group.beta2);
  for (const FlagSetting& setting : flags)
    if (group.*setting.member) dict[setting.name] = *(group.*setting.member);
  return dict;
}

nb::list list_of_parameters(const ParamGroup& group) {
  nb::list params;
  for (const Tensor& parameter : group.params) {
    const nb::object known = known_object(parameter);
    params.append(known.is_none() ? nb::cast(parameter) : known);
  }
  return params;
}

/// Reads PyTorch's argument `params`: tensors, or dicts for groups. `others` gets the entries of group_of() for each
/// group.
std::vector<ParamGroup> groups_of(const nb::object& params, nb::list& others) {
  std::vector<ParamGroup> groups;
  ParamGroup plain;
  bool has_tensors = false;
  for (const nb::handle entry : iterator_of(params)) {
    if (nb::isinstance<nb::dict>(entry)) {
      nb::dict own;
      groups.push_back(group_of(nb::cast<nb::dict>(entry), own));
      others.append(own);
    } else {
      plain.params.push_back(parameter_of(entry));
      has_tensors = true;
    }
  }
  if (has_tensors && !groups.empty()) throw nb::type_error("params are tensors or dicts, not both");
  if (groups.empty()) {
    groups.push_back(std::move(plain));
    others.append(nb::dict());
  }
  return groups;
}

/// The base for optimisers that are written in Python, which override step(). Schedules can change the rates.
class OwnOptimizer : public Optimizer {
 public:
  OwnOptimizer(const std::string& name, std::vector<ParamGroup> groups, const ParamGroup& defaults)
      : Optimizer({name, [](const ParamGroup&) {}, [](const ParamGroup&) { return std::vector<std::string>(); },
                   [name](const Range&) { refuse_step(name); }},
                  std::move(groups), defaults) {}

 private:
  [[noreturn]] static void refuse_step(const std::string& name) {
    throw Error(ErrorCode::invalid_argument, "[" + name + "] the class defines no step()");
  }
};

void construct_own(nb::pointer_and_handle<Optimizer> self, const nb::object& params, const nb::dict& defaults) {
  if (!nb::inst_python_derived(self.h)) throw nb::type_error("Optimizer is a base: derive a class that defines step()");
  const nb::object parts = nb::module_::import_("crisol.optim").attr("_prepare")(self.h, params, defaults);
  const std::string name = nb::cast<std::string>(self.h.type().attr("__name__"));
  nb::list others;  // Empty dicts, because _prepare() keeps the entries.
  nb::dict other;
  unlocked([&, groups = groups_of(parts[0], others), settings = group_of(nb::cast<nb::dict>(parts[1]), other)] {
    new (static_cast<void*>(self.p)) OwnOptimizer(name, groups, settings);
  });
}

int clear_optimizer(PyObject* self) { return clear_attributes(self); }

PyType_Slot optimizer_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_optimizer)},
                                 {Py_tp_clear, reinterpret_cast<void*>(&clear_optimizer)},
                                 {0, nullptr}};

void bind_base(nb::module_& m) {
  nb::class_<Optimizer, OwnOptimizer>(
      m, "Optimizer", nb::dynamic_attr(), nb::is_weak_referenceable(), nb::type_slots(optimizer_slots),
      "The base of the optimisers. An optimiser moves its parameters into one block of memory, so a step is one "
      "launch. Move a model to its device before its optimiser is made.\n\n"
      "A class of your own gives its parameters and the defaults of their settings, among them \"lr\", to "
      "super().__init__(), and defines step(). `param_groups`, `state[p]` and `state_dict()` work as in PyTorch. A "
      "state is a tensor or a number.")
      .def("__init__", &construct_own, "params"_a, "defaults"_a,
           nb::sig("def __init__(self, params: collections.abc.Iterable[Tensor] | "
                   "collections.abc.Iterable[dict[str, typing.Any]], defaults: dict[str, typing.Any]) -> None"))
      .def(
          "zero_grad", [](Optimizer& self, bool set_to_none) { self.zero_grad(set_to_none); }, "set_to_none"_a = true,
          Unlocked(),
          "Discards the gradients. The next backward() starts from zero, in a new tensor. With set_to_none=False the "
          "gradients stay the same tensors and become zeros.")
      .def(
          "step",
          [](Optimizer& self, const nb::object& closure) {
            nb::object loss = closure.is_none() ? nb::none() : closure();
            const auto& all = self.parameters();
            // As in PyTorch, a step without gradients does nothing.
            if (std::any_of(all.begin(), all.end(), [](const Tensor& p) { return p.grad().defined(); }))
              unlocked([&] { self.step(); });
            return loss;
          },
          "closure"_a = nb::none(),
          "Updates every parameter that got a gradient since zero_grad(). A closure computes the loss before, and "
          "its result is returned.")
      .def("_group_count", [](const Optimizer& self) { return self.param_groups().size(); })
      .def("_parameters",
           [](const Optimizer& self, std::size_t i) { return list_of_parameters(self.param_groups().at(i)); })
      .def("_default_settings", [](const Optimizer& self) { return dict_of_settings(self.defaults()); })
      .def("_group", [](const Optimizer& self, std::size_t i) { return dict_of_settings(self.param_groups().at(i)); })
      .def("_set_group",
           [](Optimizer& self, std::size_t i, const nb::dict& settings) {
             nb::dict others;
             self.set_param_group(i, group_of(settings, others));
             return others;
           })
      .def("_add_param_group",
           [](Optimizer& self, const nb::dict& group) {
             nb::dict others;
             unlocked([&, g = group_of(group, others)] { self.add_param_group(g); });
             return others;
           })
      .def("_set_param_groups",
           [](Optimizer& self, const nb::list& groups) {
             nb::list others;
             std::vector<ParamGroup> all;
             if (nb::len(groups) > 0) all = groups_of(groups, others);
             unlocked([&] { self.set_param_groups(std::move(all)); });
             return others;
           })
      .def("_state_dict", &Optimizer::state_dict, Unlocked())
      .def(
          "_load_state_dict", [](Optimizer& self, const NamedTensors& state) { self.load_state_dict(state); },
          Unlocked());
}

/// Binds the class of an optimiser. `make` reads its defaults from the keyword arguments.
template <class O>
nb::class_<O, Optimizer> bind_optimizer(nb::module_& m, const char* name, const char* text) {
  return nb::class_<O, Optimizer>(m, name, nb::dynamic_attr(), nb::type_slots(optimizer_slots), text);
}

void refuse_differentiable(bool differentiable) {
  if (differentiable) throw nb::value_error("differentiable=True: a step is not recorded for gradients");
}

template <class O, class Options>
void make(const nb::pointer_and_handle<O>& self, const nb::object& params, const Options& options) {
  nb::list others;
  const std::vector<ParamGroup> groups = groups_of(params, others);
  unlocked([&] { new (static_cast<void*>(self.p)) O(groups, options); });
  self.h.attr("_own_entries") = others;
}

template <class O, class Options>
void bind_adam(nb::module_& m, const char* name, double weight_decay, const char* text) {
  bind_optimizer<O>(m, name, text)
      .def(
          "__init__",
          [](const nb::pointer_and_handle<O>& self, const nb::object& params, double lr,
             std::pair<double, double> betas, double eps, double decay, Truth amsgrad, Truth maximize, nb::handle,
             nb::handle, bool differentiable, nb::handle, bool decoupled) {
            refuse_differentiable(differentiable);
            if (decoupled) throw nb::value_error("decoupled_weight_decay=True is AdamW");
            make(self, params, Options{lr, betas.first, betas.second, eps, decay, amsgrad, maximize});
          },
          "params"_a, "lr"_a = 1e-3, "betas"_a = std::make_pair(0.9, 0.999), "eps"_a = 1e-8,
          "weight_decay"_a = weight_decay, "amsgrad"_a = false, nb::kw_only(), "maximize"_a = false,
          "foreach"_a = nb::none(), "capturable"_a = false, "differentiable"_a = false, "fused"_a = nb::none(),
          "decoupled_weight_decay"_a = false);
}

void bind_methods(nb::module_& m) {
  bind_optimizer<optim::SGD>(m, "SGD", "Stochastic gradient descent, with momentum: p -= lr · g.")
      .def(
          "__init__",
          [](const nb::pointer_and_handle<optim::SGD>& self, const nb::object& params, double lr, double momentum,
             double dampening, double decay, Truth nesterov, Truth maximize, nb::handle, bool differentiable,
             nb::handle) {
            refuse_differentiable(differentiable);
            make(self, params, optim::SGDOptions{lr, momentum, dampening, decay, nesterov, maximize});
          },
          "params"_a, "lr"_a = 1e-3, "momentum"_a = 0.0, "dampening"_a = 0.0, "weight_decay"_a = 0.0,
          "nesterov"_a = false, nb::kw_only(), "maximize"_a = false, "foreach"_a = nb::none(),
          "differentiable"_a = false, "fused"_a = nb::none());
  bind_adam<optim::Adam, optim::AdamOptions>(m, "Adam", 0, "Adam: Kingma and Ba 2015.");
  bind_adam<optim::AdamW, optim::AdamWOptions>(m, "AdamW", 1e-2,
                                               "Adam with decoupled weight decay: Loshchilov and Hutter 2019.");
  bind_optimizer<optim::RMSprop>(m, "RMSprop", "RMSprop: divides gradients by the root of their mean square.")
      .def(
          "__init__",
          [](const nb::pointer_and_handle<optim::RMSprop>& self, const nb::object& params, double lr, double alpha,
             double eps, double decay, double momentum, Truth centered, nb::handle, nb::handle, Truth maximize,
             bool differentiable) {
            refuse_differentiable(differentiable);
            make(self, params, optim::RMSpropOptions{lr, alpha, eps, decay, momentum, centered, maximize});
          },
          "params"_a, "lr"_a = 1e-2, "alpha"_a = 0.99, "eps"_a = 1e-8, "weight_decay"_a = 0.0, "momentum"_a = 0.0,
          "centered"_a = false, "capturable"_a = false, "foreach"_a = nb::none(), "maximize"_a = false,
          "differentiable"_a = false);
  bind_optimizer<optim::Lion>(m, "Lion", "Lion: Chen et al. 2023. Its state is half as large as Adam's.")
      .def(
          "__init__",
          [](const nb::pointer_and_handle<optim::Lion>& self, const nb::object& params, double lr,
             std::pair<double, double> betas, double decay, bool maximize) {
            make(self, params, optim::LionOptions{lr, betas.first, betas.second, decay, maximize});
          },
          "params"_a, "lr"_a = 1e-4, "betas"_a = std::make_pair(0.9, 0.99), "weight_decay"_a = 0.0, nb::kw_only(),
          "maximize"_a = false);
}

void bind_average(nb::module_& m) {
  using optim::EMA;
  nb::class_<EMA>(m, "EMA",
                  "The moving average of parameters: average = decay · average + (1 - decay) · parameter. Make the "
                  "optimiser first, and call update() after each step.")
      .def(
          "__init__",
          [](EMA* self, const nb::object& parameters, double decay) {
            unlocked([&, p = tensors_of(parameters)] { new (self) EMA(p, {decay}); });
          },
          "parameters"_a, "decay"_a = 0.999)
      .def("update", &EMA::update, Unlocked(), "Updates the averages with the values of the parameters.")
      .def("apply", &EMA::apply, Unlocked(), "Gives the parameters the values of the averages.")
      .def("restore", &EMA::restore, Unlocked(), "Gives the parameters back the values that they had before apply().")
      .def("averages", &EMA::averages, "The averages, in the order of the parameters.")
      .def("state_dict", &EMA::state_dict, Unlocked(), "The averages and the count of updates, by name.")
      .def("load_state_dict", &EMA::load_state_dict, "state_dict"_a, Unlocked(), "Restores a state.");
}

void bind_scaler(nb::module_& m) {
  using optim::GradScaler;
  nb::class_<GradScaler>(m, "GradScaler", "The scale of a loss. crisol.amp.GradScaler uses it.")
      .def(
          "__init__",
          [](GradScaler* self, double init_scale, double growth, double backoff, std::int64_t interval,
             const std::optional<Device>& device) {
            unlocked([&] {
              new (self) GradScaler({init_scale, growth, backoff, interval}, device.value_or(Device()));
            });
          },
          "init_scale"_a, "growth_factor"_a, "backoff_factor"_a, "growth_interval"_a, "device"_a.none())
      .def("scale", &GradScaler::scale, "loss"_a, Unlocked())
      .def("unscale_", &GradScaler::unscale_, "optimizer"_a, Unlocked())
      .def("step", &GradScaler::step, "optimizer"_a, Unlocked())
      .def("update", static_cast<void (GradScaler::*)()>(&GradScaler::update), Unlocked())
      .def("update", static_cast<void (GradScaler::*)(double)>(&GradScaler::update), "new_scale"_a, Unlocked())
      .def(
          "overflow",
          [](const GradScaler& self, const Optimizer& optimizer) {
            const Tensor overflow = self.overflow(optimizer);
            return overflow.defined() ? std::optional(overflow) : std::nullopt;
          },
          "optimizer"_a)
      .def("get_scale", &GradScaler::get_scale, Unlocked())
      .def_prop_ro("device", &GradScaler::device)
      .def_prop_rw("growth_factor", &GradScaler::get_growth_factor, &GradScaler::set_growth_factor)
      .def_prop_rw("backoff_factor", &GradScaler::get_backoff_factor, &GradScaler::set_backoff_factor)
      .def_prop_rw("growth_interval", &GradScaler::get_growth_interval, &GradScaler::set_growth_interval)
      .def("state_dict", &GradScaler::state_dict, Unlocked())
      .def("load_state_dict", &GradScaler::load_state_dict, "state_dict"_a, Unlocked());
}

}  // namespace

void bind_optim(nb::module_& extension) {
  nb::module_ m = extension.def_submodule("_optim", "Optimisers.");
  bind_base(m);
  bind_methods(m);
  bind_average(m);
  bind_scaler(m);
  using ClipNorm = Tensor (*)(const std::vector<Tensor>&, double, double, bool);
  m.def("_clip_grad_norm", static_cast<ClipNorm>(&optim::clip_grad_norm), "parameters"_a, "max_norm"_a, "norm_type"_a,
        "error_if_nonfinite"_a, Unlocked());
  m.def("_clip_grad_value", &optim::clip_grad_value, "parameters"_a, "clip_value"_a, Unlocked());
}

}  // namespace crisol::python
