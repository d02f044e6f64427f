// Ops that compute each element by itself.
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;

// `f` and `formula` are one function, for tensors and for expressions.

template <Tensor (*f)(const Tensor&), Expr (*formula)(const Expr&)>
Run unary(Call& call) {
  call.check_counts(1, 1);
  return {[](const Data& in, Device device) { return Data{f(in[0].tensor(device))}; },
          [](std::span<const Expr> in) { return formula(in[0]); }};
}

template <class X>
X not_(const X& x) {
  return logical_not(x);
}
template <class X>
X softsign(const X& x) {
  return x / (abs(x) + 1.0);
}
template <class X>
X softplus_(const X& x) {
  return softplus(x);
}

template <Tensor (*f)(const Operand&, const Operand&), Expr (*formula)(const Expr&, const Expr&)>
Run binary(Call& call) {
  call.check_counts(2, 2);
  return {[](const Data& in, Device device) { return Data{f(in[0].tensor(device), in[1].tensor(device))}; },
          [](std::span<const Expr> in) { return formula(in[0], in[1]); }};
}

void refuse_integers(const Tensor& x) {
  require(is_floating(x.dtype()), "onnx", "elements of ", x.dtype(), " are not supported, f32 and f16 are");
}

/// Whole numbers on the host stay there if they have one shape, or one of them is a single number.
template <Tensor (*f)(const Operand&, const Operand&), Expr (*formula)(const Expr&, const Expr&), class Host>
Run arithmetic(Call& call, Host host) {
  call.check_counts(2, 2);
  const auto run = [host](const Data& in, Device device) -> Data {
    const Datum &a = in[0], &b = in[1];
    if (!a.on_host() || !b.on_host() || (a.shape() != b.shape() && a.shape().numel() != 1 && b.shape().numel() != 1))
      return {f(a.tensor(device), b.tensor(device))};
    const std::vector<std::int64_t> x = a.numbers(), y = b.numbers();
    const Datum& longer = a.shape().rank() > b.shape().rank() || x.size() > y.size() ? a : b;
    std::vector<std::int64_t> z(std::max(x.size(), y.size()));
    if (x.empty() || y.empty()) z.clear();
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = host(x[x.size() == 1 ? 0 : i], y[y.size() == 1 ? 0 : i]);
    return {Datum(std::move(z), longer.shape(), a.dtype())};
  };
  return {run, [](std::span<const Expr> in) { return formula(in[0], in[1]); }};
}

// Overflow wraps, as on a device.
Run add_(Call& call) {
  return arithmetic<add, add>(call, [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  });
}
Run sub_(Call& call) {
  return arithmetic<sub, sub>(call, [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  });
}
Run mul_(Call& call) {
  return arithmetic<mul, mul>(call, [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  });
}

/// ONNX cuts quotients of integers, the library's div() gives f32.
Tensor float_div(const Operand& a, const Operand& b) {
  refuse_integers(*a.tensor());
  return div(a, b);
}
Run div_(Call& call) {
  return arithmetic<float_div, div>(call, [](std::int64_t a, std::int64_t b) {
    require(b != 0 && (b != -1 || a != INT64_MIN), "onnx", a, " / ", b, " has no value");
    return a / b;
  });
}

/// Before version 7 the second operand is broadcast only if `broadcast` says so. Its axes then begin at `axis`, or end
/// with those of the first.
template <Tensor (*f)(const Operand&, const Operand&)>
Run binary_of_version_6(Call& call) {
  call.check_counts(2, 2);
  const bool broadcasts = call.integer("broadcast", 0) != 0;
  const bool has_axis = call.has("axis");
  const std::int64_t axis = call.integer("axis", 0);
  return [=](const Data& in, Device device) {
    const Tensor a = in[0].tensor(device);
    Tensor b = in[1].tensor(device);
    require(broadcasts || a.shape() == b.shape(), "onnx", "operands of shapes ", a.shape(), " and ", b.shape(),
            " without broadcast");
    if (has_axis && broadcasts) {
      require(axis >= 0 && axis + b.dim() <= a.dim(), "onnx", "axis ", axis, " of shapes ", a.shape(), " and ",
              b.shape());
      Shape sizes = b.shape();
      while (axis + sizes.rank() < a.dim()) sizes.push_back(1);
      b = b.reshape(sizes);
    }
    return Data{f(a, b)};
  };
}

Run pow_(Call& call) {
  call.check_counts(2, 2);
  const auto run = [](const Data& in, Device device) {
    const Tensor base = in[0].tensor(device);
    refuse_integers(base);
    return Data{pow(base, in[1].tensor(device)).to(base.dtype())};
  };
  return {run, [](std::span<const Expr> in) { return pow(in[0], in[1]); }};
}

/// Any number of inputs.
template <Tensor (*f)(const Operand&, const Operand&), Expr (*formula)(const Expr&, const Expr&)>
Run variadic(Call& call) {
  call.check_counts(call.inputs(), call.inputs());
  require(call.inputs() > 0, "onnx", "input 0 is missing");
  const auto run = [](const Data& in, Device device) {
    Tensor result = in[0].tensor(device);
    for (std::size_t i = 1; i < in.size(); ++i) result = f(result, in[i].tensor(device));
    return Data{result};
  };
  return {run, [](std::span<const Expr> in) {
            Expr result = in[0];
            for (const Expr& other : in.subspan(1)) result = formula(result, other);
            return result;
          }};
}

