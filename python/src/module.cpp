// The extension module crisol._crisol.
#include "bindings.h"
#include "programs/topics.h"

namespace crisol::python {

namespace {

/// Throws in a second interpreter: it would share the process' devices, queues and memory pool.
void check_main_interpreter() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw std::runtime_error("crisol works in the main interpreter only, not in a sub-interpreter");
}

}  // namespace

}  // namespace crisol::python

NB_MODULE(_crisol, m) {
  using namespace crisol::python;
  nanobind::set_implicit_cast_warnings(false);  // crisol/_explain.py reports a missing device.
  nanobind::set_leak_warnings(false);           // No warnings at exit: the dtype objects live as long as the process.
  check_main_interpreter();
  m.attr("__version__") = crisol::version();
  bind_errors(m);
  bind_dtypes(m);
  bind_devices(m);
  TensorClass tensor = bind_tensor(m);
  bind_host(m, tensor);
  bind_dlpack(m, tensor);
  bind_indexing(tensor);
  bind_operators(m, tensor);
  bind_pointwise(m, tensor);
  bind_reductions(m, tensor);
  bind_creation(m);
  bind_from_host(m);
  bind_arrange(m, tensor);
  bind_functions(m, tensor);
  bind_linalg(m, tensor);
  bind_select(m, tensor);
  bind_random(m, tensor);
  bind_autograd(m, tensor);
  bind_modules(m);
  bind_functional(m);
  bind_optim(m);
  bind_files(m);
  bind_data(m);
  bind_graphs(m);
  bind_onnx(m);
  bind_fuse(m);
  bind_kernel(m);
  bind_measurements(m);
  explain_calls(m);
}
