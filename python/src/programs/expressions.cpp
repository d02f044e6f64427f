// Expr: the values with which a fused Python function computes. The functions of crisol/ops/pointwise.def accept Expr
// too.
#include "programs/expressions.h"

#include <algorithm>

namespace crisol::python {

namespace {

/// An operand: an expression or a number.
using Term = std::variant<TypedExpr, Scalar>;

Expr expr_of(const Term& term) {
  if (const TypedExpr* traced = std::get_if<TypedExpr>(&term)) return traced->expr;
  return std::get<Scalar>(term);
}

bool is_truth(const Term& term) {
  if (const TypedExpr* traced = std::get_if<TypedExpr>(&term)) return traced->is_truth;
  return std::get<Scalar>(term).dtype() == DType::boolean;
}

/// The result of a function, and whether it is bool. The rule of the function's row decides, together with `inputs`:
/// whether each input is bool.
TypedExpr typed(const Expr& expr, std::string_view rule, std::initializer_list<bool> inputs) {
  const bool gives_truth = rule == "comparison" || rule == "test" || rule == "logical";
  const bool keeps_dtype = rule == "any" || rule == "choice";
  return {expr, gives_truth || (keeps_dtype && std::all_of(inputs.begin(), inputs.end(), [](bool x) { return x; }))};
}

using ExprClass = nb::class_<TypedExpr>;

// All functions of a kind have one signature, so that nanobind's templates are compiled once for each kind.
#define CRISOL_TERMS_NONE
#define CRISOL_TERMS_ONE(name, initial, at) , const Term& name
#define CRISOL_TERMS_TWO(name, initial, at, name_2, initial_2, at_2) , const Term &name, const Term &name_2
#define CRISOL_EXPRS_NONE
#define CRISOL_EXPRS_ONE(name, initial, at) , expr_of(name)
#define CRISOL_EXPRS_TWO(name, initial, at, name_2, initial_2, at_2) , expr_of(name), expr_of(name_2)
#define CRISOL_NAMED_NONE
#define CRISOL_NAMED_(name, initial) nb::arg(#name) initial
#define CRISOL_NAMED_ONE(name, initial, at) , CRISOL_NAMED_(name, initial)
#define CRISOL_NAMED_TWO(name, initial, at, name_2, initial_2, at_2) \
  , CRISOL_NAMED_(name, initial), CRISOL_NAMED_(name_2, initial_2)

void bind_functions_of_expr(nb::module_& m, ExprClass& expr) {
#define CRISOL_UNARY(name, x, scalars, rule, saved, forward, integer, derivative, reference, low, high, ulp, formula) \
  m.def(                                                                                                              \
      #name,                                                                                                          \
      +[](const TypedExpr& x CRISOL_TERMS_##scalars) {                                                                \
        return typed(name(x.expr CRISOL_EXPRS_##scalars), #rule, {x.is_truth});                                       \
      },                                                                                                              \
      nb::arg(#x) CRISOL_NAMED_##scalars, "The same for an expression of a fused function.");                         \
  expr.def(                                                                                                           \
      #name,                                                                                                          \
      +[](const TypedExpr& x CRISOL_TERMS_##scalars) {                                                                \
        return typed(name(x.expr CRISOL_EXPRS_##scalars), #rule, {x.is_truth});                                       \
      } CRISOL_NAMED_##scalars,                                                                                       \
      static_cast<const char*>(formula ", for each element."));
#define CRISOL_BINARY(name, a, b, scalars, rule, ...)                                                         \
  m.def(                                                                                                      \
      #name,                                                                                                  \
      +[](const Term& a, const Term& b CRISOL_TERMS_##scalars) {                                              \
        return typed(name(expr_of(a), expr_of(b) CRISOL_EXPRS_##scalars), #rule, {is_truth(a), is_truth(b)}); \
      },                                                                                                      \
      nb::arg(#a), nb::arg(#b) CRISOL_NAMED_##scalars, "The same for expressions of a fused function.");
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, ...)                                    \
  m.def(                                                                                     \
      #name,                                                                                 \
      +[](const Term& a, const Term& b, const Term& c CRISOL_TERMS_##scalars) {              \
        return typed(name(expr_of(a), expr_of(b), expr_of(c) CRISOL_EXPRS_##scalars), #rule, \
                     {is_truth(b), is_truth(c)});                                            \
      },                                                                                     \
      nb::arg(#a), nb::arg(#b), nb::arg(#c) CRISOL_NAMED_##scalars, "The same for expressions of a fused function.");
#include "crisol/ops/pointwise.def"
}

// The rule of each function with two inputs.
namespace rules {
#define CRISOL_BINARY(name, a, b, scalars, rule, ...) inline constexpr std::string_view name = #rule;
#include "crisol/ops/pointwise.def"
}  // namespace rules

struct Operator {
  const char* name;
  const char* reflected;  ///< Null if Python finds the reflected operator by itself.
  Expr (*function)(const Expr&, const Expr&);
  std::string_view rule;
};
constexpr Operator operators[]{
    {"__add__", "__radd__", &add, rules::add},
    {"__sub__", "__rsub__", &sub, rules::sub},
    {"__mul__", "__rmul__", &mul, rules::mul},
    {"__truediv__", "__rtruediv__", &div, rules::div},
    {"__floordiv__", "__rfloordiv__", &floor_divide, rules::floor_divide},
    {"__mod__", "__rmod__", &remainder, rules::remainder},
    {"__pow__", "__rpow__", &pow, rules::pow},
    {"__and__", "__rand__", &logical_and, rules::logical_and},
    {"__or__", "__ror__", &logical_or, rules::logical_or},
    {"__xor__", "__rxor__", &logical_xor, rules::logical_xor},
    {"__lt__", nullptr, &lt, rules::lt},
    {"__le__", nullptr, &le, rules::le},
    {"__gt__", nullptr, &gt, rules::gt},
    {"__ge__", nullptr, &ge, rules::ge},
    {"__eq__", nullptr, &eq, rules::eq},
    {"__ne__", nullptr, &ne, rules::ne},
};

/// Refuses numbers: for tensors, the operators & | ^ ~ of whole numbers work on bits.
void require_truth(bool is_truth) {
  if (!is_truth)
    throw nb::type_error(
        "[fuse] & | ^ ~ take truth values here, such as x > 0: the bits of numbers cannot be fused, and for numbers "
        "that "
        "are true unless they are 0 there are crisol.logical_and, logical_or, logical_xor and logical_not");
}

TypedExpr apply(const Operator& row, const Term& a, const Term& b) {
  const bool both = is_truth(a) && is_truth(b);
  if (row.rule == "logical") require_truth(both);
  return typed(row.function(expr_of(a), expr_of(b)), row.rule, {both});
}

bool refuse_truth_value(const TypedExpr&) {
  throw nb::type_error(
      "[fuse] an expression stands for all elements, so it is neither true nor false: use crisol.where instead of if, "
      "and & | ~ with parentheses instead of and, or and not");
}

void bind_operators_of_expr(ExprClass& expr) {
  for (const Operator& row : operators) {
    expr.def(
        row.name, [row](const TypedExpr& a, const Term& b) { return apply(row, a, b); }, nb::is_operator());
    if (row.reflected != nullptr)
      expr.def(
          row.reflected, [row](const TypedExpr& b, const Term& a) { return apply(row, a, b); }, nb::is_operator());
  }
  expr.def("__neg__",
           [](const TypedExpr& x) {
             return TypedExpr{neg(x.expr), false};
           })
      .def("__abs__",
           [](const TypedExpr& x) {
             return TypedExpr{abs(x.expr), x.is_truth};
           })
      .def("__invert__",
           [](const TypedExpr& x) {
             require_truth(x.is_truth);
             return TypedExpr{logical_not(x.expr), true};
           })
      .def("__bool__", &refuse_truth_value, nb::sig("def __bool__(self) -> typing.NoReturn"));
}

struct Reduction {
  const char* name;
  Expr (*function)(const Expr&, const Shape&, bool);
};
constexpr Reduction reductions[]{{"sum", &sum}, {"mean", &mean}, {"max", &max}, {"min", &min}};

}  // namespace

void bind_expressions(nb::module_& m) {
  ExprClass expr(m, "Expr", "An expression that a fused kernel computes for each element; see fuse().");
  expr.def(
      "to",
      [](const TypedExpr& x, DType dtype) {
        return TypedExpr{x.expr.to(dtype), dtype == DType::boolean};
      },
      "dtype"_a, "The value converted to another dtype.");
  bind_functions_of_expr(m, expr);
  bind_operators_of_expr(expr);
  for (const Reduction& row : reductions)
    expr.def(
        row.name,
        [row](const TypedExpr& x, const std::optional<Shape>& axis, bool keepdims) {
          return TypedExpr{row.function(x.expr, axis.value_or(Shape()), keepdims), false};
        },
        "axis"_a = nb::none(), "keepdims"_a = false,
        "A reduction, which ends a fused function: of all axes, or of -1.");
}

}  // namespace crisol::python
