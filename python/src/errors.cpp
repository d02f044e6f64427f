// The exceptions: crisol.Error, and a class below it for each kind, which is also the fitting class of Python.
#include <array>

#include "arguments.h"
#include "bindings.h"
#include "callback.h"

namespace crisol::python {

namespace {

/// The classes by the number of the ErrorCode, and that of OutOfRange. They live as long as the process.
std::array<PyObject*, 6> classes{};
PyObject* out_of_range = nullptr;

PyObject* make_class(nb::module_& m, const char* name, const char* text, const nb::tuple& bases) {
  const std::string full = std::string("crisol.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), text, bases.ptr(), nullptr);
  if (type == nullptr) throw nb::python_error();
  m.attr(name) = nb::handle(type);
  return type;
}

void translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const OutOfRange& error) {
    PyErr_SetString(out_of_range, error.what());
  } catch (const CallbackError& error) {
    error.raise();
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "a part of an argument has a wrong type");
  } catch (const Error& error) {
    std::string text = error.what();
    if (error.code() == ErrorCode::device_not_found && devices().empty())
      text +=
          "\nOn any CPU, without a driver of the system: pip install crisol[cpu]. On Debian and Ubuntu: apt install "
          "pocl-opencl-icd";
    PyErr_SetString(classes[static_cast<std::size_t>(error.code())], text.c_str());
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  const nb::handle error = make_class(m, "Error", "The base of all errors that the library raises.",
                                      nb::make_tuple(nb::handle(PyExc_Exception)));
  const auto set = [&](ErrorCode code, const char* name, PyObject* builtin, const char* text) {
    classes[static_cast<std::size_t>(code)] = make_class(m, name, text, nb::make_tuple(error, nb::handle(builtin)));
  };
  set(ErrorCode::invalid_argument, "InvalidArgumentError", PyExc_ValueError,
      "An argument breaks a rule of the function. Nothing was changed.");
  set(ErrorCode::device_not_found, "DeviceNotFoundError", PyExc_RuntimeError,
      "No device matches, or there is no OpenCL platform.");
  set(ErrorCode::build_failure, "BuildError", PyExc_RuntimeError,
      "The device's compiler refused a kernel. The text contains its log and the source.");
  set(ErrorCode::out_of_memory, "OutOfMemoryError", PyExc_MemoryError, "The memory of the device is exhausted.");
  set(ErrorCode::device_failure, "DeviceError", PyExc_RuntimeError, "An OpenCL call failed.");
  set(ErrorCode::io, "FileError", PyExc_OSError, "A file is unreadable or damaged.");
  make_class(m, "MissingFileError", "There is no such file.",
             nb::make_tuple(m.attr("FileError"), nb::handle(PyExc_FileNotFoundError)));
  out_of_range = make_class(m, "OutOfRangeError", "A position lies outside its axis.",
                            nb::make_tuple(m.attr("InvalidArgumentError"), nb::handle(PyExc_IndexError)));
  nb::register_exception_translator(translate);
}

}  // namespace crisol::python
