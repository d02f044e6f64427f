// Python's operators on tensors.
#include "arguments.h"
#include "bindings.h"
#include "promote.h"

namespace crisol::python {

namespace {

using Binary = Tensor (*)(const Operand&, const Operand&);

template <Binary function>
Tensor reflected(const Operand& b, const Operand& a) {
  return promoted<function>(a, b);
}

/// a + b and 2 + b: a type that is no operand leads to the other object's operator.
template <Binary function>
void bind_both(TensorClass& tensor, const std::string& name) {
  tensor.def(("__" + name + "__").c_str(), &promoted<function>, Unlocked(), nb::is_operator());
  tensor.def(("__r" + name + "__").c_str(), &reflected<function>, Unlocked(), nb::is_operator());
}

/// a += b writes the elements of a, in the element type of a.
template <Binary function>
Tensor& in_place(Tensor& a, const Operand& b) {
  const Tensor value = promoted<function>(a, b);
  if (value.shape() != a.shape())
    throw Error(ErrorCode::invalid_argument, "[operator] the result has shape " + to_string(value.shape()) +
                                                 ", but the tensor to change has shape " + to_string(a.shape()));
  a.copy_from(value);
  return a;
}

void bind_arithmetic(TensorClass& tensor) {
  bind_both<&add>(tensor, "add");
  bind_both<&sub>(tensor, "sub");
  bind_both<&mul>(tensor, "mul");
  bind_both<&div>(tensor, "truediv");
  bind_both<&remainder>(tensor, "mod");
  bind_both<&pow>(tensor, "pow");
}

void bind_comparisons(TensorClass& tensor) {
  const auto bind = [&tensor](const char* name, Binary function) {
    tensor.def(name, function, Unlocked(), nb::is_operator());
  };
  bind("__eq__", &promoted<&eq>);
  bind("__ne__", &promoted<&ne>);
  bind("__lt__", &promoted<&lt>);
  bind("__le__", &promoted<&le>);
  bind("__gt__", &promoted<&gt>);
  bind("__ge__", &promoted<&ge>);
  tensor.attr("__hash__") = nb::module_::import_("builtins").attr("object").attr("__hash__");
}

}  // namespace

void bind_operators(TensorClass& tensor) {
  bind_arithmetic(tensor);
  bind_comparisons(tensor);
  tensor
      .def(
          "__neg__", [](const Tensor& x) { return neg(x); }, Unlocked())
      .def("__pos__", [](const Tensor& x) { return x; })
      .def(
          "__abs__", [](const Tensor& x) { return abs(x); }, Unlocked());
  const auto in_place_operator = [&tensor](const char* name, Tensor& (*function)(Tensor&, const Operand&)) {
    tensor.def(name, function, Unlocked(), nb::is_operator(), itself);
  };
  in_place_operator("__iadd__", [](Tensor& a, const Operand& b) -> Tensor& { return a.add_(b); });
  in_place_operator("__isub__", [](Tensor& a, const Operand& b) -> Tensor& { return a.sub_(b); });
  in_place_operator("__imul__", [](Tensor& a, const Operand& b) -> Tensor& { return a.mul_(b); });
  in_place_operator("__itruediv__", [](Tensor& a, const Operand& b) -> Tensor& { return a.div_(b); });
  in_place_operator("__imod__", [](Tensor& a, const Operand& b) -> Tensor& { return a.remainder_(b); });
  in_place_operator("__ipow__", [](Tensor& a, const Operand& b) -> Tensor& { return a.pow_(b); });
}

}  // namespace crisol::python
