// The pointwise functions: for every row of crisol/ops/pointwise.def a function, a method and a method in
// place.
#include "bindings.h"
#include "crisol/dtype_table.h"
#include "tensor/promote.h"

namespace crisol::python {

namespace {

// All functions of a kind have one signature, so that nanobind's templates are compiled once for each kind.
#define CRISOL_ARGUMENTS_NONE
#define CRISOL_ARGUMENT_(name, initial) nb::arg(#name) initial
#define CRISOL_ARGUMENTS_ONE(name, initial, at) , CRISOL_ARGUMENT_(name, initial)
#define CRISOL_ARGUMENTS_TWO(name, initial, at, name_2, initial_2, at_2) \
  , CRISOL_ARGUMENT_(name, initial), CRISOL_ARGUMENT_(name_2, initial_2)

// The parameter types of a row's numbers.
#define CRISOL_TYPES_NONE
#define CRISOL_TYPES_ONE(...) , Scalar
#define CRISOL_TYPES_TWO(...) , Scalar, Scalar

// Selects a row's differentiable function among the overloads of its name.
#define CRISOL_UNARY_OF(name, scalars) static_cast<Tensor (*)(const Tensor& CRISOL_TYPES_##scalars)>(&crisol::name)
#define CRISOL_BINARY_OF(name) static_cast<Tensor (*)(const Operand&, const Operand&)>(&crisol::name)
// PyTorch's name of a second operand that the table calls b.
#define CRISOL_OTHER(name) nb::arg(std::string_view(name) == "b" ? "other" : name)
#define CRISOL_TERNARY_OF(name, scalars) \
  static_cast<Tensor (*)(const Operand&, const Operand&, const Operand& CRISOL_TYPES_##scalars)>(&crisol::name)

using TextPointer = const char*;

template <class Where, class Function, class... Extra>
void define(Where& where, const char* name, Function function, const char* formula, const Extra&... extra) {
  const std::string text = std::string(formula) + ", for each element.";
  where.def(name, function, extra..., Unlocked(), TextPointer(text.c_str()));
}

/// Refuses a result of another shape, a float for whole numbers, and a number for bools.
void check_out(const Tensor& result, const Tensor& out) {
  const DType from = result.dtype(), to = out.dtype();
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "[out] the result " + what);
  };
  if (result.shape() != out.shape())
    refuse("has shape " + to_string(result.shape()) + ", and out has shape " + to_string(out.shape()));
  if ((is_floating(from) && !is_floating(to)) || (from != DType::boolean && to == DType::boolean))
    refuse("is " + std::string(dtype_row(from).python) + " and cannot be put into a tensor of " +
           std::string(dtype_row(to).python) + " without loss");
}

/// A function that writes its result into a tensor of the result's shape.
template <class... Arguments>
auto into(Tensor (*function)(Arguments...)) {
  return [function](Arguments... arguments, Tensor& out) -> Tensor& {
    const Tensor result = function(arguments...);
    check_out(result, out);
    out.copy_from(result);
    return out;
  };
}

/// f(…) and f(…, out=…)
template <class Function, class... Extra>
void define_with_out(nb::module_& m, const char* name, Function function, const char* formula, const Extra&... extra) {
  define(m, name, function, formula, extra...);
  m.def(name, into(function), extra..., nb::kw_only(), nb::arg("out"), Unlocked(), "The same, written into `out`.",
        itself);
}

template <class Function, class... Extra>
void define_in_place(TensorClass& tensor, const char* name, Function function, const Extra&... extra) {
  const std::string method = std::string(name) + "_";
  const std::string text = "Replaces the elements by those of " + std::string(name) + "(). Returns this tensor.";
  tensor.def(method.c_str(), function, extra..., Unlocked(), TextPointer(text.c_str()), itself);
}

void bind_unary(nb::module_& m, TensorClass& tensor) {
#define CRISOL_UNARY(name, x, scalars, rule, saved, forward, integer, derivative, reference, low, high, ulp, formula) \
  define_with_out(m, #name, CRISOL_UNARY_OF(name, scalars), formula, nb::arg("input") CRISOL_ARGUMENTS_##scalars);    \
  define(tensor, #name, CRISOL_UNARY_OF(name, scalars), formula CRISOL_ARGUMENTS_##scalars);                          \
  CRISOL_IN_PLACE_##rule(define_in_place(tensor, #name, &Tensor::name##_ CRISOL_ARGUMENTS_##scalars);)
#include "crisol/ops/pointwise.def"
}

void bind_binary(nb::module_& m, nb::module_& standard, TensorClass& tensor) {
#define CRISOL_BINARY(name, a, b, scalars, rule, forward, integer, derivative_a, derivative_b, reference, low, high,   \
                      ulp, formula)                                                                                    \
  define(standard, #name, &promoted<&crisol::name>, formula, nb::arg("x1"), nb::arg("x2") CRISOL_ARGUMENTS_##scalars); \
  define_with_out(m, #name, CRISOL_BINARY_OF(name), formula, nb::arg("input"), CRISOL_OTHER(#b));                      \
  define(tensor, #name, CRISOL_BINARY_OF(name), formula, CRISOL_OTHER(#b));                                            \
  CRISOL_IN_PLACE_##rule(define_in_place(tensor, #name, &Tensor::name##_, CRISOL_OTHER(#b));)
#include "crisol/ops/pointwise.def"
}

void bind_ternary(nb::module_& m, TensorClass& tensor) {
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, forward, integer, derivative_a, derivative_b, derivative_c, \
                       reference, low, high, ulp, formula)                                                       \
  define(m, #name, CRISOL_TERNARY_OF(name, scalars), formula, nb::arg(#a), nb::arg(#b),                          \
         nb::arg(#c) CRISOL_ARGUMENTS_##scalars);                                                                \
  CRISOL_IN_PLACE_##rule(                                                                                        \
      define(tensor, #name, CRISOL_TERNARY_OF(name, scalars), formula, nb::arg(#b),                              \
             nb::arg(#c) CRISOL_ARGUMENTS_##scalars);                                                            \
      define_in_place(tensor, #name, &Tensor::name##_, nb::arg(#b), nb::arg(#c) CRISOL_ARGUMENTS_##scalars);)
#include "crisol/ops/pointwise.def"
}

}  // namespace

void bind_pointwise(nb::module_& m, TensorClass& tensor) {
  nb::module_ standard = m.def_submodule("_standard", "Functions with the Array API standard's rules of types.");
  bind_unary(m, tensor);
  bind_binary(m, standard, tensor);
  bind_ternary(m, tensor);
}

}  // namespace crisol::python
