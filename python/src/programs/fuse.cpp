// fuse(): Python functions of expressions as kernels.
#include <map>

#include "arguments.h"
#include "callback.h"
#include "collector.h"
#include "programs/expressions.h"
#include "programs/topics.h"

namespace crisol::python {

namespace {

/// The call that is traced: a function, its instance if it is a method, and the names of its keyword arguments.
struct Call {
  nb::handle function;
  nb::handle instance;
  const std::vector<Operand>& operands;  ///< The positional arguments, then the keyword arguments.
  const std::vector<std::string>& keywords;
};

DType dtype_of(const Operand& operand) {
  const Tensor* tensor = operand.tensor();
  return tensor == nullptr ? operand.number().dtype() : tensor->dtype();
}

void append(nb::handle result, std::vector<Expr>& results) {
  if (nb::isinstance<nb::tuple>(result) || nb::isinstance<nb::list>(result))
    for (const nb::handle part : result) append(part, results);
  else
    results.push_back(nb::cast<const TypedExpr&>(result).expr);
}

void evaluate(const void* function, const Expr* arguments, std::vector<Expr>& results) {
  with_python([&] {
    const Call& call = *static_cast<const Call*>(function);
    nb::list args;
    nb::dict kwargs;
    if (call.instance.is_valid()) args.append(call.instance);
    const std::size_t positional = call.operands.size() - call.keywords.size();
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const nb::object argument = nb::cast(TypedExpr{arguments[i], dtype_of(call.operands[i]) == DType::boolean});
      if (i < positional)
        args.append(argument);
      else
        kwargs[call.keywords[i - positional].c_str()] = argument;
    }
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

/// The recordings of one function, by the names of its keyword arguments in the order of the call. The library knows
/// arguments only by position, so each order needs separate recordings.
using Recordings = std::map<std::vector<std::string>, std::shared_ptr<detail::FusedFunction>>;

template <class Result>
using Run = Result (*)(detail::FusedFunction&, detail::FusedBody, const void*, const detail::FusedArgument*,
                       std::size_t);

/// A fused Python function. For a method it also has the instance.
class PythonFused {
 public:
  explicit PythonFused(nb::callable function)
      : function_(std::move(function)), recordings_(std::make_shared<Recordings>()), of_instances_(weak_dict()) {}
  PythonFused(const PythonFused& method, nb::handle instance, std::shared_ptr<Recordings> recordings)
      : function_(method.function_),
        recordings_(std::move(recordings)),
        of_instances_(method.of_instances_),
        instance_(nb::borrow(instance)) {}

  nb::object call(const nb::args& args, const nb::kwargs& kwargs) const {
    if (has_expr(args) || (kwargs.size() > 0 && has_expr(kwargs.values()))) return call_itself(args, kwargs);
    const std::vector<Tensor> results = with_call(args, kwargs, detail::run_fused);
    return results.size() == 1 ? nb::cast(results[0]) : nb::object(nb::tuple(nb::cast(results)));
  }
  std::string source(const nb::args& args, const nb::kwargs& kwargs) const {
    return with_call(args, kwargs, detail::fused_source);
  }

  std::vector<PyObject*> references() const { return {function_.ptr(), of_instances_.ptr(), instance_.ptr()}; }
  void forget() {
    function_ = nb::none();
    of_instances_ = nb::none();
    instance_.reset();
  }

  /// The method bound to an instance. A recording may depend on the instance, so each instance has its own
  /// recordings.
  PythonFused of(nb::handle instance) const {
    const nb::object& table = of_instances_;
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
  static nb::object weak_dict() { return nb::module_::import_("weakref").attr("WeakKeyDictionary")(); }

  static bool has_expr(nb::handle values) {
    for (const nb::handle value : values)
      if (nb::isinstance<TypedExpr>(value)) return true;
    return false;
  }

  /// The function was called within another fused function, and becomes a part of it.
  nb::object call_itself(const nb::args& args, const nb::kwargs& kwargs) const {
    return instance_.is_valid() ? function_(instance_, *args, **kwargs) : function_(*args, **kwargs);
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
    const Call call{function_, instance_, operands, keywords};
    return unlocked([&, kept = recording] {
      const std::vector<detail::FusedArgument> list = arguments_of(operands);
      return run(*kept, &evaluate, &call, list.data(), list.size());
    });
  }

  nb::object function_;
  std::shared_ptr<Recordings> recordings_;
  nb::object of_instances_;  ///< Recordings by instance. The mapping does not keep instances alive.
  nb::object instance_;      ///< The instance. Null for a plain function.
};

}  // namespace

void bind_fuse(nb::module_& m) {
  bind_expressions(m);
  nb::class_<PythonFused>(m, "fuse", nb::dynamic_attr(), nb::type_slots(reference_slots<PythonFused, true>),
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
