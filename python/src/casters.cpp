#include "arguments.h"
#include "crisol/dtype_table.h"

namespace crisol::python {

namespace {

bool read_whole(PyObject* object, Scalar& scalar) noexcept {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow > 0) {
    const unsigned long long natural = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred() == nullptr) {
      scalar = Scalar(static_cast<std::uint64_t>(natural));
      return true;
    }
  }
  if (overflow != 0 || (number == -1 && PyErr_Occurred() != nullptr)) {
    PyErr_Clear();
    return false;
  }
  scalar = Scalar(static_cast<std::int64_t>(number));
  return true;
}

/// Reads scalars of NumPy and other libraries. An array with one element does not count as a scalar.
bool read_foreign_scalar(PyObject* object, Scalar& scalar) noexcept {
  if (PyObject_HasAttrString(object, "__len__") != 0) return false;
  if (PyIndex_Check(object) != 0) {
    PyObject* number = PyNumber_Index(object);
    if (number != nullptr) {
      const bool read = read_whole(number, scalar);
      Py_DECREF(number);
      return read;
    }
    PyErr_Clear();
  }
  if (PyObject_HasAttrString(object, "__float__") == 0) return false;
  const double number = PyFloat_AsDouble(object);
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return false;
  }
  scalar = Scalar(number);
  return true;
}

/// Reads a whole number, also from a tensor with one element.
bool read_size(PyObject* object, std::int64_t& size) noexcept {
  PyObject* number = PyNumber_Index(object);
  Scalar read = 0;
  const bool is_size = number != nullptr && read_whole(number, read) && read.dtype() != DType::u64;
  if (is_size) size = read.as_int();
  Py_XDECREF(number);
  if (!is_size) PyErr_Clear();
  return is_size;
}

}  // namespace

bool read_scalar(PyObject* object, Scalar& scalar) noexcept {
  if (PyFloat_Check(object)) {
    scalar = Scalar(PyFloat_AsDouble(object));
    return true;
  }
  if (object == Py_True || object == Py_False) {
    scalar = Scalar(object == Py_True);
    return true;
  }
  if (PyLong_Check(object)) return read_whole(object, scalar);
  return read_foreign_scalar(object, scalar);
}

bool is_numpy_array(PyObject* object) noexcept {
  static PyObject* type = nullptr;
  if (type == nullptr) {
    PyObject* numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
    if (numpy != nullptr) type = PyObject_GetAttrString(numpy, "ndarray");
    PyErr_Clear();
  }
  return type != nullptr && PyObject_IsInstance(object, type) == 1;
}

bool read_shape(PyObject* object, Shape& shape) {
  std::int64_t size = 0;
  if (PyIndex_Check(object) != 0) {
    if (PyBool_Check(object) || !read_size(object, size)) return false;
    shape = Shape(size);
    return true;
  }
  if (PyUnicode_Check(object) || PySequence_Check(object) == 0) return false;
  const Py_ssize_t count = PySequence_Size(object);
  if (count > Shape::max_rank && (PyTuple_Check(object) || PyList_Check(object)))
    throw Error(ErrorCode::invalid_argument, "[shape] " + std::to_string(count) +
                                                 " numbers are given, but a tensor has at most " +
                                                 std::to_string(Shape::max_rank) + " axes");
  if (count < 0 || count > Shape::max_rank) {
    PyErr_Clear();
    return false;
  }
  std::array<std::int64_t, Shape::max_rank> sizes{};
  for (Py_ssize_t i = 0; i < count; ++i) {
    // crisol.Size reads an entry in Python, so the entries of tuples are read at once.
    PyObject* entry = PyTuple_Check(object) ? Py_NewRef(PyTuple_GetItem(object, i)) : PySequence_GetItem(object, i);
    if (entry == nullptr) {
      PyErr_Clear();
      return false;
    }
    const bool read = read_size(entry, sizes[static_cast<std::size_t>(i)]);
    Py_DECREF(entry);
    if (!read) return false;
  }
  shape = Shape(sizes.data(), static_cast<std::size_t>(count));
  return true;
}

bool read_dtype(PyObject* object, DType& dtype) {
  const auto has_name = [object](const std::string& name) {
    return PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, name.c_str()) == 0;
  };
  for (const DType one : all_dtypes)
    if (object == dtype_objects[static_cast<std::size_t>(one)] || has_name(dtype_row(one).python) ||
        (one == DType::f64 && has_name("double"))) {
      dtype = one;
      return true;
    }
  const auto is_type = [object](PyTypeObject& type) { return object == reinterpret_cast<PyObject*>(&type); };
  if (is_type(PyBool_Type)) return dtype = DType::boolean, true;
  if (is_type(PyLong_Type)) return dtype = DType::i64, true;
  if (is_type(PyFloat_Type)) return dtype = DType::f64, true;
  return false;
}

}  // namespace crisol::python
