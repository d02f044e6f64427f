// Dtypes of results, and functions over rows.
#include <cmath>

#include "arguments.h"
#include "bindings.h"
#include "tensor/promote.h"

namespace crisol::python {

namespace {

using OptionalType = std::optional<DType>;

Tensor astype(const Tensor& x, DType dtype, bool copy, const std::optional<Device>& device) {
  Tensor y = (device ? x.to(*device) : x).to(dtype);
  return copy && y.impl() == x.impl() ? x.clone() : y;
}

/// clip(). A bound is a tensor, a number or missing. Bounds do not change the dtype of x.
Tensor clip(const Tensor& x, const std::optional<Operand>& low, const std::optional<Operand>& high) {
  const auto in_type = [&](const Operand& bound) {
    return bound.tensor() != nullptr ? bound.tensor()->to(x.dtype()) : Tensor();
  };
  const auto is_number = [](const std::optional<Operand>& bound) {
    return !bound || (bound->tensor() == nullptr && !std::isnan(bound->number().as_double()));
  };
  // Uses clamp() for numbers, because its gradient at the bounds is 0. With maximum() it would be half. A NaN bound is
  // not passed on, because clamp() treats it as no bound.
  if (is_floating(x.dtype()) && (low || high) && is_number(low) && is_number(high))
    return clamp(x, low ? low->number() : Scalar(NAN), high ? high->number() : Scalar(NAN));
  Tensor y = x;
  if (low) {
    const Tensor bound = in_type(*low);
    y = maximum(y, bound.defined() ? Operand(bound) : *low);
  }
  if (high) {
    const Tensor bound = in_type(*high);
    y = minimum(y, bound.defined() ? Operand(bound) : *high);
  }
  return low || high ? y : x.clone();
}

/// The dtype of the result of a function of these tensors, dtypes and numbers, by the Array API standard.
DType result_type_of(const nb::args& arguments) {
  std::optional<DType> common;
  std::optional<DType> of_numbers;
  for (const nb::handle argument : arguments) {
    DType dtype{};
    Scalar number = 0;
    if (nb::isinstance<Tensor>(argument)) {
      dtype = nb::cast<const Tensor&>(argument).dtype();
    } else if (nb::isinstance<DTypeObject>(argument)) {
      dtype = nb::cast<const DTypeObject&>(argument).value;
    } else if (read_scalar(argument.ptr(), number)) {
      of_numbers = of_numbers ? promote_types(*of_numbers, number.dtype()) : number.dtype();
      continue;
    } else {
      throw nb::type_error("result_type() takes tensors, dtypes and numbers");
    }
    common = common ? promote_types(*common, dtype) : dtype;
  }
  if (!common) throw nb::value_error("result_type() needs a tensor or a dtype");
  const auto kind = [](DType dtype) { return is_floating(dtype) ? 2 : is_whole(dtype) ? 1 : 0; };
  if (!of_numbers || kind(*of_numbers) <= kind(*common)) return *common;
  return is_floating(*of_numbers) ? default_dtype() : *of_numbers;
}

bool in_kind(DType dtype, const std::string& kind) {
  if (kind == "bool") return dtype == DType::boolean;
  if (kind == "signed integer") return kind_of(dtype) == DTypeKind::integer;
  if (kind == "unsigned integer") return kind_of(dtype) == DTypeKind::unsigned_integer;
  if (kind == "integral") return is_whole(dtype);
  if (kind == "real floating") return is_floating(dtype);
  if (kind == "complex floating") return false;
  if (kind == "numeric") return dtype != DType::boolean;
  throw nb::value_error(("isdtype(): there is no kind '" + kind + "'").c_str());
}

bool isdtype(DType dtype, nb::handle kind) {
  if (nb::isinstance<nb::str>(kind)) return in_kind(dtype, nb::cast<std::string>(kind));
  if (nb::isinstance<nb::tuple>(kind)) {
    for (const nb::handle one : kind)
      if (isdtype(dtype, one)) return true;
    return false;
  }
  return nb::cast<DType>(kind) == dtype;
}

void bind_types(nb::module_& m) {
  m.def("astype", &astype, "x"_a, "dtype"_a, nb::kw_only(), "copy"_a = true, "device"_a = nb::none(), Unlocked(),
        "The elements of x in another dtype. Floats become integers by rounding toward zero.");
  m.def("result_type", &result_type_of,
        nb::sig("def result_type(*arrays_and_dtypes: Tensor | dtype | bool | int | float) -> dtype"),
        "The dtype of the result of a function of these tensors, dtypes and numbers.");
  m.def("isdtype", &isdtype, "dtype"_a, "kind"_a,
        "Whether the dtype is of a kind: \"bool\", \"signed integer\", \"unsigned integer\", \"integral\", \"real "
        "floating\", \"complex floating\", \"numeric\", a dtype, or a tuple of these.");
}

using AlongAxis = Tensor (*)(const Tensor&, int);

/// With a dtype, as in PyTorch: the elements are converted before.
template <AlongAxis function>
void bind_softmax(nb::module_& m, TensorClass& tensor, const char* name, const char* text) {
  define(m, tensor, name, function, text, "axis"_a = -1);
  const auto converted = [](const Tensor& x, int dim, DType dtype) { return function(x.to(dtype), dim); };
  m.def(name, converted, "x"_a, "dim"_a, "dtype"_a, Unlocked(), text);
  tensor.def(name, converted, "dim"_a, "dtype"_a, Unlocked(), text);
}

}  // namespace

void bind_functions(nb::module_& m, TensorClass& tensor) {
  bind_types(m);
  bind_softmax<&softmax>(m, tensor, "softmax", "exp(x) / sum(exp(x)) along an axis, without overflow.");
  bind_softmax<&log_softmax>(m, tensor, "log_softmax", "x - log(sum(exp(x))) along an axis, without overflow.");
  m.def("_clip", &clip, "x"_a, "min"_a.none(), "max"_a.none(), Unlocked());
  tensor.def("clip", &clip, "min"_a = nb::none(), "max"_a = nb::none(), Unlocked(),
             "min(max(x, min), max), in the dtype of x. The bounds are tensors or numbers.");
  define(m, tensor, "cumsum", &cumsum, "The running sum along an axis. Integers and bool give int64.", "axis"_a);
  define(m, tensor, "cumprod", &cumprod, "The running product along an axis. Integers and bool give int64.", "axis"_a);
  define(m, tensor, "logcumsumexp", &logcumsumexp, "log(cumsum(exp(x))) along an axis, without overflow.", "axis"_a);
  define(m, tensor, "bit_cast", &bit_cast,
         "A copy of x whose bits count as elements of another dtype. If its size differs, the last axis changes.",
         "dtype"_a);
  define(m, tensor, "isclose", &isclose, "Whether |x - other| <= atol + rtol |other|, for each element.", "other"_a,
         "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false);
  m.def("_check_range", &check_range, "op"_a, "x"_a, "low"_a, "high"_a, Unlocked());
  define(m, tensor, "allclose", &allclose, "Whether isclose() is true for all elements. Waits.", "other"_a,
         "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false);
}

}  // namespace crisol::python