Run mean_(Call& call) {
  const Run sum = variadic<add, add>(call);
  return [sum](const Data& in, Device device) {
    const Tensor total = sum(in, device)[0].tensor(device);
    refuse_integers(total);
    return Data{total / static_cast<double>(in.size())};
  };
}

Run mod(Call& call) {
  call.check_counts(2, 2);
  const bool has_sign_of_a = call.integer("fmod", 0) != 0;
  return [=](const Data& in, Device device) {
    const Tensor a = in[0].tensor(device), b = in[1].tensor(device);
    return Data{has_sign_of_a ? fmod(a, b) : remainder(a, b)};
  };
}

Run is_inf(Call& call) {
  call.check_counts(1, 1);
  const bool negative = call.integer("detect_negative", 1) != 0, positive = call.integer("detect_positive", 1) != 0;
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    if (negative && positive) return Data{isinf(x)};
    if (!negative && !positive) return Data{zeros_like(x, DType::boolean)};
    return Data{logical_and(isinf(x), negative ? x.lt(0) : x.gt(0))};
  };
}

Run where_(Call& call) {
  call.check_counts(3, 3);
  return {[](const Data& in, Device device) {
            return Data{where(in[0].tensor(device), in[1].tensor(device), in[2].tensor(device))};
          },
          [](std::span<const Expr> in) { return where(in[0], in[1], in[2]); }};
}

}  // namespace

std::vector<Row> pointwise_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Abs", 6, newest, unary<abs, abs>},
      {"Acos", 7, newest, unary<acos, acos>},
      {"Acosh", 9, newest, unary<acosh, acosh>},
      {"Add", 6, 6, binary_of_version_6<add>},
      {"Add", 7, newest, add_},
      {"And", 7, newest, binary<logical_and, logical_and>},
      {"Asin", 7, newest, unary<asin, asin>},
      {"Asinh", 9, newest, unary<asinh, asinh>},
      {"Atan", 7, newest, unary<atan, atan>},
      {"Atanh", 9, newest, unary<atanh, atanh>},
      {"Ceil", 6, newest, unary<ceil, ceil>},
      {"Cos", 7, newest, unary<cos, cos>},
      {"Cosh", 9, newest, unary<cosh, cosh>},
      {"Div", 6, 6, binary_of_version_6<float_div>},
      {"Div", 7, newest, div_},
      {"Equal", 7, newest, binary<eq, eq>},
      {"Erf", 9, newest, unary<erf, erf>},
      {"Exp", 6, newest, unary<exp, exp>},
      {"Floor", 6, newest, unary<floor, floor>},
      {"Greater", 7, newest, binary<gt, gt>},
      {"GreaterOrEqual", 12, newest, binary<ge, ge>},
      {"HardSwish", 14, newest, unary<hard_swish, hard_swish>},
      {"IsInf", 10, newest, is_inf},
      {"IsNaN", 9, newest, unary<isnan, isnan>},
      {"Less", 7, newest, binary<lt, lt>},
      {"LessOrEqual", 12, newest, binary<le, le>},
      {"Log", 6, newest, unary<log, log>},
      {"Max", 6, newest, variadic<maximum, maximum>},
      {"Mean", 6, newest, mean_},
      {"Min", 6, newest, variadic<minimum, minimum>},
      {"Mish", 18, newest, unary<mish, mish>},
      {"Mod", 10, newest, mod},
      {"Mul", 6, 6, binary_of_version_6<mul>},
      {"Mul", 7, newest, mul_},
      {"Neg", 6, newest, unary<neg, neg>},
      {"Not", 1, newest, unary<not_, not_>},
      {"Or", 7, newest, binary<logical_or, logical_or>},
      {"Pow", 7, newest, pow_},
      {"Reciprocal", 6, newest, unary<reciprocal, reciprocal>},
      {"Relu", 6, newest, unary<relu, relu>},
      {"Round", 11, newest, unary<round, round>},
      {"Sigmoid", 6, newest, unary<sigmoid, sigmoid>},
      {"Sign", 9, newest, unary<sign, sign>},
      {"Sin", 7, newest, unary<sin, sin>},
      {"Sinh", 9, newest, unary<sinh, sinh>},
      {"Softplus", 1, newest, unary<softplus_, softplus_>},
      {"Softsign", 1, newest, unary<softsign, softsign>},
      {"Sqrt", 6, newest, unary<sqrt, sqrt>},
      {"Sub", 6, 6, binary_of_version_6<sub>},
      {"Sub", 7, newest, sub_},
      {"Sum", 6, newest, variadic<add, add>},
      {"Tan", 7, newest, unary<tan, tan>},
      {"Tanh", 6, newest, unary<tanh, tanh>},
      {"Where", 9, newest, where_},
      {"Xor", 7, newest, binary<logical_xor, logical_xor>},
  };
}

}  // namespace crisol::onnx
