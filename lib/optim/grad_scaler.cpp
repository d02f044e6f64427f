#include "crisol/optim/grad_scaler.h"

#include <cmath>
#include <map>

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/elementwise.h"
#include "crisol/grad_mode.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/optimizer.h"
#include "optim/exact.h"
#include "optim/flat_parts.h"
#include "tensor/impl.h"
#include "tensor/named_tensors.h"

namespace crisol::optim {

namespace {

constexpr const char* op = "GradScaler";

/// Whether a gradient may be divided by a scale. Gradients of f16 have overflows and zeros that no division undoes.
constexpr bool is_scalable(DType dtype) noexcept { return is_floating(dtype) && dtype != DType::f16; }

void check(const GradScalerOptions& o) {
  require(o.init_scale > 0 && std::isfinite(o.init_scale), op, "the scale is ", o.init_scale,
          ", it must be positive and finite");
  require(o.growth_factor > 1, op, "growth_factor is ", o.growth_factor, ", it must be above 1");
  require(o.backoff_factor > 0 && o.backoff_factor < 1, op, "backoff_factor is ", o.backoff_factor,
          ", it must be between 0 and 1");
  require(o.growth_interval > 0 && o.growth_interval <= (1 << 24), op, "growth_interval is ", o.growth_interval,
          ", it must be in 1 … 2^24");
}

}  // namespace

struct GradScaler::Impl {
  /// What was done with an optimiser since the last update.
  struct Progress {
    Tensor overflow;  ///< f32 of shape (1).
    bool is_unscaled = false, is_stepped = false;
  };

  GradScalerOptions options;
  Tensor scale;  ///< The scale, and the number of steps since it changed.
  std::map<const Optimizer*, Progress> optimizers;

