// Small helpers for arguments and results of bound functions.
#pragma once

#include <optional>
#include <utility>

#include "bindings.h"

namespace crisol::python {

/// A position or an axis that does not exist. Python gets OutOfRangeError, which is an IndexError too.
class OutOfRange : public Error {
 public:
  explicit OutOfRange(const std::string& text) : Error(ErrorCode::invalid_argument, text) {}
};

/// Calls a function with the interpreter's lock free. For functions that read Python objects first.
template <class Function>
auto unlocked(Function&& function) {
  const nb::gil_scoped_release free;
  return std::forward<Function>(function)();
}

/// The numbers of f(2, 3) or f((2, 3)).
Shape shape_of(const nb::args& numbers);

/// The shape of f(2, 3), for the second overload of f(shape). The first overload has taken f(2) and f((2, 3)), so
/// fewer than two arguments are those of no overload.
Shape shape_of_sizes(const nb::args& sizes);

/// None for the undefined tensor.
inline std::optional<Tensor> if_defined(Tensor x) { return x.defined() ? std::optional(std::move(x)) : std::nullopt; }

/// The undefined tensor for None.
inline Tensor or_undefined(const std::optional<Tensor>& x) { return x.value_or(Tensor()); }

/// Defines a function with the arguments `extra` after x, and the method of the same name.
template <class Function, class... Extra>
void define(nb::module_& m, TensorClass& tensor, const char* name, Function function, const char* text,
            const Extra&... extra) {
  m.def(name, function, "x"_a, extra..., Unlocked(), text);
  tensor.def(name, function, extra..., Unlocked(), text);
}

/// Replaces each occurrence of `from` that is there now.
void replace_all(std::string& text, const std::string& from, const std::string& to);

/// Settings that the library prints, such as "bias=true", with Python's True and False.
std::string in_python(std::string settings);

/// Raises the class of crisol that has this name.
[[noreturn]] void raise(const char* class_name, const std::string& text);

}  // namespace crisol::python
