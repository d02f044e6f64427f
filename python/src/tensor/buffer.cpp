// The buffer protocol: memoryview(x), bytes(x) and np.asarray(x) read a copy of the elements on the host.
#include <array>

#include "bindings.h"
#include "collector.h"
#include "tensor/host.h"

namespace crisol::python {

namespace {

/// The letters of all types, each as a text. It is empty if the protocol does not have the type.
constexpr char formats[][2]{
#define CRISOL_DTYPE(name, CODE, text, host, kind, digits, exponent, value, opencl, python, format, ...) {format},
#include "crisol/dtypes.def"
};

/// The bytes for sizes and strides of a view. They are stored after the elements of the view's copy.
constexpr std::size_t axes_bytes = 2 * Shape::max_rank * sizeof(Py_ssize_t);

std::size_t rounded_up(std::size_t bytes) {
  return (bytes + alignof(Py_ssize_t) - 1) / alignof(Py_ssize_t) * alignof(Py_ssize_t);
}

void fill(Py_buffer& view, const nb::bytes& copy, const Tensor& x) {
  const std::size_t size = size_of(x.dtype()), bytes = static_cast<std::size_t>(x.numel()) * size;
  char* const at = PyBytes_AsString(copy.ptr());
  auto* const shape = reinterpret_cast<Py_ssize_t*>(at + rounded_up(bytes));
  Py_ssize_t* const strides = shape + Shape::max_rank;
  Py_ssize_t stride = static_cast<Py_ssize_t>(size);
  for (int axis = x.dim() - 1; axis >= 0; --axis) {
    shape[axis] = x.shape()[axis];
    strides[axis] = stride;
    stride *= x.shape()[axis];
  }
  view.buf = at;
  view.len = static_cast<Py_ssize_t>(bytes);
  view.itemsize = static_cast<Py_ssize_t>(size);
  view.readonly = 1;
  view.ndim = x.dim();
  view.format = const_cast<char*>(formats[static_cast<std::size_t>(x.dtype())]);
  view.shape = shape;
  view.strides = strides;
}

// The view shows a copy. A write to the copy would be lost, so the view is read-only. view->obj is the copy, which
// lives as long as somebody holds it. PyTorch releases a view at once and keeps only this object.
int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  try {
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
      PyErr_SetString(PyExc_BufferError, "a tensor gives a copy of its elements, which is read-only");
      return -1;
    }
    const Tensor& x = *nb::inst_ptr<Tensor>(self);
    if (is_recorded(x)) {
      PyErr_SetString(PyExc_BufferError, "a tensor that requires grad gives no buffer: use x.detach()");
      return -1;
    }
    if (*formats[static_cast<std::size_t>(x.dtype())] == '\0') {
      const std::string text = "there are no buffers and NumPy arrays of " + name_in_python(x.dtype());
      PyErr_SetString(PyExc_BufferError, (text + "; convert with .float()").c_str());
      return -1;
    }
    const std::size_t bytes = rounded_up(static_cast<std::size_t>(x.numel()) * size_of(x.dtype())) + axes_bytes;
    nb::bytes copy = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bytes)));
    if (!copy.is_valid()) throw nb::python_error();
    read_elements(x, PyBytes_AsString(copy.ptr()));
    *view = {};
    fill(*view, copy, x);
    if ((flags & PyBUF_FORMAT) != PyBUF_FORMAT) view->format = nullptr;
    view->obj = copy.release().ptr();
    return 0;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  }
  view->obj = nullptr;
  return -1;
}

}  // namespace

PyType_Slot tensor_slots[]{{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
                           {Py_tp_traverse, reinterpret_cast<void*>(&traverse_tensor)},
                           {Py_tp_clear, reinterpret_cast<void*>(&clear_tensor)},
                           {0, nullptr}};

}  // namespace crisol::python
