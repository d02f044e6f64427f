// Learning-rate schedules for C.
#include <functional>

#include "c_api/handles.h"

using namespace crisol;
using namespace crisol::c_api;

namespace {

/// Gives the caller the schedule that `make` makes for the optimizer. `make` may throw.
template <class Make>
crisol_status give_made(crisol_schedule** result, crisol_optimizer* optimizer, const char* op,
                        const Make& make) noexcept {
  return guarded([&] {
    crisol_schedule*& place = need(result, op, "result");
    place = new crisol_schedule(make(*need(optimizer, op, "optimizer").value));
  });
}

/// The same for a class of schedules and its arguments.
template <class Schedule, class... Arguments>
crisol_status give_schedule(crisol_schedule** result, crisol_optimizer* optimizer, const char* op,
                            const Arguments&... arguments) noexcept {
  return give_made(result, optimizer, op, [&](optim::Optimizer& of) {
    return crisol_schedule{std::make_shared<Schedule>(of, arguments...), nullptr};
  });
}

}  // namespace

crisol_status crisol_lambda_lr(crisol_optimizer* optimizer, double (*factor)(int64_t steps, void* data), void* data,
                               crisol_schedule** result) {
  std::function<double(std::int64_t)> function;
  if (factor != nullptr) function = [factor, data](std::int64_t steps) { return factor(steps, data); };
  return give_schedule<optim::LambdaLR>(result, optimizer, "lambda_lr", function);
}

crisol_status crisol_step_lr(crisol_optimizer* optimizer, int64_t step_size, double gamma, crisol_schedule** result) {
  return give_schedule<optim::StepLR>(result, optimizer, "step_lr", step_size, gamma);
}

crisol_status crisol_multi_step_lr(crisol_optimizer* optimizer, int count, const int64_t* milestones, double gamma,
                                   crisol_schedule** result) {
  constexpr const char* op = "multi_step_lr";
  return give_made(result, optimizer, op, [&](optim::Optimizer& of) {
    return crisol_schedule{
        std::make_shared<optim::MultiStepLR>(of, numbers_of(milestones, count, op, "milestones"), gamma), nullptr};
  });
}

crisol_status crisol_exponential_lr(crisol_optimizer* optimizer, double gamma, crisol_schedule** result) {
  return give_schedule<optim::ExponentialLR>(result, optimizer, "exponential_lr", gamma);
}

crisol_status crisol_constant_lr(crisol_optimizer* optimizer, double factor, int64_t total_iters,
                                 crisol_schedule** result) {
  return give_schedule<optim::ConstantLR>(result, optimizer, "constant_lr", factor, total_iters);
}

crisol_status crisol_linear_lr(crisol_optimizer* optimizer, double start_factor, double end_factor, int64_t total_iters,
                               crisol_schedule** result) {
  return give_schedule<optim::LinearLR>(result, optimizer, "linear_lr", start_factor, end_factor, total_iters);
}

crisol_status crisol_cosine_annealing_lr(crisol_optimizer* optimizer, int64_t t_max, double eta_min,
                                         crisol_schedule** result) {
  return give_schedule<optim::CosineAnnealingLR>(result, optimizer, "cosine_annealing_lr", t_max, eta_min);
}

crisol_status crisol_cosine_annealing_warm_restarts(crisol_optimizer* optimizer, int64_t t_0, int64_t t_mult,
                                                    double eta_min, crisol_schedule** result) {
  return give_schedule<optim::CosineAnnealingWarmRestarts>(result, optimizer, "cosine_annealing_warm_restarts", t_0,
                                                           t_mult, eta_min);
}

crisol_status crisol_one_cycle_lr(crisol_optimizer* optimizer, double max_lr, int64_t total_steps, double pct_start,
                                  int cycle_momentum, crisol_schedule** result) {
  optim::OneCycleOptions options;
  options.pct_start = pct_start;
  options.cycle_momentum = cycle_momentum != 0;
  return give_schedule<optim::OneCycleLR>(result, optimizer, "one_cycle_lr", max_lr, total_steps, options);
}

