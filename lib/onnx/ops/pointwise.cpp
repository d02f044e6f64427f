// Ops that compute each element by itself.
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "onnx/ops/table.h"
#include "onnx/reader/message.h"

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

void refuse_integers(const Tensor& x) {
  require(is_floating(x.dtype()), "onnx", "elements of ", x.dtype(), " are not supported, f32 and f16 are");
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
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = host(x[x.size() == 1 ? 0 : i], y[y.size() == 1 ? 0 : i]);
    return {Datum(std::move(z), longer.shape(), a.dtype())};
  };
}

// Overflow wraps, as on a device.
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
Tensor float_div(const Operand& a, const Operand& b) {
  refuse_integers(*a.tensor());
  return div(a, b);
}
Run div_(Call& call) {
  return arithmetic<float_div>(call, [](std::int64_t a, std::int64_t b) {
    require(b != 0 && (b != -1 || a != INT64_MIN), "onnx", a, " / ", b, " has no value");
    return a / b;
  });
}

Run pow_(Call& call) {
  call.check_counts(2, 2);
  return [](const Data& in, Device device) {
    const Tensor base = in[0].tensor(device);
    refuse_integers(base);
    return Data{pow(base, in[1].tensor(device)).to(base.dtype())};
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
    refuse_integers(total);
    return Data{total / static_cast<double>(in.size())};
  };
}

/// Bounds are attributes until version 10.
Run clip_attributes(Call& call) {
  call.check_counts(1, 1);
  const double lower = call.real("min", -3.4028234663852886e38), upper = call.real("max", 3.4028234663852886e38);
  return [=](const Data& in, Device device) { return Data{clamp(in[0].tensor(device), lower, upper)}; };
}

Run clip(Call& call) {
  call.check_counts(1, 3);
  return [](const Data& in, Device device) {
    Tensor x = in[0].tensor(device);
    if (in.size() > 1 && in[1].defined()) x = maximum(x, in[1].tensor(device));
    if (in.size() > 2 && in[2].defined()) x = minimum(x, in[2].tensor(device));
    return Data{x};
  };
}

Run leaky_relu_(Call& call) {
  call.check_counts(1, 1);
  const double alpha = call.real("alpha", 0.01f);
  return [=](const Data& in, Device device) { return Data{leaky_relu(in[0].tensor(device), alpha)}; };
}

Run elu_(Call& call) {
  call.check_counts(1, 1);
  const double alpha = call.real("alpha", 1);
  return [=](const Data& in, Device device) { return Data{elu(in[0].tensor(device), alpha)}; };
}

Run hard_sigmoid_(Call& call) {
  call.check_counts(1, 1);
  const double alpha = call.real("alpha", 0.2f), beta = call.real("beta", 0.5);
  return [=](const Data& in, Device device) { return Data{clamp(in[0].tensor(device) * alpha + beta, 0, 1)}; };
}

Run gelu_(Call& call) {
  call.check_counts(1, 1);
  const std::string approximate = call.text("approximate", "none");
  require(approximate == "none" || approximate == "tanh", "onnx", "approximate is ", file::in_quotes(approximate),
          ", none or tanh expected");
  const bool by_tanh = approximate == "tanh";
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{by_tanh ? gelu_tanh(x) : gelu(x)};
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

Run celu_(Call& call) {
  call.check_counts(1, 1);
  const double alpha = call.real("alpha", 1);
  return [=](const Data& in, Device device) { return Data{celu(in[0].tensor(device), alpha)}; };
}

Run selu_(Call& call) {
  call.check_counts(1, 1);
  const double alpha = call.real("alpha", 1.6732632423543772f), gamma = call.real("gamma", 1.0507009873554805f);
  return [=](const Data& in, Device device) { return Data{elu(in[0].tensor(device), alpha) * gamma}; };
}

Run swish(Call& call) {
  call.check_counts(1, 1);
  const double alpha = call.real("alpha", 1);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{x * sigmoid(alpha == 1 ? x : x * alpha)};
  };
}

Run thresholded_relu(Call& call) {
  call.check_counts(1, 1);
  const double alpha = call.real("alpha", 1);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{where(x.gt(alpha), x, 0)};
  };
}

/// The slope is broadcast as elsewhere in ONNX; the library takes a slope with one axis for channels.
Run prelu_(Call& call) {
  call.check_counts(2, 2);
  return [](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), slope = in[1].tensor(device);
    return Data{where(x.lt(0), x * slope, x)};
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
      {"Add", 7, newest, add_},
      {"And", 7, newest, binary<logical_and>},
      {"Asin", 7, newest, unary<asin>},
      {"Asinh", 9, newest, unary<asinh>},
      {"Atan", 7, newest, unary<atan>},
      {"Atanh", 9, newest, unary<atanh>},
      {"Ceil", 6, newest, unary<ceil>},
      {"Celu", 12, newest, celu_},
      {"Clip", 6, 10, clip_attributes},
      {"Clip", 11, newest, clip},
      {"Cos", 7, newest, unary<cos>},
      {"Cosh", 9, newest, unary<cosh>},
      {"Div", 7, newest, div_},
      {"Elu", 6, newest, elu_},
      {"Equal", 7, newest, binary<eq>},
      {"Erf", 9, newest, unary<erf>},
      {"Exp", 6, newest, unary<exp>},
      {"Floor", 6, newest, unary<floor>},
      {"Gelu", 20, newest, gelu_},
      {"Greater", 7, newest, binary<gt>},
      {"GreaterOrEqual", 12, newest, binary<ge>},
      {"HardSigmoid", 6, newest, hard_sigmoid_},
      {"HardSwish", 14, newest, unary<hard_swish_>},
      {"IsInf", 10, newest, is_inf},
      {"IsNaN", 9, newest, unary<isnan>},
      {"LeakyRelu", 6, newest, leaky_relu_},
      {"Less", 7, newest, binary<lt>},
      {"LessOrEqual", 12, newest, binary<le>},
      {"Log", 6, newest, unary<log>},
      {"Max", 8, newest, variadic<maximum>},
      {"Mean", 8, newest, mean_},
      {"Min", 8, newest, variadic<minimum>},
      {"Mish", 18, newest, unary<mish>},
      {"Mod", 10, newest, mod},
      {"Mul", 7, newest, mul_},
      {"Neg", 6, newest, unary<neg>},
      {"Not", 1, newest, unary<not_>},
      {"Or", 7, newest, binary<logical_or>},
      {"PRelu", 9, newest, prelu_},
      {"Pow", 7, newest, pow_},
      {"Reciprocal", 6, newest, unary<reciprocal>},
      {"Relu", 6, newest, unary<relu>},
      {"Round", 11, newest, unary<round>},
      {"Selu", 6, newest, selu_},
      {"Sigmoid", 6, newest, unary<sigmoid>},
      {"Sign", 9, newest, unary<sign>},
      {"Sin", 7, newest, unary<sin>},
      {"Sinh", 9, newest, unary<sinh>},
      {"Softplus", 1, newest, unary<softplus_>},
      {"Softsign", 1, newest, unary<softsign>},
      {"Sqrt", 6, newest, unary<sqrt>},
      {"Sub", 7, newest, sub_},
      {"Sum", 8, newest, variadic<add>},
      {"Swish", 24, newest, swish},
      {"Tan", 7, newest, unary<tan>},
      {"Tanh", 6, newest, unary<tanh>},
      {"ThresholdedRelu", 10, newest, thresholded_relu},
      {"Where", 9, newest, where_},
      {"Xor", 7, newest, binary<logical_xor>},
  };
}

}  // namespace crisol::onnx
