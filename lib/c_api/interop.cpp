// C handles in C++ programs.
#include "crisol/c/interop.h"

#include "c_api/handles.h"

namespace crisol::c {

crisol_tensor* handle_of(const Tensor& x) { return new crisol_tensor{x}; }
Tensor tensor_of(const crisol_tensor* handle) { return c_api::tensor_of(handle, "tensor_of", "the handle"); }
crisol_status status_of_exception() noexcept { return c_api::status_of_exception(); }

}  // namespace crisol::c
