// The exceptions: crisol.Error, and a subclass for each kind, which is also a subclass of Python's matching exception.
#include <array>
#include <cctype>
#include <cstring>
#include <string_view>

#include "arguments.h"
#include "bindings.h"
#include "callback.h"

namespace crisol::python {

namespace {

/// The classes by the number of the ErrorCode, then the class for OutOfRange. They live as long as the process.
std::array<PyObject*, 6> classes{};
PyObject* out_of_range = nullptr;

PyObject* make_class(nb::module_& m, const char* name, const char* text, const nb::tuple& bases) {
  const std::string full = std::string("crisol.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), text, bases.ptr(), nullptr);
  if (type == nullptr) throw nb::python_error();
  m.attr(name) = nb::handle(type);
  return type;
}

/// Names of C++ in messages of the library, and the names in Python.
constexpr std::pair<std::string_view, std::string_view> words[]{
#define CRISOL_DTYPE(name, CODE, text, host, kind, digits, exponent, value, opencl, python, ...) {text, python},
#include "crisol/dtypes.def"
    {"crisol::NoGrad", "crisol.no_grad()"}, {"NoGrad", "no_grad()"},         {"Module::to", "Module.to()"},
    {"index_put()", "crisol.where()"},      {"dist::init()", "dist.init()"}, {"dist::finish()", "dist.finish()"},
    {"overlap to false", "overlap=False"},
};

/// Whether this character continues a word. Next to it no word begins or ends, but a part of a name or a path.
bool continues(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("_/'\":", c) != nullptr;
}

}  // namespace

std::string message_in_python(std::string text) {
  for (const auto& [word, name] : words)
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      if ((at > 0 && (continues(text[at - 1]) || text[at - 1] == '.')) || (end < text.size() && continues(text[end])))
        continue;
      text.replace(at, word.size(), name);
      at += name.size() - 1;
    }
  return text;
}

namespace {

void translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const OutOfRange& error) {
    PyErr_SetString(out_of_range, message_in_python(error.what()).c_str());
  } catch (const CallbackError& error) {
    error.raise();
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, wrong_part);
  } catch (const Error& error) {
    // Only these messages are translated, because other messages contain paths and source code.
    std::string text = error.code() == ErrorCode::invalid_argument ? message_in_python(error.what()) : error.what();
    if (error.code() == ErrorCode::device_not_found && devices().empty())
      text +=
          "\nOn any CPU, without a driver of the system: pip install crisol[cpu]. On Debian and Ubuntu: apt install "
          "pocl-opencl-icd";
    PyErr_SetString(classes[static_cast<std::size_t>(error.code())], text.c_str());
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  const nb::handle error =
      make_class(m, "Error",
                 "The base of all errors that the library raises. It is a RuntimeError, as most errors of PyTorch are.",
                 nb::make_tuple(nb::handle(PyExc_RuntimeError)));
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
  m.def("_message", &message_in_python, "text"_a, "A message of the library with Python's names.");
}

}  // namespace crisol::python
