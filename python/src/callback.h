// Python functions that the library calls, on any thread.
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include "bindings.h"

namespace crisol::python {

/// A Python object that C++ keeps. It may be copied and destroyed without the interpreter's lock.
class Kept {
 public:
  explicit Kept(nb::handle object) : object_(object.inc_ref().ptr(), &Kept::release) {}
  /// The object. The caller must hold the lock.
  nb::handle get() const noexcept { return object_.get(); }

 private:
  static void release(PyObject* object) noexcept;
  std::shared_ptr<PyObject> object_;
};

/// Carries an exception of Python through the library, which may throw it several times.
class CallbackError : public std::exception {
 public:
  explicit CallbackError(const nb::python_error& error) : value_(error.value()) {}
  const char* what() const noexcept override { return "a Python function raised an exception"; }
  /// Raises the exception in Python.
  void raise() const;

 private:
  Kept value_;
};

/// Calls a function with the interpreter's lock held. For functions that the library calls.
template <class Function>
auto with_python(Function&& function) {
  const nb::gil_scoped_acquire lock;
  try {
    return std::forward<Function>(function)();
  } catch (const nb::python_error& error) {
    throw CallbackError(error);
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "a Python function returned an object of a wrong type");
    throw CallbackError(nb::python_error());
  }
}

}  // namespace crisol::python
