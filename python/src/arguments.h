// Small helpers for arguments and results of bound functions.
#pragma once

#include <optional>
#include <string_view>
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

/// The shape of f(2, 3), for the second overload of f(shape). The first overload has taken f(2) and f((2, 3)), so fewer
/// than two arguments fit no overload.
Shape shape_of_sizes(const nb::args& sizes);

/// None for the undefined tensor.
inline std::optional<Tensor> if_defined(Tensor x) { return x.defined() ? std::optional(std::move(x)) : std::nullopt; }

/// The undefined tensor for None.
inline Tensor or_undefined(const std::optional<Tensor>& x) { return x.value_or(Tensor()); }

/// An argument `axis` with PyTorch's name `dim`, and every other argument as it is.
template <class Extra>
const Extra& with_dim(const Extra& extra) {
  return extra;
}
template <std::uint32_t flags, bool locked>
nb::arg_t<flags, locked> with_dim(nb::arg_t<flags, locked> argument) {
  if (std::string_view(argument.name_) == "axis") argument.name_ = "dim";
  return argument;
}
template <std::uint32_t flags, bool locked>
nb::arg_v_t<flags, locked> with_dim(nb::arg_v_t<flags, locked> argument) {
  if (std::string_view(argument.name_) == "axis") argument.name_ = "dim";
  return argument;
}

/// Whether an argument has the name `axis`.
template <class Extra>
bool is_axis(const Extra&) {
  return false;
}
template <std::uint32_t flags, bool locked>
bool is_axis(const nb::arg_t<flags, locked>& argument) {
  return std::string_view(argument.name_) == "axis";
}
template <std::uint32_t flags, bool locked>
bool is_axis(const nb::arg_v_t<flags, locked>& argument) {
  return std::string_view(argument.name_) == "axis";
}

/// where.def(), and if there is an argument `axis`, a second overload in which it has the name `dim`.
template <class Where, class Function, class... Extra>
void define_along(Where& where, const char* name, const Function& function, const Extra&... extra) {
  where.def(name, function, extra...);
  if ((is_axis(extra) || ...)) where.def(name, function, with_dim(extra)...);
}

/// Defines a function with the arguments `extra` after x, and the method of the same name.
template <class Function, class... Extra>
void define(nb::module_& m, TensorClass& tensor, const char* name, Function function, const char* text,
            const Extra&... extra) {
  define_along(m, name, function, "x"_a, extra..., Unlocked(), text);
  define_along(tensor, name, function, extra..., Unlocked(), text);
}

/// Replaces each occurrence of `from` that is there now.
void replace_all(std::string& text, const std::string& from, const std::string& to);

/// Settings that the library prints, such as "bias=true", with Python's True, False and None, and its tuples of one.
std::string in_python(std::string settings);

/// The text of a TypeError until calls.cpp names the argument.
inline constexpr const char* wrong_part = "a part of an argument has a wrong type";

/// A message of the library with Python's names in place of those of C++.
std::string message_in_python(std::string text);

/// Raises the class of crisol that has this name.
[[noreturn]] void raise(const char* class_name, const std::string& text);

}  // namespace crisol::python
