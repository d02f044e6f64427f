// Autocast and the scale of a loss, for C.
#include <memory>
#include <utility>

#include "base/thread_context.h"
#include "c_api/handles.h"
#include "crisol/autocast.h"
#include "crisol/optim/grad_scaler.h"

using namespace crisol;
using namespace crisol::c_api;

crisol_status crisol_set_autocast(int enabled, crisol_dtype dtype, int* before) {
  return guarded([&] {
    const DType type = dtype_of(dtype, "set_autocast");
    { const Autocast checked(type, enabled != 0); }
    // A program in C has no scope at whose end kept conversions could be dropped.
    const AutocastMode old = std::exchange(thread_context().grad.autocast, {enabled != 0, type, false});
    if (before != nullptr) *before = old.enabled ? 1 : 0;
  });
}

crisol_status crisol_grad_scaler_create(crisol_device device, double init_scale, double growth_factor,
                                        double backoff_factor, int64_t growth_interval, crisol_grad_scaler** result) {
  constexpr const char* op = "grad_scaler_create";
  return guarded([&] {
    crisol_grad_scaler*& place = need(result, op, "result");
    const optim::GradScalerOptions options{init_scale, growth_factor, backoff_factor, growth_interval};
    place = new crisol_grad_scaler{std::make_unique<optim::GradScaler>(options, device_of(device, op))};
  });
}

void crisol_grad_scaler_destroy(crisol_grad_scaler* scaler) { delete scaler; }

crisol_status crisol_grad_scaler_scale(const crisol_grad_scaler* scaler, const crisol_tensor* loss,
                                       crisol_tensor** result) {
  constexpr const char* op = "grad_scaler_scale";
  return give(result, op, [&] { return need(scaler, op, "scaler").value->scale(tensor_of(loss, op, "loss")); });
}

crisol_status crisol_grad_scaler_unscale(crisol_grad_scaler* scaler, crisol_optimizer* optimizer) {
  constexpr const char* op = "grad_scaler_unscale";
  return guarded([&] { need(scaler, op, "scaler").value->unscale_(*need(optimizer, op, "optimizer").value); });
}

crisol_status crisol_grad_scaler_step(crisol_grad_scaler* scaler, crisol_optimizer* optimizer) {
  constexpr const char* op = "grad_scaler_step";
  return guarded([&] { need(scaler, op, "scaler").value->step(*need(optimizer, op, "optimizer").value); });
}

crisol_status crisol_grad_scaler_update(crisol_grad_scaler* scaler) {
  return guarded([&] { need(scaler, "grad_scaler_update", "scaler").value->update(); });
}

crisol_status crisol_grad_scaler_get_scale(const crisol_grad_scaler* scaler, double* result) {
  constexpr const char* op = "grad_scaler_get_scale";
  return guarded([&] { need(result, op, "result") = need(scaler, op, "scaler").value->get_scale(); });
}

crisol_status crisol_grad_scaler_state_dict(const crisol_grad_scaler* scaler, crisol_named_tensors** result) {
  constexpr const char* op = "grad_scaler_state_dict";
  return give(result, op, [&] { return need(scaler, op, "scaler").value->state_dict(); });
}

crisol_status crisol_grad_scaler_load_state_dict(crisol_grad_scaler* scaler, const crisol_named_tensors* state) {
  constexpr const char* op = "grad_scaler_load_state_dict";
  return guarded([&] { need(scaler, op, "scaler").value->load_state_dict(state_of(state, op)); });
}
