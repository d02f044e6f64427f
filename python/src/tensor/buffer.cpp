// The buffer protocol: memoryview(x), bytes(x) and np.asarray(x) read a copy of the elements on the host.
#include <array>
#include <memory>

#include "bindings.h"
#include "tensor/host.h"

namespace crisol::python {

namespace {

constexpr std::array<const char*, 6> formats{"f", "e", "i", "q", "B", "?"};

/// What a view points to until it is released.
struct Copy {
  std::vector<unsigned char> bytes;
  std::array<Py_ssize_t, Shape::max_rank> shape{}, strides{};
};

void fill(Py_buffer& view, Copy& copy, const Tensor& x) {
  const std::size_t size = size_of(x.dtype());
  Py_ssize_t stride = static_cast<Py_ssize_t>(size);
  for (int axis = x.dim() - 1; axis >= 0; --axis) {
    copy.shape[static_cast<std::size_t>(axis)] = x.shape()[axis];
    copy.strides[static_cast<std::size_t>(axis)] = stride;
    stride *= x.shape()[axis];
  }
  view.buf = copy.bytes.data();
  view.len = static_cast<Py_ssize_t>(copy.bytes.size());
  view.itemsize = static_cast<Py_ssize_t>(size);
  view.readonly = 1;
  view.ndim = x.dim();
  view.format = const_cast<char*>(formats[static_cast<std::size_t>(x.dtype())]);
  view.shape = copy.shape.data();
  view.strides = copy.strides.data();
}

// A write to the copy would be lost, so the view is read-only.
int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  try {
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
      PyErr_SetString(PyExc_BufferError, "a tensor gives a copy of its elements, which is read-only");
      return -1;
    }
    const Tensor& x = *nb::inst_ptr<Tensor>(self);
    auto copy = std::make_unique<Copy>();
    copy->bytes.resize(static_cast<std::size_t>(x.numel()) * size_of(x.dtype()));
    read_elements(x, copy->bytes.data());
    *view = {};
    fill(*view, *copy, x);
    if ((flags & PyBUF_FORMAT) != PyBUF_FORMAT) view->format = nullptr;
    view->internal = copy.release();
    view->obj = Py_NewRef(self);
    return 0;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  }
  view->obj = nullptr;
  return -1;
}

void release_buffer(PyObject*, Py_buffer* view) noexcept { delete static_cast<Copy*>(view->internal); }

}  // namespace

PyType_Slot buffer_slots[]{{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
                           {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
                           {0, nullptr}};

}  // namespace crisol::python
