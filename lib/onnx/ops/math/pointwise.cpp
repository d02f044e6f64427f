// Ops of several inputs that compute each element by itself.
#include <functional>

#include "base/text.h"
#include "crisol/functions/bitwise.h"
#include "crisol/functions/elementwise.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;
using graph::Value;

// `f` and `formula` are one function, for tensors and for expressions.

/// Whole numbers on the host stay there if they have one shape, or one of them is a single number. `dtype` is the type
/// of the result; the type of the first operand if it is not given.
template <Tensor (*f)(const Operand&, const Operand&), class Host>
Run binary(Call& call, Host host, std::optional<DType> dtype = {}) {
  call.check_counts(2, 2);
  Value result = broadcast(call.known_inputs());
  if (dtype) result.dtype = dtype;
  call.gives(0, result);
  return [=](const Data& in, Device device) -> Data {
    const Datum &a = in[0], &b = in[1];
    if (!a.on_host() || !b.on_host() || (a.shape() != b.shape() && a.shape().numel() != 1 && b.shape().numel() != 1))
      return {f(a.tensor(device), b.tensor(device))};
    const std::vector<std::int64_t> x = a.numbers(), y = b.numbers();
    const Datum& longer = a.shape().rank() > b.shape().rank() || x.size() > y.size() ? a : b;
    std::vector<std::int64_t> z(std::max(x.size(), y.size()));
    if (x.empty() || y.empty()) z.clear();
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = host(x[x.size() == 1 ? 0 : i], y[y.size() == 1 ? 0 : i]);
    if (!dtype && a.dtype() == DType::i32)
      for (std::int64_t& number : z) number = static_cast<std::int32_t>(number);
    return {Datum(std::move(z), longer.shape(), dtype.value_or(a.dtype()))};
  };
}

template <Tensor (*f)(const Operand&, const Operand&), class Host>
Run predicate(Call& call) {
  return binary<f>(call, Host(), DType::boolean);
}

template <Tensor (*f)(const Operand&, const Operand&), Expr (*formula)(const Expr&, const Expr&), class Host>
Run arithmetic(Call& call, Host host) {
  Run run = binary<f>(call, host);
  run.formula = [](std::span<const Expr> in) { return formula(in[0], in[1]); };
  return run;
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
Tensor quotient(const Operand& a, const Operand& b) {
  return is_floating(a.tensor()->dtype()) ? div(a, b) : trunc_divide(a, b);
}
Run div_(Call& call) {
  return arithmetic<quotient, div>(call, [](std::int64_t a, std::int64_t b) {
    require(b != 0 && (b != -1 || a != INT64_MIN), "onnx", a, " / ", b, " has no value");
    return a / b;
  });
}

/// Before version 7 the second operand is broadcast only if `broadcast` says so. Its axes then begin at axis `axis` of
/// the first operand, or end with the last axis of the first operand.
template <Tensor (*f)(const Operand&, const Operand&)>
Run binary_of_version_6(Call& call) {
  call.check_counts(2, 2);
  call.gives(0, value_of(call.dtype_of(0), call.rank_of(0)));
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

template <Tensor (*f)(const Operand&, const Operand&)>
Run predicate_of_version_6(Call& call) {
  Run run = binary_of_version_6<f>(call);
  call.gives(0, value_of(DType::boolean, call.rank_of(0)));
  return run;
}

/// The result has the element type of the base. A whole number to the power of one is exact in integers.
Run pow_(Call& call) {
  call.check_counts(2, 2);
  call.gives(0, broadcast(call.known_inputs()));
  const auto run = [](const Data& in, Device device) {
    const Tensor base = in[0].tensor(device), exponent = in[1].tensor(device);
    const Tensor power = pow(base, exponent).to(base.dtype());
    if (is_floating(base.dtype()) || !is_floating(exponent.dtype())) return Data{power};
    return Data{where(exponent.eq(trunc(exponent)), pow(base, exponent.to(DType::i64)).to(base.dtype()), power)};
  };
  return {run, [](std::span<const Expr> in) { return pow(in[0], in[1]); }};
}

/// Any number of inputs.
template <Tensor (*f)(const Operand&, const Operand&), Expr (*formula)(const Expr&, const Expr&)>
Run variadic(Call& call) {
  call.check_counts(call.inputs(), call.inputs());
  require(call.inputs() > 0, "onnx", "input 0 is missing");
  call.gives(0, broadcast(call.known_inputs()));
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
  call.require_floating(0);
  const Run sum = variadic<add, add>(call);
  return [sum](const Data& in, Device device) {
    const Tensor total = sum(in, device)[0].tensor(device);
    require(is_floating(total.dtype()), "onnx", "elements of ", total.dtype(), " are not supported, f32 and f16 are");
    return Data{total / static_cast<double>(in.size())};
  };
}

Run mod(Call& call) {
  call.check_counts(2, 2);
  call.gives(0, broadcast(call.known_inputs()));
  const bool has_sign_of_a = call.integer("fmod", 0) != 0;
  return [=](const Data& in, Device device) {
    const Tensor a = in[0].tensor(device), b = in[1].tensor(device);
    return Data{has_sign_of_a ? fmod(a, b) : remainder(a, b)};
  };
}

}  // namespace

std::vector<Row> pointwise_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Add", 1, 6, binary_of_version_6<add>},
      {"Add", 7, newest, add_},
      {"And", 1, 6, predicate_of_version_6<logical_and>},
      {"And", 7, newest, predicate<logical_and, std::logical_and<>>},
      {"Div", 1, 6, binary_of_version_6<quotient>},
      {"Div", 7, newest, div_},
      {"Equal", 1, 6, predicate_of_version_6<eq>},
      {"Equal", 7, newest, predicate<eq, std::equal_to<>>},
      {"Greater", 1, 6, predicate_of_version_6<gt>},
      {"Greater", 7, newest, predicate<gt, std::greater<>>},
      {"GreaterOrEqual", 12, newest, predicate<ge, std::greater_equal<>>},
      {"Less", 1, 6, predicate_of_version_6<lt>},
      {"Less", 7, newest, predicate<lt, std::less<>>},
      {"LessOrEqual", 12, newest, predicate<le, std::less_equal<>>},
      {"Max", 1, newest, variadic<maximum, maximum>},
      {"Mean", 1, newest, mean_},
      {"Min", 1, newest, variadic<minimum, minimum>},
      {"Mod", 10, newest, mod},
      {"Mul", 1, 6, binary_of_version_6<mul>},
      {"Mul", 7, newest, mul_},
      {"Or", 1, 6, predicate_of_version_6<logical_or>},
      {"Or", 7, newest, predicate<logical_or, std::logical_or<>>},
      {"Pow", 1, 6, binary_of_version_6<pow>},
      {"Pow", 7, newest, pow_},
      {"Sub", 1, 6, binary_of_version_6<sub>},
      {"Sub", 7, newest, sub_},
      {"Sum", 1, newest, variadic<add, add>},
      {"Xor", 1, 6, predicate_of_version_6<logical_xor>},
      {"Xor", 7, newest, predicate<logical_xor, std::not_equal_to<>>},
  };
}

}  // namespace crisol::onnx
