// Learning-rate schedules with PyTorch's names of arguments. The attributes of a schedule hold its optimiser, its
// functions and other schedules. So the garbage collector sees these objects.
#include <nanobind/stl/shared_ptr.h>

#include "arguments.h"
#include "bindings.h"
#include "callback.h"
#include "option_casters.h"

namespace crisol::python {

namespace {

using namespace optim;

/// Keeps an object in an attribute of a schedule.
void keep(nb::handle schedule, const char* name, nb::handle object) {
  nb::cast<nb::dict>(schedule.attr("__dict__"))[name] = object;
}

struct KeepOptimizer {
  static void precall(PyObject**, std::size_t, nb::detail::cleanup_list*) {}
  template <std::size_t count>
  static void postcall(PyObject** arguments, std::integral_constant<std::size_t, count>, nb::handle) {
    keep(arguments[0], "_optimizer", arguments[1]);
  }
};
using Keep = nb::call_policy<KeepOptimizer>;
using Counts = std::vector<std::int64_t>;

/// The factor as a C++ function. The schedule's attributes keep the Python function.
LambdaLR::Factor factor_of(nb::handle function) {
  return [function](std::int64_t steps) { return with_python([&] { return nb::cast<double>(function(steps)); }); };
}

/// PyTorch's last_epoch: a number of steps before the first of this schedule.
void begin_after(LRScheduler& schedule, std::int64_t last_epoch) {
  if (last_epoch >= 0) schedule.set_steps(last_epoch + 1);
}

/// A constructor with the arguments of S and last_epoch.
template <class S, class... Args>
auto made() {
  return [](S* self, Optimizer& optimizer, Args... args, std::int64_t last_epoch) {
    new (self) S(optimizer, std::move(args)...);
    begin_after(*self, last_epoch);
  };
}

void make_lambda(nb::pointer_and_handle<LambdaLR> self, Optimizer& optimizer, const nb::object& lr_lambda,
                 std::int64_t last_epoch) {
  auto* const place = static_cast<void*>(self.p);
  if (!nb::isinstance<nb::list>(lr_lambda) && !nb::isinstance<nb::tuple>(lr_lambda)) {
    new (place) LambdaLR(optimizer, factor_of(lr_lambda));
    keep(self.h, "_functions", nb::make_tuple(lr_lambda));
    return begin_after(*self.p, last_epoch);
  }
  const nb::tuple functions(lr_lambda);
  std::vector<LambdaLR::Factor> factors;
  for (const nb::handle function : functions) factors.push_back(factor_of(function));
  new (place) LambdaLR(optimizer, factors);
  keep(self.h, "_functions", functions);
  begin_after(*self.p, last_epoch);
}

void make_sequential(nb::pointer_and_handle<SequentialLR> self, Optimizer& optimizer, const nb::object& schedulers,
                     Counts milestones, std::int64_t last_epoch) {
  const nb::tuple kept(schedulers);
  std::vector<std::shared_ptr<LRScheduler>> parts;
  for (const nb::handle part : kept) parts.emplace_back(std::shared_ptr<void>(), nb::cast<LRScheduler*>(part));
  new (static_cast<void*>(self.p)) SequentialLR(optimizer, std::move(parts), std::move(milestones));
  keep(self.h, "_schedulers", kept);
  begin_after(*self.p, last_epoch);
}

void make_one_cycle(OneCycleLR* self, Optimizer& optimizer, const std::variant<double, std::vector<double>>& max_lr,
                    std::optional<std::int64_t> total_steps, std::optional<std::int64_t> epochs,
                    std::optional<std::int64_t> steps_per_epoch, double pct_start, const std::string& anneal_strategy,
                    bool cycle_momentum, double base_momentum, double max_momentum, double div_factor,
                    double final_div_factor, bool three_phase, std::int64_t last_epoch) {
  if (anneal_strategy != "cos" && anneal_strategy != "linear")
    throw nb::value_error(("anneal_strategy is 'cos' or 'linear', not '" + anneal_strategy + "'").c_str());
  if (!total_steps && !(epochs && steps_per_epoch))
    throw nb::value_error("OneCycleLR needs total_steps, or epochs and steps_per_epoch");
  const std::int64_t steps = total_steps ? *total_steps : *epochs * *steps_per_epoch;
  const bool linear = anneal_strategy == "linear";
  const OneCycleOptions options{pct_start,     div_factor,   final_div_factor, cycle_momentum,
                                base_momentum, max_momentum, linear,           three_phase};
  if (const double* one = std::get_if<double>(&max_lr))
    new (self) OneCycleLR(optimizer, *one, steps, options);
  else
    new (self) OneCycleLR(optimizer, std::get<std::vector<double>>(max_lr), steps, options);
  begin_after(*self, last_epoch);
}

template <class S>
nb::class_<S, LRScheduler> schedule(nb::module_& m, const char* name, const char* text) {
  return nb::class_<S, LRScheduler>(m, name, nb::dynamic_attr(), text);
}

void bind_schedule_base(nb::module_& m) {
  nb::class_<LRScheduler>(m, "LRScheduler", nb::dynamic_attr(),
                          "The base of the schedules. Make a schedule before the first step of the optimiser, and "
                          "call step() after each step, or after each epoch.")
      .def(
          "step",
          [](LRScheduler& self, std::optional<std::int64_t> epoch) { epoch ? self.set_steps(*epoch) : self.step(); },
          "epoch"_a = nb::none(),
          "Changes the rates for the next step. With an epoch, sets the rates of the formula after so many steps.")
      .def_prop_rw("last_epoch", &LRScheduler::steps, &LRScheduler::set_steps, "The number of calls of step().")
      .def("get_last_lr", &LRScheduler::get_last_lr, "The rates that this schedule set last, one for each group.")
      .def("state_dict", &LRScheduler::state_dict,
           "The number of steps, the base rates and the present rates, as tensors by name.")
      .def("load_state_dict", &LRScheduler::load_state_dict, "state_dict"_a, "Continues from a state.");
}

void bind_steps(nb::module_& m) {
  schedule<LambdaLR>(m, "LambdaLR", "base_lr · f(steps), with one function for all groups or a list for each.")
      .def("__init__", &make_lambda, "optimizer"_a, "lr_lambda"_a, "last_epoch"_a = -1, Keep());
  schedule<StepLR>(m, "StepLR", "base_lr · gamma^floor(steps / step_size).")
      .def("__init__", made<StepLR, std::int64_t, double>(), "optimizer"_a, "step_size"_a, "gamma"_a = 0.1,
           "last_epoch"_a = -1, Keep());
  schedule<MultiStepLR>(m, "MultiStepLR", "base_lr · gamma^n, where n milestones are at most `steps`.")
      .def("__init__", made<MultiStepLR, Counts, double>(), "optimizer"_a, "milestones"_a, "gamma"_a = 0.1,
           "last_epoch"_a = -1, Keep());
  schedule<ExponentialLR>(m, "ExponentialLR", "base_lr · gamma^steps.")
      .def("__init__", made<ExponentialLR, double>(), "optimizer"_a, "gamma"_a, "last_epoch"_a = -1, Keep());
  schedule<ConstantLR>(m, "ConstantLR", "base_lr · factor for total_iters steps, then base_lr.")
      .def("__init__", made<ConstantLR, double, std::int64_t>(), "optimizer"_a, "factor"_a = 1.0 / 3,
           "total_iters"_a = 5, "last_epoch"_a = -1, Keep());
  schedule<LinearLR>(m, "LinearLR", "Along a line from base_lr · start_factor to base_lr · end_factor.")
      .def("__init__", made<LinearLR, double, double, std::int64_t>(), "optimizer"_a, "start_factor"_a = 1.0 / 3,
           "end_factor"_a = 1.0, "total_iters"_a = 5, "last_epoch"_a = -1, Keep());
}

void bind_curves(nb::module_& m) {
  schedule<CosineAnnealingLR>(m, "CosineAnnealingLR",
                              "eta_min + (base_lr - eta_min) · (1 + cos(π · steps / T_max)) / 2.")
      .def("__init__", made<CosineAnnealingLR, std::int64_t, double>(), "optimizer"_a, "T_max"_a, "eta_min"_a = 0.0,
           "last_epoch"_a = -1, Keep());
  schedule<CosineAnnealingWarmRestarts>(m, "CosineAnnealingWarmRestarts",
                                        "Repeats CosineAnnealingLR: T_0 steps, then T_mult times as many each time.")
      .def("__init__", made<CosineAnnealingWarmRestarts, std::int64_t, std::int64_t, double>(), "optimizer"_a, "T_0"_a,
           "T_mult"_a = 1, "eta_min"_a = 0.0, "last_epoch"_a = -1, Keep());
  schedule<OneCycleLR>(m, "OneCycleLR", "Up along a cosine or a line to max_lr, then down: Smith and Topin 2018.")
      .def("__init__", &make_one_cycle, "optimizer"_a, "max_lr"_a, "total_steps"_a = nb::none(),
           "epochs"_a = nb::none(), "steps_per_epoch"_a = nb::none(), "pct_start"_a = 0.3, "anneal_strategy"_a = "cos",
           "cycle_momentum"_a = true, "base_momentum"_a = 0.85, "max_momentum"_a = 0.95, "div_factor"_a = 25.0,
           "final_div_factor"_a = 1e4, "three_phase"_a = false, "last_epoch"_a = -1, Keep());
  schedule<SequentialLR>(m, "SequentialLR", "One schedule after another: the next begins at each milestone.")
      .def("__init__", &make_sequential, "optimizer"_a, "schedulers"_a, "milestones"_a, "last_epoch"_a = -1, Keep());
}

}  // namespace

void bind_schedules(nb::module_& m) {
  bind_schedule_base(m);
  bind_steps(m);
  bind_curves(m);
  nb::class_<ReduceLROnPlateau>(m, "ReduceLROnPlateau", nb::dynamic_attr(),
                                "Lowers the rates when a metric no longer improves.")
      .def(
          "__init__",
          [](ReduceLROnPlateau* self, Optimizer& optimizer, const std::string& mode, double factor,
             std::int64_t patience, double threshold, const std::string& threshold_mode, std::int64_t cooldown,
             double min_lr, double eps) {
            new (self) ReduceLROnPlateau(optimizer,
                                         {mode, factor, patience, threshold, threshold_mode, cooldown, min_lr, eps});
          },
          "optimizer"_a, "mode"_a = "min", "factor"_a = 0.1, "patience"_a = 10, "threshold"_a = 1e-4,
          "threshold_mode"_a = "rel", "cooldown"_a = 0, "min_lr"_a = 0.0, "eps"_a = 1e-8, Keep())
      .def("step", &ReduceLROnPlateau::step, "metrics"_a, "Call it with the metric after each validation.")
      .def("get_last_lr", &ReduceLROnPlateau::get_last_lr, "The rates of the optimiser's groups.")
      .def_prop_ro("best", &ReduceLROnPlateau::best, "The best metric so far.")
      .def("state_dict", &ReduceLROnPlateau::state_dict, "The state as tensors by name.")
      .def("load_state_dict", &ReduceLROnPlateau::load_state_dict, "state_dict"_a, "Continues from a state.");
}

}  // namespace crisol::python
