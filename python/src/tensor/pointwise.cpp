// The pointwise functions: for every row of crisol/ops/pointwise.def a function, a method and a method in
// place.
#include "bindings.h"
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
#define CRISOL_TERNARY_OF(name, scalars) \
  static_cast<Tensor (*)(const Operand&, const Operand&, const Operand& CRISOL_TYPES_##scalars)>(&crisol::name)

using TextPointer = const char*;

template <class Where, class Function, class... Extra>
void define(Where& where, const char* name, Function function, const char* formula, const Extra&... extra) {
  const std::string text = std::string(formula) + ", for each element.";
  where.def(name, function, extra..., Unlocked(), TextPointer(text.c_str()));
}

template <class Function, class... Extra>
void define_in_place(TensorClass& tensor, const char* name, Function function, const Extra&... extra) {
  const std::string method = std::string(name) + "_";
  const std::string text = "Replaces the elements by those of " + std::string(name) + "(). Returns this tensor.";
  tensor.def(method.c_str(), function, extra..., Unlocked(), TextPointer(text.c_str()), itself);
}

void bind_unary(nb::module_& m, TensorClass& tensor) {
#define CRISOL_UNARY(name, x, scalars, rule, saved, forward, integer, derivative, reference, reference_derivative, \
                     low, high, ulp, formula)                                                                      \
  define(m, #name, CRISOL_UNARY_OF(name, scalars), formula, nb::arg(#x) CRISOL_ARGUMENTS_##scalars);               \
  define(tensor, #name, CRISOL_UNARY_OF(name, scalars), formula CRISOL_ARGUMENTS_##scalars);                       \
  CRISOL_IN_PLACE_##rule(define_in_place(tensor, #name, &Tensor::name##_ CRISOL_ARGUMENTS_##scalars);)
#include "crisol/ops/pointwise.def"
}

void bind_binary(nb::module_& m, TensorClass& tensor) {
#define CRISOL_BINARY(name, a, b, scalars, rule, forward, integer, derivative_a, derivative_b, reference, reference_a, \
                      reference_b, low, high, ulp, formula)                                                            \
  define(m, #name, &promoted<&crisol::name>, formula, nb::arg(#a), nb::arg(#b) CRISOL_ARGUMENTS_##scalars);            \
  define(tensor, #name, &promoted<&crisol::name>, formula, nb::arg(#b) CRISOL_ARGUMENTS_##scalars);                    \
  CRISOL_IN_PLACE_##rule(define_in_place(tensor, #name, &Tensor::name##_, nb::arg(#b) CRISOL_ARGUMENTS_##scalars);)
#include "crisol/ops/pointwise.def"
}

void bind_ternary(nb::module_& m, TensorClass& tensor) {
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, forward, integer, derivative_a, derivative_b, derivative_c, \
                       reference, reference_a, reference_b, reference_c, low, high, ulp, formula)                \
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
  bind_unary(m, tensor);
  bind_binary(m, tensor);
  bind_ternary(m, tensor);
}

}  // namespace crisol::python