  Tensor value() const { return make_view(scale, {}, {}, scale.offset()); }
  void set(double value, std::int64_t tracker) {
    ops::copy_into(
        scale, from_vector(std::vector<float>{static_cast<float>(value), static_cast<float>(tracker)}, scale.device()));
  }
  void change(const GradScalerOptions& changed) {
    check(changed);
    options = changed;
  }
};

GradScaler::GradScaler(const GradScalerOptions& options, Device device)
    : impl_(std::make_unique<Impl>(Impl{options, {}, {}})) {
  check(options);
  if (!options.enabled) return;
  impl_->scale = from_vector(std::vector<float>{static_cast<float>(options.init_scale), 0}, device);
}

GradScaler::~GradScaler() = default;

Tensor GradScaler::scale(const Tensor& loss) const {
  if (!is_enabled()) return loss;
  require(loss.defined() && is_floating(loss.dtype()), op,
          "scale: the loss must be a tensor of floating-point numbers");
  return loss.to(promote_types(loss.dtype(), DType::f32)) * impl_->value();
}

void GradScaler::unscale_(Optimizer& optimizer) {
  if (!is_enabled()) return;
  Impl::Progress& progress = impl_->optimizers[&optimizer];
  require(!progress.is_stepped, op, "unscale_: the optimiser's step() was already called since the last update()");
  require(!progress.is_unscaled, op,
          "unscale_: the optimiser's gradients were already unscaled since the last update()");
  const std::vector<Tensor> gradients = flat_gradients(optimizer.parameters());
  for (const Tensor& gradient : gradients)
    require(is_scalable(gradient.dtype()), op, "unscale_: a gradient is ", gradient.dtype(), ", it must be ",
            TypesThat{is_scalable}, ": keep the parameters in f32, and compute with an Autocast");
  if (!progress.overflow.defined()) progress.overflow = zeros({1}, DType::f32, impl_->scale.device());
  for (const Tensor& gradient : gradients) ops::unscale(gradient, impl_->scale, progress.overflow);
  progress.is_unscaled = true;
}

void GradScaler::step(Optimizer& optimizer) {
  if (!is_enabled()) return optimizer.step();
  const auto known = impl_->optimizers.find(&optimizer);
  require(known == impl_->optimizers.end() || !known->second.is_stepped, op,
          "step: it was already called for this optimiser since the last update()");
  if (known == impl_->optimizers.end() || !known->second.is_unscaled) unscale_(optimizer);
  Impl::Progress& progress = impl_->optimizers[&optimizer];
  optimizer.step_unless(progress.overflow);
  progress.is_stepped = true;
}

void GradScaler::update() {
  if (!is_enabled()) return;
  Tensor overflow;
  for (const auto& [optimizer, progress] : impl_->optimizers)
    if (progress.is_unscaled) {
      if (overflow.defined()) ops::copy_into(progress.overflow, (overflow + progress.overflow).detach());
      overflow = progress.overflow;
    }
  require(overflow.defined(), op, "update: no optimiser's gradients were unscaled since the last update()");
  const GradScalerOptions& o = impl_->options;
  ops::update_scale(impl_->scale, overflow, {o.growth_factor, o.backoff_factor, o.growth_interval});
  for (auto& [optimizer, progress] : impl_->optimizers) {
    if (progress.is_unscaled && !progress.overflow.shares_storage_with(overflow)) ops::fill_into(progress.overflow, 0);
    progress.is_unscaled = progress.is_stepped = false;
  }
}

void GradScaler::update(double new_scale) {
  if (!is_enabled()) return;
  GradScalerOptions changed = impl_->options;
  changed.init_scale = new_scale;
  check(changed);
  ops::fill_into(impl_->value(), new_scale);
  for (auto& [optimizer, progress] : impl_->optimizers) {
    if (progress.overflow.defined()) ops::fill_into(progress.overflow, 0);
    progress.is_unscaled = progress.is_stepped = false;
  }
}

Tensor GradScaler::overflow(const Optimizer& optimizer) const {
  const auto known = impl_->optimizers.find(&optimizer);
  return known == impl_->optimizers.end() || !known->second.is_unscaled ? Tensor() : known->second.overflow;
}

double GradScaler::get_scale() const { return is_enabled() ? impl_->value().item<double>() : 1; }

bool GradScaler::is_enabled() const noexcept { return impl_->options.enabled; }

Device GradScaler::device() const { return is_enabled() ? impl_->scale.device() : Device(); }

double GradScaler::get_growth_factor() const noexcept { return impl_->options.growth_factor; }

void GradScaler::set_growth_factor(double factor) {
  GradScalerOptions changed = impl_->options;
  changed.growth_factor = factor;
  impl_->change(changed);
}

double GradScaler::get_backoff_factor() const noexcept { return impl_->options.backoff_factor; }

void GradScaler::set_backoff_factor(double factor) {
  GradScalerOptions changed = impl_->options;
  changed.backoff_factor = factor;
  impl_->change(changed);
}

std::int64_t GradScaler::get_growth_interval() const noexcept { return impl_->options.growth_interval; }

void GradScaler::set_growth_interval(std::int64_t interval) {
  GradScalerOptions changed = impl_->options;
  changed.growth_interval = interval;
  impl_->change(changed);
}

NamedTensors GradScaler::state_dict() const {
  NamedTensors state;
  if (!is_enabled()) return state;
  const GradScalerOptions& o = impl_->options;
  const Device device = impl_->scale.device();
  const std::vector<float> now = impl_->scale.to_vector<float>();
  state.emplace_back("scale", exact_tensor(now[0], device));
  state.emplace_back("growth_tracker", whole_number(static_cast<std::int64_t>(now[1]), device));
  state.emplace_back("growth_factor", exact_tensor(o.growth_factor, device));
  state.emplace_back("backoff_factor", exact_tensor(o.backoff_factor, device));
  state.emplace_back("growth_interval", whole_number(o.growth_interval, device));
  return state;
}

void GradScaler::load_state_dict(const NamedTensors& state) {
  const std::map<std::string, Tensor> given = match_state("load_state_dict", state_dict(), state);
  if (!is_enabled()) return;
  const GradScalerOptions changed{exact_value(given.at("scale")), exact_value(given.at("growth_factor")),
                                  exact_value(given.at("backoff_factor")),
                                  given.at("growth_interval").item<std::int64_t>()};
  const auto tracker = given.at("growth_tracker").item<std::int64_t>();
  require(tracker >= 0, "load_state_dict", "growth_tracker is ", tracker);
  impl_->change(changed);
  impl_->set(changed.init_scale, tracker);
}

}  // namespace crisol::optim
