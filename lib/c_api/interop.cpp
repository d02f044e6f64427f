// C handles in C++ programs.
#include "crisol/c/interop.h"

#include "c_api/handles.h"

namespace crisol::c {

crisol_tensor* handle_of(const Tensor& x) { return new crisol_tensor{x}; }
Tensor tensor_of(const crisol_tensor* handle) { return c_api::tensor_of(handle, "tensor_of", "the handle"); }
crisol_status status_of_exception() noexcept { return c_api::status_of_exception(); }
nn::Module& module_of(crisol_model* handle) { return *c_api::need(handle, "module_of", "the handle").module; }
optim::Optimizer& optimizer_of(crisol_optimizer* handle) {
  return *c_api::need(handle, "optimizer_of", "the handle").value;
}

}  // namespace crisol::c
