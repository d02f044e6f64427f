#include "option_casters.h"

#include <cstring>

#include "bindings.h"

namespace crisol::python {

namespace {

bool read_int(PyObject* object, int& value) noexcept {
  PyObject* const index = PyNumber_Index(object);
  if (index == nullptr) return PyErr_Clear(), false;
  const long long number = PyLong_AsLongLong(index);
  Py_DECREF(index);
  if (PyErr_Occurred() != nullptr) return PyErr_Clear(), false;
  value = static_cast<int>(number);
  return value == number;
}

}  // namespace

bool read_ints(PyObject* object, int* values, int count) noexcept {
  if (read_int(object, values[0])) {
    for (int i = 1; i < count; ++i) values[i] = values[0];
    return true;
  }
  if (!PyTuple_Check(object) && !PyList_Check(object)) return false;
  if (PySequence_Size(object) == 1 && count > 1) {  // PyTorch takes one number in a tuple for all axes.
    const nb::object item = nb::steal(PySequence_GetItem(object, 0));
    return item.is_valid() && read_ints(item.ptr(), values, count);
  }
  if (PySequence_Size(object) != count) return false;
  for (int i = 0; i < count; ++i) {
    const nb::object item = nb::steal(PySequence_GetItem(object, i));
    if (!item.is_valid() || !read_int(item.ptr(), values[i])) return PyErr_Clear(), false;
  }
  return true;
}

bool read_reduction(PyObject* object, Reduction& reduction) noexcept {
  if (!PyUnicode_Check(object)) return false;
  for (const Reduction r : {Reduction::mean, Reduction::sum, Reduction::none})
    if (PyUnicode_CompareWithASCIIString(object, nb::cast<std::string>(nb::cast(r)).c_str()) == 0)
      return reduction = r, true;
  return false;
}

bool read_named_tensors(PyObject* object, NamedTensors& tensors) noexcept {
  if (PyMapping_Check(object) == 0) return false;
  const nb::object items = nb::steal(PyMapping_Items(object));
  if (!items.is_valid()) return PyErr_Clear(), false;
  tensors.clear();
  for (const nb::handle item : nb::borrow<nb::list>(items)) {
    std::string name;
    Tensor tensor;
    if (!nb::try_cast(item[0], name) || !nb::try_cast(item[1], tensor)) return false;
    tensors.emplace_back(std::move(name), std::move(tensor));
  }
  return true;
}

PyObject* dict_of(const NamedTensors& tensors) noexcept {
  nb::dict dict;
  for (const auto& [name, tensor] : tensors) dict[nb::cast(name)] = nb::cast(tensor);
  return dict.release().ptr();
}

}  // namespace crisol::python
