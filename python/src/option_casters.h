// Conversions of option types: pairs and triples of numbers, reductions by name, and state dicts.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "casters.h"
#include "crisol/named_tensors.h"
#include "crisol/options/int_pair.h"
#include "crisol/options/int_triple.h"
#include "crisol/options/loss.h"

namespace crisol::python {

/// A size of a window over sequences: an int, or a tuple of one int, as in PyTorch's layers.
struct IntSingle {
  IntSingle(int number) : w(number) {}
  operator int() const { return w; }
  int w;
};

/// An argument that is read as true or false, as in PyTorch: True, None, 0, NumPy's bool, ….
struct Truth {
  Truth(bool is_true) : value(is_true) {}
  operator bool() const { return value; }
  bool value;
};

/// Reads one int for all `count` values, or a sequence of `count` ints.
bool read_ints(PyObject* object, int* values, int count) noexcept;

/// Reads "mean", "sum" or "none".
bool read_reduction(PyObject* object, Reduction& reduction) noexcept;

/// Reads a mapping of names to tensors.
bool read_named_tensors(PyObject* object, NamedTensors& tensors) noexcept;
/// A dict of names to tensors.
PyObject* dict_of(const NamedTensors& tensors) noexcept;

}  // namespace crisol::python

namespace nanobind::detail {

template <>
struct type_caster<crisol::python::IntSingle> : value_caster<crisol::python::IntSingle> {
  static constexpr auto Name = const_name("int | tuple[int]");
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    int v = 0;
    if (!crisol::python::read_ints(source.ptr(), &v, 1)) return false;
    value.emplace(v);
    return true;
  }
  static handle from_cpp(crisol::python::IntSingle single, rv_policy, cleanup_list*) noexcept {
    return make_tuple(single.w).release();
  }
};

template <>
struct type_caster<crisol::python::Truth> : value_caster<crisol::python::Truth> {
  static constexpr auto Name = const_name("bool | None");
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    const int is_true = PyObject_IsTrue(source.ptr());
    if (is_true < 0) PyErr_Clear();
    value.emplace(is_true == 1);
    return is_true >= 0;
  }
  static handle from_cpp(crisol::python::Truth truth, rv_policy, cleanup_list*) noexcept {
    return handle(truth.value ? Py_True : Py_False).inc_ref();
  }
};

template <>
struct type_caster<crisol::IntPair> : value_caster<crisol::IntPair> {
  static constexpr auto Name = const_name("int | tuple[int, int]");
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    int v[2];
    if (!crisol::python::read_ints(source.ptr(), v, 2)) return false;
    value.emplace(v[0], v[1]);
    return true;
  }
  static handle from_cpp(crisol::IntPair pair, rv_policy, cleanup_list*) noexcept {
    return make_tuple(pair.h, pair.w).release();
  }
};

template <>
struct type_caster<crisol::IntTriple> : value_caster<crisol::IntTriple> {
  static constexpr auto Name = const_name("int | tuple[int, int, int]");
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    int v[3];
    if (!crisol::python::read_ints(source.ptr(), v, 3)) return false;
    value.emplace(v[0], v[1], v[2]);
    return true;
  }
  static handle from_cpp(crisol::IntTriple triple, rv_policy, cleanup_list*) noexcept {
    return make_tuple(triple.d, triple.h, triple.w).release();
  }
};

template <>
struct type_caster<crisol::Reduction> {
  NB_TYPE_CASTER(crisol::Reduction, const_name("str"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    return crisol::python::read_reduction(source.ptr(), value);
  }
  static handle from_cpp(crisol::Reduction reduction, rv_policy, cleanup_list*) noexcept {
    constexpr const char* names[] = {"mean", "sum", "none"};
    return PyUnicode_FromString(names[static_cast<int>(reduction)]);
  }
};

template <>
struct type_caster<crisol::NamedTensors> {
  NB_TYPE_CASTER(crisol::NamedTensors, const_name("dict[str, ") + make_caster<crisol::Tensor>::Name + const_name("]"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    return crisol::python::read_named_tensors(source.ptr(), value);
  }
  static handle from_cpp(const crisol::NamedTensors& tensors, rv_policy, cleanup_list*) noexcept {
    return crisol::python::dict_of(tensors);
  }
};

}  // namespace nanobind::detail
