// fuse(): Python functions of expressions as kernels. The functions of crisol/ops/pointwise.def also take expressions.
#include "arguments.h"
#include "callback.h"
#include "programs/topics.h"

namespace crisol::python {

namespace {

/// An expression, or a number.
using Term = std::variant<Expr, Scalar>;

Expr expr_of(const Term& term) {
  if (const Expr* expr = std::get_if<Expr>(&term)) return *expr;
  return std::get<Scalar>(term);
}

/// What a trace calls, with the number of arguments of the call.
struct Call {
  nb::handle function;
  std::size_t count;
};

void append(nb::handle result, std::vector<Expr>& results) {
  if (nb::isinstance<nb::tuple>(result) || nb::isinstance<nb::list>(result))
    for (const nb::handle part : result) append(part, results);
  else
    results.push_back(nb::cast<Expr>(result));
}

void trace(const void* function, const Expr* arguments, std::vector<Expr>& results) {
  with_python([&] {
    const Call& call = *static_cast<const Call*>(function);
    nb::list list;
    for (std::size_t i = 0; i < call.count; ++i) list.append(nb::cast(arguments[i]));
    append(call.function(*nb::tuple(list)), results);
  });
}

std::vector<detail::FusedArgument> arguments_of(const std::vector<Operand>& operands) {
  std::vector<detail::FusedArgument> list;
  for (const Operand& operand : operands) {
    if (const Tensor* tensor = operand.tensor())
      list.emplace_back(*tensor);
    else
      list.emplace_back(operand.number());
  }
  return list;
}

/// A fused Python function.
class PythonFused {
 public:
  explicit PythonFused(nb::callable function) : function_(function), core_(detail::make_fused("fuse")) {}

  nb::object call(const nb::args& args) const {
    for (const nb::handle arg : args)
      if (nb::isinstance<Expr>(arg)) return function_.get()(*args);  // A part of another fused function.
    const std::vector<Operand> operands = nb::cast<std::vector<Operand>>(args);
    const Call call{function_.get(), operands.size()};
    const std::vector<Tensor> results = unlocked([&] {
      const std::vector<detail::FusedArgument> list = arguments_of(operands);
      return detail::run_fused(*core_, &trace, &call, list.data(), list.size());
    });
    return results.size() == 1 ? nb::cast(results[0]) : nb::object(nb::tuple(nb::cast(results)));
  }
  std::string source(const nb::args& args) const {
    const std::vector<Operand> operands = nb::cast<std::vector<Operand>>(args);
    const Call call{function_.get(), operands.size()};
    return unlocked([&] {
      const std::vector<detail::FusedArgument> list = arguments_of(operands);
      return detail::fused_source(*core_, &trace, &call, list.data(), list.size());
    });
  }

 private:
  Kept function_;
  std::shared_ptr<detail::FusedFunction> core_;
};

using ExprClass = nb::class_<Expr>;

// One signature for all functions of a kind, so nanobind's templates are compiled once for each kind.
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
#define CRISOL_UNARY(name, x, scalars, rule, saved, forward, integer, derivative, reference, reference_derivative, \
                     low, high, ulp, formula)                                                                      \
  m.def(                                                                                                           \
      #name, +[](const Expr& x CRISOL_TERMS_##scalars) { return name(x CRISOL_EXPRS_##scalars); },                 \
      nb::arg(#x) CRISOL_NAMED_##scalars, "The same for an expression of a fused function.");                      \
  expr.def(                                                                                                        \
      #name,                                                                                                       \
      +[](const Expr& x CRISOL_TERMS_##scalars) { return name(x CRISOL_EXPRS_##scalars); } CRISOL_NAMED_##scalars, \
      static_cast<const char*>(formula ", for each element."));
#define CRISOL_BINARY(name, a, b, scalars, ...)                     \
  m.def(                                                            \
      #name,                                                        \
      +[](const Term& a, const Term& b CRISOL_TERMS_##scalars) {    \
        return name(expr_of(a), expr_of(b) CRISOL_EXPRS_##scalars); \
      },                                                            \
      nb::arg(#a), nb::arg(#b) CRISOL_NAMED_##scalars, "The same for expressions of a fused function.");
#define CRISOL_TERNARY(name, a, b, c, scalars, ...)                             \
  m.def(                                                                        \
      #name,                                                                    \
      +[](const Term& a, const Term& b, const Term& c CRISOL_TERMS_##scalars) { \
        return name(expr_of(a), expr_of(b), expr_of(c) CRISOL_EXPRS_##scalars); \
      },                                                                        \
      nb::arg(#a), nb::arg(#b), nb::arg(#c) CRISOL_NAMED_##scalars, "The same for expressions of a fused function.");
#include "crisol/ops/pointwise.def"
}

struct Operator {
  const char* name;
  const char* reflected;  ///< Null if Python finds the reflected operator itself.
  Expr (*function)(const Expr&, const Expr&);
};
constexpr Operator operators[]{
    {"__add__", "__radd__", &add},
    {"__sub__", "__rsub__", &sub},
    {"__mul__", "__rmul__", &mul},
    {"__truediv__", "__rtruediv__", &div},
    {"__mod__", "__rmod__", &remainder},
    {"__pow__", "__rpow__", &pow},
    {"__lt__", nullptr, &lt},
    {"__le__", nullptr, &le},
    {"__gt__", nullptr, &gt},
    {"__ge__", nullptr, &ge},
    {"__eq__", nullptr, &eq},
    {"__ne__", nullptr, &ne},
};

void bind_operators_of_expr(ExprClass& expr) {
  for (const Operator& row : operators) {
    expr.def(
        row.name, [row](const Expr& a, const Term& b) { return row.function(a, expr_of(b)); }, nb::is_operator());
    if (row.reflected != nullptr)
      expr.def(
          row.reflected, [row](const Expr& b, const Term& a) { return row.function(expr_of(a), b); },
          nb::is_operator());
  }
  expr.def("__neg__", [](const Expr& x) { return neg(x); }).def("__abs__", [](const Expr& x) { return abs(x); });
}

struct Reduction {
  const char* name;
  Expr (*function)(const Expr&, const Shape&, bool);
};
constexpr Reduction reductions[]{{"sum", &sum}, {"mean", &mean}, {"max", &max}, {"min", &min}};

}  // namespace

void bind_fuse(nb::module_& m) {
  ExprClass expr(m, "Expr", "An expression that a fused kernel computes for each element; see fuse().");
  expr.def("to", &Expr::to, "dtype"_a, "The value converted to another dtype.");
  bind_functions_of_expr(m, expr);
  bind_operators_of_expr(expr);
  for (const Reduction& row : reductions)
    expr.def(
        row.name,
        [row](const Expr& x, const std::optional<Shape>& axis, bool keepdims) {
          return row.function(x, axis.value_or(Shape()), keepdims);
        },
        "axis"_a = nb::none(), "keepdims"_a = false,
        "A reduction, which ends a fused function: of all axes, or of -1.");
  nb::class_<PythonFused>(m, "fuse", nb::dynamic_attr(),
                          "Makes a function that computes many elementwise functions in one kernel, also as a "
                          "decorator. The function is called with an Expr for each argument, once for each "
                          "combination of dtypes, and returns one Expr or a tuple. Numbers in it become arguments of "
                          "the kernel. The result is differentiable.")
      .def(nb::init<nb::callable>(), "function"_a)
      .def("__call__", &PythonFused::call, "Computes the function of tensors and numbers, which broadcast.")
      .def("source", &PythonFused::source, "The OpenCL C for such arguments.");
}

}  // namespace crisol::python
