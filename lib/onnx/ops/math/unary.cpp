// Ops with one input that compute each element by itself.
#include "crisol/functions/elementwise.h"
#include "onnx/ops/host_numbers.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;
using graph::Value;

// `f` and `formula` are the same function, for tensors and for expressions.

template <Tensor (*f)(const Tensor&), Expr (*formula)(const Expr&)>
Run unary(Call& call) {
  call.check_counts(1, 1);
  call.gives_same();
  return {[](const Data& in, Device device) { return Data{f(in[0].tensor(device))}; },
          [](std::span<const Expr> in) { return formula(in[0]); }};
}

/// The same for ops that ONNX also has for whole numbers. Numbers on the host stay on the host.
template <Tensor (*f)(const Tensor&), Expr (*formula)(const Expr&), std::int64_t (*host)(std::int64_t)>
Run unary_of_numbers(Call& call) {
  const Run on_device = unary<f, formula>(call);
  return {[on_device](const Data& in, Device device) -> Data {
            if (const auto y = map_on_host(in, in[0].dtype(), [](const std::int64_t* n) { return host(*n); }))
              return {*y};
            return on_device(in, device);
          },
          on_device.formula};
}

std::int64_t opposite(std::int64_t n) { return difference_on_host(0, n); }
std::int64_t absolute(std::int64_t n) { return n < 0 ? opposite(n) : n; }

/// The same for ops that ONNX has only for floating-point numbers.
template <Tensor (*f)(const Tensor&), Expr (*formula)(const Expr&)>
Run unary_of_reals(Call& call) {
  call.require_floating(0);
  return unary<f, formula>(call);
}

template <class X>
X softsign(const X& x) {
  return x / (abs(x) + 1.0);
}
template <class X>
X softplus_(const X& x) {
  return softplus(x);
}

Run not_(Call& call) {
  call.check_counts(1, 1);
  call.gives_same();
  return [](const Data& in, Device device) -> Data {
    if (const auto y = map_on_host(in, DType::boolean, [](const std::int64_t* n) { return *n == 0 ? 1 : 0; }))
      return {*y};
    return {logical_not(in[0].tensor(device))};
  };
}

Value with_dtype(Value value, DType dtype) {
  value.dtype = dtype;
  return value;
}

Run is_inf(Call& call) {
  call.check_counts(1, 1);
  call.require_floating(0);
  call.gives(0, with_dtype(call.input(0), DType::boolean));
  const bool negative = call.integer("detect_negative", 1) != 0, positive = call.integer("detect_positive", 1) != 0;
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    if (negative && positive) return Data{isinf(x)};
    if (!negative && !positive) return Data{zeros_like(x, DType::boolean)};
    return Data{logical_and(isinf(x), negative ? x.lt(0) : x.gt(0))};
  };
}

Run is_nan(Call& call) {
  call.check_counts(1, 1);
  call.require_floating(0);
  call.gives(0, with_dtype(call.input(0), DType::boolean));
  return [](const Data& in, Device device) { return Data{isnan(in[0].tensor(device))}; };
}

}  // namespace

std::vector<Row> unary_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Abs", 1, newest, unary_of_numbers<abs, abs, absolute>},
      {"Acos", 7, newest, unary_of_reals<acos, acos>},
      {"Acosh", 9, newest, unary_of_reals<acosh, acosh>},
      {"Asin", 7, newest, unary_of_reals<asin, asin>},
      {"Asinh", 9, newest, unary_of_reals<asinh, asinh>},
      {"Atan", 7, newest, unary_of_reals<atan, atan>},
      {"Atanh", 9, newest, unary_of_reals<atanh, atanh>},
      {"Ceil", 1, newest, unary_of_reals<ceil, ceil>},
      {"Cos", 7, newest, unary_of_reals<cos, cos>},
      {"Cosh", 9, newest, unary_of_reals<cosh, cosh>},
      {"Erf", 9, newest, unary_of_reals<erf, erf>},
      {"Exp", 1, newest, unary_of_reals<exp, exp>},
      {"Floor", 1, newest, unary_of_reals<floor, floor>},
      {"HardSwish", 14, newest, unary_of_reals<hard_swish, hard_swish>},
      {"IsInf", 10, newest, is_inf},
      {"IsNaN", 9, newest, is_nan},
      {"Log", 1, newest, unary_of_reals<log, log>},
      {"Mish", 18, newest, unary_of_reals<mish, mish>},
      {"Neg", 1, newest, unary_of_numbers<neg, neg, opposite>},
      {"Not", 1, newest, not_},
      {"Reciprocal", 1, newest, unary_of_reals<reciprocal, reciprocal>},
      {"Relu", 1, newest, unary<relu, relu>},
      {"Round", 11, newest, unary_of_reals<round, round>},
      {"Sigmoid", 1, newest, unary_of_reals<sigmoid, sigmoid>},
      {"Sign", 9, newest, unary<sign, sign>},
      {"Sin", 7, newest, unary_of_reals<sin, sin>},
      {"Sinh", 9, newest, unary_of_reals<sinh, sinh>},
      {"Softplus", 1, newest, unary_of_reals<softplus_, softplus_>},
      {"Softsign", 1, newest, unary_of_reals<softsign, softsign>},
      {"Sqrt", 1, newest, unary_of_reals<sqrt, sqrt>},
      {"Tan", 7, newest, unary_of_reals<tan, tan>},
      {"Tanh", 1, newest, unary_of_reals<tanh, tanh>},
  };
}

}  // namespace crisol::onnx
