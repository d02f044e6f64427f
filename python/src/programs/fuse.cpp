// fuse(): Python functions of expressions as kernels. The functions of crisol/ops/pointwise.def also take expressions.
#include <map>

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

/// What a trace calls: a function, the instance if it is a method, and the form of the arguments.
struct Call {
  nb::handle function;
  nb::handle instance;
  std::size_t positional;
  const std::vector<std::string>& keywords;
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
    nb::list args;
    nb::dict kwargs;
    if (call.instance.is_valid()) args.append(call.instance);
    for (std::size_t i = 0; i < call.positional; ++i) args.append(nb::cast(*arguments++));
    for (const std::string& keyword : call.keywords) kwargs[keyword.c_str()] = nb::cast(*arguments++);
    append(call.function(*args, **kwargs), results);
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

/// The recordings of one function, by the names of its keyword arguments in the order of the call. The library sees
/// arguments by their positions alone, so each order has recordings of its own.
using Recordings = std::map<std::vector<std::string>, std::shared_ptr<detail::FusedFunction>>;

template <class Result>
using Run = Result (*)(detail::FusedFunction&, detail::Trace, const void*, const detail::FusedArgument*, std::size_t);

/// A fused Python function, or a method with its instance.
class PythonFused {
 public:
  explicit PythonFused(nb::callable function)
      : function_(function), recordings_(std::make_shared<Recordings>()), of_instances_(weak_dict()) {}
  PythonFused(const PythonFused& method, nb::handle instance, std::shared_ptr<Recordings> recordings)
      : function_(method.function_),
        recordings_(std::move(recordings)),
        of_instances_(method.of_instances_),
        instance_(Kept(instance)) {}

  nb::object call(const nb::args& args, const nb::kwargs& kwargs) const {
    if (has_expr(args) || (kwargs.size() > 0 && has_expr(kwargs.values()))) return call_itself(args, kwargs);
    const std::vector<Tensor> results = with_call(args, kwargs, detail::run_fused);
    return results.size() == 1 ? nb::cast(results[0]) : nb::object(nb::tuple(nb::cast(results)));
  }
  std::string source(const nb::args& args, const nb::kwargs& kwargs) const {
    return with_call(args, kwargs, detail::fused_source);
  }

  /// The method of an instance. What a method records may depend on its instance, so each has recordings of its own.
  PythonFused of(nb::handle instance) const {
    const nb::object table = nb::borrow(of_instances_.get());
    nb::object capsule = table.attr("get")(instance);
    if (capsule.is_none()) {
      auto made = std::make_unique<std::shared_ptr<Recordings>>(std::make_shared<Recordings>());
      const auto destroy = [](void* data) noexcept { delete static_cast<std::shared_ptr<Recordings>*>(data); };
      capsule = nb::capsule(made.release(), destroy);
      table[instance] = capsule;
    }
    return PythonFused(*this, instance,
                       *static_cast<std::shared_ptr<Recordings>*>(nb::borrow<nb::capsule>(capsule).data()));
  }

 private:
  static Kept weak_dict() { return Kept(nb::module_::import_("weakref").attr("WeakKeyDictionary")()); }

  static bool has_expr(nb::handle values) {
    for (const nb::handle value : values)
      if (nb::isinstance<Expr>(value)) return true;
    return false;
  }

  nb::handle instance() const { return instance_ ? instance_->get() : nb::handle(); }

  /// A part of another fused function.
  nb::object call_itself(const nb::args& args, const nb::kwargs& kwargs) const {
    return instance_ ? function_.get()(instance(), *args, **kwargs) : function_.get()(*args, **kwargs);
  }

  template <class Result>
  Result with_call(const nb::args& args, const nb::kwargs& kwargs, Run<Result> run) const {
    std::vector<Operand> operands = nb::cast<std::vector<Operand>>(args);
    std::vector<std::string> keywords;
    for (const auto& [keyword, value] : kwargs) {
      keywords.push_back(nb::cast<std::string>(keyword));
      operands.push_back(nb::cast<Operand>(value));
    }
    auto& recording = (*recordings_)[keywords];
    if (recording == nullptr) recording = detail::make_fused("fuse");
    const Call call{function_.get(), instance(), args.size(), keywords};
    return unlocked([&, kept = recording] {
      const std::vector<detail::FusedArgument> list = arguments_of(operands);
      return run(*kept, &trace, &call, list.data(), list.size());
    });
  }

  Kept function_;
  std::shared_ptr<Recordings> recordings_;
  Kept of_instances_;  ///< Recordings by instance, which it does not keep alive.
  std::optional<Kept> instance_;
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
  expr.def("__neg__", [](const Expr& x) { return neg(x); })
      .def("__abs__", [](const Expr& x) { return abs(x); })
      .def(
          "__bool__",
          [](const Expr&) -> bool {
            throw nb::type_error(
                "[fuse] an expression stands for all elements, so it is neither true nor false: use crisol.where "
                "instead of if, and crisol.logical_and, logical_or and logical_not instead of and, or and not");
          },
          nb::sig("def __bool__(self) -> typing.NoReturn"));
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
                          "decorator of a function or method. The function is called with an Expr for each argument, "
                          "once for each combination of dtypes, and returns one Expr or a tuple. Numbers in it become "
                          "arguments of the kernel. A method is called once for each instance too. The result is "
                          "differentiable.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<PythonFused> self, const nb::callable& function) {
            new (static_cast<void*>(self.p)) PythonFused(function);
            nb::inst_mark_ready(self.h);
            nb::module_::import_("functools").attr("update_wrapper")(self.h, function);
          },
          "function"_a)
      .def(
          "__get__",
          [](nb::handle self, nb::handle instance, nb::handle) {
            if (instance.is_none()) return nb::borrow(self);
            nb::object method = nb::cast(nb::cast<const PythonFused&>(self).of(instance));
            method.attr("__dict__") = self.attr("__dict__");
            return method;
          },
          "instance"_a.none(), "owner"_a = nb::none(),
          nb::sig("def __get__(self, instance: object, owner: type | None = None) -> fuse"))
      .def("__call__", &PythonFused::call,
           nb::sig("def __call__(self, *args: Tensor | Expr | float, **kwargs: Tensor | Expr | float) -> typing.Any"),
           "Computes the function of tensors and numbers, which broadcast.")
      .def("source", &PythonFused::source,
           nb::sig("def source(self, *args: Tensor | float, **kwargs: Tensor | float) -> str"),
           "The OpenCL C for such arguments.");
}

}  // namespace crisol::python
