// Ops that compute each element by itself.
#include "base/text.h"
#include "crisol/functions/bitwise.h"
#include "crisol/functions/elementwise.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;

template <Tensor (*f)(const Tensor&)>
Run unary(Call& call) {
  call.check_counts(1, 1);
  return [](const Data& in, Device device) { return Data{f(in[0].tensor(device))}; };
}

Tensor not_(const Tensor& x) { return logical_not(x); }
Tensor softsign(const Tensor& x) { return x / (x.abs() + 1.0); }
Tensor softplus_(const Tensor& x) { return softplus(x); }
Tensor hard_swish_(const Tensor& x) { return hard_swish(x); }

template <Tensor (*f)(const Operand&, const Operand&)>
Run binary(Call& call) {
  call.check_counts(2, 2);
  return [](const Data& in, Device device) { return Data{f(in[0].tensor(device), in[1].tensor(device))}; };
}

/// Whole numbers on the host stay there if they have one shape, or one of them is a single number.
template <Tensor (*f)(const Operand&, const Operand&), class Host>
Run arithmetic(Call& call, Host host) {
  call.check_counts(2, 2);
  return [host](const Data& in, Device device) -> Data {
    const Datum &a = in[0], &b = in[1];
    if (!a.on_host() || !b.on_host() || (a.shape() != b.shape() && a.shape().numel() != 1 && b.shape().numel() != 1))
      return {f(a.tensor(device), b.tensor(device))};
    const std::vector<std::int64_t> x = a.numbers(), y = b.numbers();
    const Datum& longer = a.shape().rank() > b.shape().rank() || x.size() > y.size() ? a : b;
    std::vector<std::int64_t> z(std::max(x.size(), y.size()));
    if (x.empty() || y.empty()) z.clear();
    for (std::size_t i = 0; i < z.size(); ++i) {
      z[i] = host(x[x.size() == 1 ? 0 : i], y[y.size() == 1 ? 0 : i]);
      if (a.dtype() == DType::i32) z[i] = static_cast<std::int32_t>(z[i]);
    }
    return {Datum(std::move(z), longer.shape(), a.dtype())};
  };
}

// Overflow wraps, as on a device. The caller cuts the results of i32 to 32 bits.
Run add_(Call& call) {
  return arithmetic<add>(call, [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  });
}
Run sub_(Call& call) {
  return arithmetic<sub>(call, [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  });
}
Run mul_(Call& call) {
  return arithmetic<mul>(call, [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  });
}

/// ONNX cuts quotients of integers, the library's div() gives f32.
Tensor quotient(const Operand& a, const Operand& b) {
  return is_floating(a.tensor()->dtype()) ? div(a, b) : trunc_divide(a, b);
}
Run div_(Call& call) {
  return arithmetic<quotient>(call, [](std::int64_t a, std::int64_t b) {
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

/// The result has the element type of the base. A whole number to the power of one is exact in integers.
Run pow_(Call& call) {
  call.check_counts(2, 2);
  return [](const Data& in, Device device) {
    const Tensor base = in[0].tensor(device), exponent = in[1].tensor(device);
    const Tensor power = pow(base, exponent).to(base.dtype());
    if (is_floating(base.dtype()) || !is_floating(exponent.dtype())) return Data{power};
    return Data{where(exponent.eq(trunc(exponent)), pow(base, exponent.to(DType::i64)).to(base.dtype()), power)};
  };
}

/// Any number of inputs.
template <Tensor (*f)(const Operand&, const Operand&)>
Run variadic(Call& call) {
  call.check_counts(call.inputs(), call.inputs());
  require(call.inputs() > 0, "onnx", "input 0 is missing");
  return [](const Data& in, Device device) {
    Tensor result = in[0].tensor(device);
    for (std::size_t i = 1; i < in.size(); ++i) result = f(result, in[i].tensor(device));
    return Data{result};
  };
}

Run mean_(Call& call) {
  const Run sum = variadic<add>(call);
  return [sum](const Data& in, Device device) {
    const Tensor total = sum(in, device)[0].tensor(device);
    require(is_floating(total.dtype()), "onnx", "elements of ", total.dtype(), " are not supported, f32 and f16 are");
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
  return [](const Data& in, Device device) {
    return Data{where(in[0].tensor(device), in[1].tensor(device), in[2].tensor(device))};
  };
}

}  // namespace

std::vector<Row> pointwise_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Abs", 6, newest, unary<abs>},
      {"Acos", 7, newest, unary<acos>},
      {"Acosh", 9, newest, unary<acosh>},
      {"Add", 6, 6, binary_of_version_6<add>},
      {"Add", 7, newest, add_},
      {"And", 7, newest, binary<logical_and>},
      {"Asin", 7, newest, unary<asin>},
      {"Asinh", 9, newest, unary<asinh>},
      {"Atan", 7, newest, unary<atan>},
      {"Atanh", 9, newest, unary<atanh>},
      {"Ceil", 6, newest, unary<ceil>},
      {"Cos", 7, newest, unary<cos>},
      {"Cosh", 9, newest, unary<cosh>},
      {"Div", 6, 6, binary_of_version_6<quotient>},
      {"Div", 7, newest, div_},
      {"Equal", 7, newest, binary<eq>},
      {"Erf", 9, newest, unary<erf>},
      {"Exp", 6, newest, unary<exp>},
      {"Floor", 6, newest, unary<floor>},
      {"Greater", 7, newest, binary<gt>},
      {"GreaterOrEqual", 12, newest, binary<ge>},
      {"HardSwish", 14, newest, unary<hard_swish_>},
      {"IsInf", 10, newest, is_inf},
      {"IsNaN", 9, newest, unary<isnan>},
      {"Less", 7, newest, binary<lt>},
      {"LessOrEqual", 12, newest, binary<le>},
      {"Log", 6, newest, unary<log>},
      {"Max", 6, newest, variadic<maximum>},
      {"Mean", 6, newest, mean_},
      {"Min", 6, newest, variadic<minimum>},
      {"Mish", 18, newest, unary<mish>},
      {"Mod", 10, newest, mod},
      {"Mul", 6, 6, binary_of_version_6<mul>},
      {"Mul", 7, newest, mul_},
      {"Neg", 6, newest, unary<neg>},
      {"Not", 1, newest, unary<not_>},
      {"Or", 7, newest, binary<logical_or>},
      {"Pow", 7, newest, pow_},
      {"Reciprocal", 6, newest, unary<reciprocal>},
      {"Relu", 6, newest, unary<relu>},
      {"Round", 11, newest, unary<round>},
      {"Sigmoid", 6, newest, unary<sigmoid>},
      {"Sign", 9, newest, unary<sign>},
      {"Sin", 7, newest, unary<sin>},
      {"Sinh", 9, newest, unary<sinh>},
      {"Softplus", 1, newest, unary<softplus_>},
      {"Softsign", 1, newest, unary<softsign>},
      {"Sqrt", 6, newest, unary<sqrt>},
      {"Sub", 6, 6, binary_of_version_6<sub>},
      {"Sub", 7, newest, sub_},
      {"Sum", 6, newest, variadic<add>},
      {"Tan", 7, newest, unary<tan>},
      {"Tanh", 6, newest, unary<tanh>},
      {"Where", 9, newest, where_},
      {"Xor", 7, newest, binary<logical_xor>},
  };
}

}  // namespace crisol::onnx
