#include "callback.h"

namespace crisol::python {

void Kept::release(PyObject* object) noexcept {
  if (Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire lock;
  Py_DECREF(object);
}

void CallbackError::raise() const {
  const nb::handle value = value_.get();
  PyErr_SetObject(value.type().ptr(), value.ptr());
}

}  // namespace crisol::python
