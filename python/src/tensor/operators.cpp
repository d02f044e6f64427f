// Python's operators on tensors.
#include "arguments.h"
#include "bindings.h"
#include "tensor/host.h"
#include "tensor/promote.h"

namespace crisol::python {

namespace {

using Binary = Tensor (*)(const Operand&, const Operand&);

template <Binary function>
Tensor reflected(const Operand& b, const Operand& a) {
  return promoted<function>(a, b);
}

/// Defines an operator for a tensor with an operand or with a NumPy array. The array's elements go to the tensor's
/// device. For other types Python tries the other object's operator.
template <class Right>
void bind_operator(TensorClass& tensor, const std::string& name, Tensor (*function)(const Right&, const Right&)) {
  tensor.def(
      name.c_str(),
      [function](const Tensor& a, const OrArray<Right>& b) {
        if (b.operand) return unlocked([&] { return function(a, *b.operand); });
        const Tensor array = from_host(b.array, a.device());
        return unlocked([&] { return function(a, array); });
      },
      nb::is_operator());
}

/// Defines a + b, and 2 + b.
template <Binary function>
void bind_both(TensorClass& tensor, const std::string& name) {
  bind_operator(tensor, "__" + name + "__", &promoted<function>);
  bind_operator(tensor, "__r" + name + "__", &reflected<function>);
}

/// Defines a += b, which writes to the elements of a in the element type of a.
template <Binary function>
Tensor& in_place(Tensor& a, const Operand& b) {
  // This is used only for functions of whole numbers, which have no gradient.
  const Tensor value = promoted<function>(a, b);
  if (value.shape() != a.shape())
    throw Error(ErrorCode::invalid_argument, "[operator] the result has shape " + to_string(value.shape()) +
                                                 ", but the tensor to change has shape " + to_string(a.shape()));
  a.copy_from(value);
  return a;
}

Tensor reflected_product(const Tensor& b, const Tensor& a) { return multiply_matrices(a, b); }

void bind_arithmetic(TensorClass& tensor) {
  bind_both<&add>(tensor, "add");
  bind_both<&sub>(tensor, "sub");
  bind_both<&mul>(tensor, "mul");
  bind_both<&div>(tensor, "truediv");
  bind_both<&remainder>(tensor, "mod");
  bind_both<&pow>(tensor, "pow");
  bind_both<&floor_divide>(tensor, "floordiv");
  bind_both<&bitwise_and>(tensor, "and");
  bind_both<&bitwise_or>(tensor, "or");
  bind_both<&bitwise_xor>(tensor, "xor");
  bind_both<&bitwise_left_shift>(tensor, "lshift");
  bind_both<&bitwise_right_shift>(tensor, "rshift");
  bind_operator(tensor, "__matmul__", &multiply_matrices);
  bind_operator(tensor, "__rmatmul__", &reflected_product);
  tensor
      .def(
          "__neg__", [](const Tensor& x) { return neg(x); }, Unlocked())
      .def("__pos__", [](const Tensor& x) { return x; })
      .def(
          "__abs__", [](const Tensor& x) { return abs(x); }, Unlocked())
      .def("__invert__", &bitwise_not, Unlocked());
}

void bind_comparisons(TensorClass& tensor) {
  const auto bind = [&tensor](const char* name, Binary function) { bind_operator(tensor, name, function); };
  bind("__eq__", &promoted<&eq>);
  bind("__ne__", &promoted<&ne>);
  bind("__lt__", &promoted<&lt>);
  bind("__le__", &promoted<&le>);
  bind("__gt__", &promoted<&gt>);
  bind("__ge__", &promoted<&ge>);
  // A class that defines __eq__ loses the inherited __hash__. As dictionary keys, tensors are equal if they are the
  // same object.
  tensor.attr("__hash__") = nb::module_::import_("builtins").attr("object").attr("__hash__");
}

/// Like the function above, for operators that write to a.
template <class Right>
void bind_in_place(TensorClass& tensor, const char* name, Tensor& (*function)(Tensor&, const Right&)) {
  tensor.def(
      name,
      [function](Tensor& a, const OrArray<Right>& b) -> Tensor& {
        const Tensor array = b.operand ? Tensor() : from_host(b.array, a.device());
        const nb::gil_scoped_release free;
        return b.operand ? function(a, *b.operand) : function(a, array);
      },
      nb::is_operator(), itself);
}

Tensor& multiply_in_place(Tensor& a, const Tensor& b) {
  // Copies a, because the product may keep it for its gradient, and a is then overwritten.
  a.copy_from(multiply_matrices(grad_enabled() && b.requires_grad() ? a.clone() : a, b));
  return a;
}

void bind_in_place(TensorClass& tensor) {
  const auto bind = [&tensor](const char* name, Tensor& (*function)(Tensor&, const Operand&)) {
    bind_in_place(tensor, name, function);
  };
  bind("__iadd__", [](Tensor& a, const Operand& b) -> Tensor& { return a.add_(b); });
  bind("__isub__", [](Tensor& a, const Operand& b) -> Tensor& { return a.sub_(b); });
  bind("__imul__", [](Tensor& a, const Operand& b) -> Tensor& { return a.mul_(b); });
  bind("__itruediv__", [](Tensor& a, const Operand& b) -> Tensor& { return a.div_(b); });
  bind("__imod__", [](Tensor& a, const Operand& b) -> Tensor& { return a.remainder_(b); });
  bind("__ipow__", [](Tensor& a, const Operand& b) -> Tensor& { return a.pow_(b); });
  bind("__ifloordiv__", [](Tensor& a, const Operand& b) -> Tensor& { return a.floor_divide_(b); });
  bind("__iand__", &in_place<&bitwise_and>);
  bind("__ior__", &in_place<&bitwise_or>);
  bind("__ixor__", &in_place<&bitwise_xor>);
  bind("__ilshift__", &in_place<&bitwise_left_shift>);
  bind("__irshift__", &in_place<&bitwise_right_shift>);
  bind_in_place(tensor, "__imatmul__", &multiply_in_place);
}

/// The product of two numbers.
Scalar times(const Scalar& a, const Scalar& b) {
  if (is_floating(a.dtype()) || is_floating(b.dtype())) return a.as_double() * b.as_double();
  return a.as_int() * b.as_int();
}

/// f(b times a number).
template <class Function>
decltype(auto) with_product(const Operand& b, const Scalar& alpha, Function f) {
  return b.tensor() != nullptr ? f(mul(b, alpha)) : f(times(b.number(), alpha));
}

/// PyTorch's add(a, b, alpha=…) and sub(a, b, alpha=…): b is first multiplied by a number.
void bind_scaled(nb::module_& m, TensorClass& tensor, const char* name, Binary function,
                 Tensor& (*in_place)(Tensor&, const Operand&)) {
  const auto scaled = [function](const Tensor& a, const Operand& b, const Scalar& alpha) {
    return with_product(b, alpha, [&](const Operand& product) { return function(a, product); });
  };
  const std::string text = std::string(name) + "(a, alpha * b), for each element.";
  m.def(name, scaled, "input"_a, "other"_a, nb::kw_only(), "alpha"_a, Unlocked(), text.c_str());
  tensor.def(name, scaled, "other"_a, nb::kw_only(), "alpha"_a, Unlocked(), text.c_str());
  tensor.def((std::string(name) + "_").c_str(),
             [in_place](Tensor& a, const Operand& b, const Scalar& alpha) -> Tensor& {
               return with_product(b, alpha, [&](const Operand& product) -> Tensor& { return in_place(a, product); });
             },
             "other"_a, nb::kw_only(), "alpha"_a, Unlocked(), itself, text.c_str());
}

}  // namespace

void bind_operators(nb::module_& m, TensorClass& tensor) {
  bind_arithmetic(tensor);
  bind_comparisons(tensor);
  bind_in_place(tensor);
  bind_scaled(m, tensor, "add", &add, [](Tensor& a, const Operand& b) -> Tensor& { return a.add_(b); });
  bind_scaled(m, tensor, "sub", &sub, [](Tensor& a, const Operand& b) -> Tensor& { return a.sub_(b); });
  const auto bind = [&m](const char* name, Binary function, const char* text) {
    m.def(name, function, "x1"_a, "x2"_a, Unlocked(), text);
  };
  bind("nextafter", &promoted<&nextafter>, "The float32 number next to x1 in the direction of x2, for each element.");
  bind("bitwise_and", &promoted<&bitwise_and>, "The bits that are 1 in x1 and in x2; of bool: logical_and.");
  bind("bitwise_or", &promoted<&bitwise_or>, "The bits that are 1 in x1 or in x2; of bool: logical_or.");
  bind("bitwise_xor", &promoted<&bitwise_xor>, "The bits that differ in x1 and x2; of bool: logical_xor.");
  bind("bitwise_left_shift", &promoted<&bitwise_left_shift>, "The bits of x1 moved to the left by x2 places.");
  bind("bitwise_right_shift", &promoted<&bitwise_right_shift>, "The bits of x1 moved to the right: floor(x1 / 2^x2).");
  m.def("bitwise_invert", &bitwise_not, "x"_a, Unlocked(), "Each bit of x inverted; of bool: logical_not.");
}

}  // namespace crisol::python
