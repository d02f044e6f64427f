// The scale of a loss: gradients are divided by it, and it grows and shrinks, without a wait.
#include <cmath>

#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "ops/optim/optimizer_launch.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

constexpr const char* source = "optim/grad_scale.cl";
constexpr std::int64_t scale_size = 2;

}  // namespace

void set_skip(const Tensor& hyper, const Tensor& value) {
  check_control("set_skip", {"hyper", hyper}, hyper.device(), hyper_size, hyper.dtype());
  const Tensor skip = make_view(hyper, {1}, {1}, hyper.offset() + hyper_size - 1);
  value.defined() ? copy_into(skip, value) : fill_into(skip, 0);
}

void unscale(const Tensor& gradients, const Tensor& scale, const Tensor& overflow) {
  constexpr const char* op = "unscale";
  require_floating(op, "the gradients", gradients);
  check_flat(op, {"the gradients", gradients, true}, {});
  check_control(op, {"scale", scale}, gradients.device(), scale_size);
  check_control(op, {"overflow", overflow}, gradients.device(), 1);
  if (!computes_in_f32(gradients.dtype())) {
    const Tensor wrong = cast(reshape(any(logical_not(isfinite(gradients))), {1}), overflow.dtype());
    const Tensor found = maximum(overflow, wrong);
    copy_into(gradients, div(gradients, select(scale, 0, 0)));
    return copy_into(overflow, found);
  }
  runtime::DeviceState& device = state_of(gradients);
  runtime::launch(device, step_kernel(device, source, "grad_unscale", gradients), step_range(device, gradients.numel()),
                  out(gradients), in(scale), out(overflow), gradients.numel());
}

void update_scale(const Tensor& scale, const Tensor& overflow, const ScaleRule& rule) {
  constexpr const char* op = "update_scale";
  check_control(op, {"scale", scale}, scale.device(), scale_size);
  check_control(op, {"overflow", overflow}, scale.device(), 1);
  runtime::DeviceState& device = state_of(scale);
  runtime::launch(device, step_kernel(device, source, "grad_scale_update"), {{1}, {1}}, out(scale), out(overflow),
                  static_cast<float>(rule.growth_factor), static_cast<float>(rule.backoff_factor),
                  static_cast<float>(rule.growth_interval));
}

}  // namespace crisol::ops
