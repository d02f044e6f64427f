// Conversions between Python objects and the library's values: dtypes, shapes, numbers and operands.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <array>
#include <cstdint>
#include <optional>

#include "crisol/dtype.h"
#include "crisol/scalar.h"
#include "crisol/shape.h"
#include "crisol/tensor.h"

namespace crisol::python {

/// The Python objects of dtypes: one object for each DType.
struct DTypeObject {
  DType value;
};

/// The dtype objects, by the number of the DType. They live as long as the process.
inline std::array<PyObject*, detail::dtype_count> dtype_objects{};

/// Reads a bool, an int or a float, or an object that converts itself to one of them, such as a scalar of NumPy.
/// Returns false for anything else, and for an int that does not fit into 64 bits.
bool read_scalar(PyObject* object, Scalar& scalar) noexcept;

/// The right operand of an operator: a tensor or a number, as `Right`, or a NumPy array.
template <class Right>
struct OrArray {
  std::optional<Right> operand;
  nanobind::object array;
};

/// Whether the object is a NumPy array. Does not import NumPy.
bool is_numpy_array(PyObject* object) noexcept;

/// Reads an int, or a sequence of at most Shape::max_rank. Throws for a longer tuple or list.
bool read_shape(PyObject* object, Shape& shape);

/// The DType of a dtype object, of its name, or of Python's types bool, int and float.
bool read_dtype(PyObject* object, DType& dtype);

}  // namespace crisol::python

namespace nanobind::detail {

template <>
struct type_caster<crisol::DType> {
  NB_TYPE_CASTER(crisol::DType, io_name("dtype | str", "dtype"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) {
    return crisol::python::read_dtype(source.ptr(), value);
  }
  static handle from_cpp(crisol::DType dtype, rv_policy, cleanup_list*) noexcept {
    return handle(crisol::python::dtype_objects[static_cast<std::size_t>(dtype)]).inc_ref();
  }
};

template <>
struct type_caster<crisol::Shape> {
  NB_TYPE_CASTER(crisol::Shape, io_name("int | collections.abc.Sequence[int]", "tuple[int, ...]"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) {
    return crisol::python::read_shape(source.ptr(), value);
  }
  static handle from_cpp(const crisol::Shape& shape, rv_policy, cleanup_list*) noexcept {
    PyObject* tuple = PyTuple_New(shape.rank());
    for (int i = 0; tuple != nullptr && i < shape.rank(); ++i) PyTuple_SetItem(tuple, i, PyLong_FromLongLong(shape[i]));
    return tuple;
  }
};

/// The caster of an optional whose value may throw. nanobind's own caster has a noexcept from_python.
template <class T>
struct throwing_optional_caster : optional_caster<std::optional<T>> {
  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) {
    this->value.reset();
    if (source.is_none()) return true;
    make_caster<T> caster;
    if (!caster.from_python(source, flags, cleanup)) return false;
    this->value.emplace(caster.operator cast_t<T>());
    return true;
  }
};
template <>
struct type_caster<std::optional<crisol::DType>> : throwing_optional_caster<crisol::DType> {};
template <>
struct type_caster<std::optional<crisol::Shape>> : throwing_optional_caster<crisol::Shape> {};

/// The base of casters for types without a default constructor.
template <class T>
struct value_caster {
  using Value = T;
  template <class>
  using Cast = T;
  template <class>
  static constexpr bool can_cast() {
    return true;
  }
  explicit operator T() const { return *value; }

  std::optional<T> value;
};

template <>
struct type_caster<crisol::Scalar> : value_caster<crisol::Scalar> {
  static constexpr auto Name = const_name("bool | int | float");
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    return crisol::python::read_scalar(source.ptr(), value.emplace(0));
  }
};

template <>
struct type_caster<crisol::Operand> : value_caster<crisol::Operand> {
  static constexpr auto Name = const_name("Tensor | bool | int | float");
  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<crisol::Tensor> tensor;
    if (tensor.from_python(source, flags & ~static_cast<std::uint32_t>(cast_flags::convert), cleanup)) {
      crisol::Tensor* pointer = tensor.operator crisol::Tensor*();
      if (pointer == nullptr) return false;
      value.emplace(*pointer);
      return true;
    }
    crisol::Scalar number = 0;
    if (!crisol::python::read_scalar(source.ptr(), number)) return false;
    value.emplace(number);
    return true;
  }
};

template <class Right>
struct type_caster<crisol::python::OrArray<Right>> {
  // The stub cannot name NumPy's class, because Tensor has a method `numpy`.
  NB_TYPE_CASTER(crisol::python::OrArray<Right>, make_caster<Right>::Name + const_name(" | typing_extensions.Buffer"))

  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<Right> caster;
    if (caster.from_python(source, flags, cleanup) && caster.template can_cast<Right>()) {
      value.operand.emplace(caster.operator cast_t<Right>());
      return true;
    }
    if (!crisol::python::is_numpy_array(source.ptr())) return false;
    value.array = borrow(source);
    return true;
  }
};

}  // namespace nanobind::detail