crisol_status crisol_sequential_lr(crisol_optimizer* optimizer, int count, crisol_schedule* const* schedules,
                                   const int64_t* milestones, crisol_schedule** result) {
  constexpr const char* op = "sequential_lr";
  return give_made(result, optimizer, op, [&](optim::Optimizer& of) {
    require(count > 0 && schedules != nullptr, op, "there are no schedules");
    std::vector<std::shared_ptr<optim::LRScheduler>> parts;
    for (int i = 0; i < count; ++i) {
      parts.push_back(need(schedules[i], op, "a schedule").value);
      require(parts.back() != nullptr, op, "schedule ", i, " takes a metric");
    }
    return crisol_schedule{std::make_shared<optim::SequentialLR>(of, std::move(parts),
                                                                 numbers_of(milestones, count - 1, op, "milestones")),
                           nullptr};
  });
}

crisol_status crisol_reduce_lr_on_plateau(crisol_optimizer* optimizer, int rises, double factor, int64_t patience,
                                          double threshold, int absolute, int64_t cooldown, double min_lr,
                                          crisol_schedule** result) {
  return give_made(result, optimizer, "reduce_lr_on_plateau", [&](optim::Optimizer& of) {
    optim::ReduceLROnPlateauOptions options;
    options.mode = rises != 0 ? "max" : "min";
    options.factor = factor;
    options.patience = patience;
    options.threshold = threshold;
    options.threshold_mode = absolute != 0 ? "abs" : "rel";
    options.cooldown = cooldown;
    options.min_lr = min_lr;
    return crisol_schedule{nullptr, std::make_unique<optim::ReduceLROnPlateau>(of, options)};
  });
}

void crisol_schedule_destroy(crisol_schedule* schedule) { delete schedule; }

crisol_status crisol_schedule_step(crisol_schedule* schedule) {
  constexpr const char* op = "schedule_step";
  return guarded([&] {
    crisol_schedule& own = need(schedule, op, "schedule");
    require(own.value != nullptr, op, "this schedule takes a metric; call crisol_schedule_step_metric");
    own.value->step();
  });
}

crisol_status crisol_schedule_step_metric(crisol_schedule* schedule, double metric) {
  constexpr const char* op = "schedule_step_metric";
  return guarded([&] {
    crisol_schedule& own = need(schedule, op, "schedule");
    require(own.plateau != nullptr, op, "this schedule takes no metric; call crisol_schedule_step");
    own.plateau->step(metric);
  });
}

crisol_status crisol_schedule_last_lr(const crisol_schedule* schedule, int32_t group, double* lr) {
  constexpr const char* op = "schedule_last_lr";
  return guarded([&] {
    const crisol_schedule& own = need(schedule, op, "schedule");
    const std::vector<double> rates = own.value ? own.value->get_last_lr() : own.plateau->get_last_lr();
    require(group >= 0 && static_cast<std::size_t>(group) < rates.size(), op, "group ", group, " of ", rates.size());
    need(lr, op, "lr") = rates[static_cast<std::size_t>(group)];
  });
}

crisol_status crisol_schedule_state_dict(const crisol_schedule* schedule, crisol_named_tensors** result) {
  constexpr const char* op = "schedule_state_dict";
  return give(result, op, [&] {
    const crisol_schedule& own = need(schedule, op, "schedule");
    return own.value ? own.value->state_dict() : own.plateau->state_dict();
  });
}

crisol_status crisol_schedule_load_state_dict(crisol_schedule* schedule, const crisol_named_tensors* state) {
  constexpr const char* op = "schedule_load_state_dict";
  return guarded([&] {
    crisol_schedule& own = need(schedule, op, "schedule");
    if (own.value)
      own.value->load_state_dict(state_of(state, op));
    else
      own.plateau->load_state_dict(state_of(state, op));
  });
}
