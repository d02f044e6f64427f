// Small helpers for arguments and results of bound functions.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "bindings.h"

namespace crisol::python {

/// Releases the interpreter's lock while a function runs. For bindings that read Python objects before.
template <class Function>
auto unlocked(Function&& function) {
  const nb::gil_scoped_release free;
  return std::forward<Function>(function)();
}

/// The shape of f(2, 3) or f((2, 3)).
Shape shape_of(const nb::args& numbers);

/// The shape of f(2, 3), for the second overload of f(shape). The first overload has taken f(2) and f((2, 3)), so fewer
/// than two arguments fit no overload.
Shape shape_of_sizes(const nb::args& sizes);

/// The tensor, or None if it is undefined.
inline std::optional<Tensor> if_defined(Tensor x) { return x.defined() ? std::optional(std::move(x)) : std::nullopt; }

/// The tensor, or an undefined tensor for None.
inline Tensor or_undefined(const std::optional<Tensor>& x) { return x.value_or(Tensor()); }

/// Replaces an argument `axis` by one with PyTorch's name `dim`. Other arguments stay as they are.
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

/// Defines a function. If it has an argument `axis`, defines a second overload where this argument is called `dim`.
template <class Where, class Function, class... Extra>
void define_along(Where& where, const char* name, const Function& function, const Extra&... extra) {
  where.def(name, function, extra...);
  if ((is_axis(extra) || ...)) where.def(name, function, with_dim(extra)...);
}

/// Defines a function of x and the arguments `extra`, and the method of the same name.
template <class Function, class... Extra>
void define(nb::module_& m, TensorClass& tensor, const char* name, Function function, const char* text,
            const Extra&... extra) {
  define_along(m, name, function, "x"_a, extra..., Unlocked(), text);
  define_along(tensor, name, function, extra..., Unlocked(), text);
}

/// Replaces all occurrences of `from`. The replacements themselves are not searched.
void replace_all(std::string& text, const std::string& from, const std::string& to);

/// Turns settings that the library prints, such as "bias=true", into Python: True, False, None, tuples of one element.
std::string in_python(std::string settings);

/// The text of a TypeError. calls.cpp replaces it by a text that names the argument.
inline constexpr const char* wrong_part = "a part of an argument has a wrong type";

/// A message of the library, with Python's names instead of the names of C++.
std::string message_in_python(std::string text);

/// Raises the exception class of crisol with this name.
[[noreturn]] void raise(const char* class_name, const std::string& text);

}  // namespace crisol::python
