// Ops with several inputs that compute each element by itself.
#include <algorithm>
#include <functional>
#include <numeric>

#include "base/text.h"
#include "crisol/functions/bitwise.h"
#include "crisol/functions/elementwise.h"
#include "onnx/ops/host_numbers.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;
using graph::Value;

// `f` and `formula` are the same function, for tensors and for expressions.

using HostFunction = std::int64_t (*)(std::int64_t, std::int64_t);

/// Whole numbers on the host stay on the host. `dtype` is the type of the result. The default is the type of the first
/// operand.
template <Tensor (*f)(const Operand&, const Operand&), class Host>
Run binary(Call& call, Host host, std::optional<DType> dtype = {}) {
  call.check_counts(2, 2);
  Value result = broadcast(call.known_inputs());
  if (dtype) result.dtype = dtype;
  call.gives(0, result);
  return [=](const Data& in, Device device) -> Data {
    const auto apply = [&](const std::int64_t* n) -> std::int64_t { return host(n[0], n[1]); };
    if (const auto y = map_on_host(in, dtype.value_or(in[0].dtype()), apply)) return {*y};
    return {f(in[0].tensor(device), in[1].tensor(device))};
  };
}

template <Tensor (*f)(const Operand&, const Operand&), class Host>
Run predicate(Call& call) {
  return binary<f>(call, Host(), DType::boolean);
}

template <Tensor (*f)(const Operand&, const Operand&), Expr (*formula)(const Expr&, const Expr&), HostFunction host>
Run arithmetic(Call& call) {
  Run run = binary<f>(call, host);
  run.formula = [](std::span<const Expr> in) { return formula(in[0], in[1]); };
  return run;
}

/// ONNX rounds quotients of integers toward zero, but the library's div() gives f32.
Tensor quotient(const Operand& a, const Operand& b) {
  return is_floating(a.tensor()->dtype()) ? div(a, b) : trunc_divide(a, b);
}
/// Before version 7, the second operand is broadcast only if the attribute `broadcast` says so. The operand's axes then
/// begin at axis `axis` of the first operand. Without this attribute, they end with the first operand's last axis.
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

/// The result has the element type of the base. A power of whole numbers is computed exactly, with integers.
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

/// An op with any number of inputs.
template <Tensor (*f)(const Operand&, const Operand&), Expr (*formula)(const Expr&, const Expr&), HostFunction host>
Run variadic(Call& call) {
  call.check_counts(call.inputs(), call.inputs());
  require(call.inputs() > 0, "onnx", "input 0 is missing");
  call.gives(0, broadcast(call.known_inputs()));
  const auto run = [](const Data& in, Device device) -> Data {
    const auto apply = [&](const std::int64_t* n) { return std::accumulate(n + 1, n + in.size(), n[0], host); };
    if (const auto y = map_on_host(in, in[0].dtype(), apply)) return {*y};
    Tensor result = in[0].tensor(device);
    for (std::size_t i = 1; i < in.size(); ++i) result = f(result, in[i].tensor(device));
    return {result};
  };
  return {run, [](std::span<const Expr> in) {
            Expr result = in[0];
            for (const Expr& other : in.subspan(1)) result = formula(result, other);
            return result;
          }};
}

Run mean_(Call& call) {
  call.require_floating(0);
  const Run sum = variadic<add, add, sum_on_host>(call);
  return [sum](const Data& in, Device device) {
    const Tensor total = sum(in, device)[0].tensor(device);
    require(is_floating(total.dtype()), "onnx", "elements of ", total.dtype(), " are not supported, f32 and f16 are");
    return Data{total / static_cast<double>(in.size())};
  };
}

Run mod(Call& call) {
  const bool has_sign_of_a = call.integer("fmod", 0) != 0;
  return has_sign_of_a ? binary<fmod>(call, rest_on_host) : binary<remainder>(call, remainder_on_host);
}

std::int64_t larger(std::int64_t a, std::int64_t b) { return std::max(a, b); }
std::int64_t smaller(std::int64_t a, std::int64_t b) { return std::min(a, b); }

}  // namespace

std::vector<Row> pointwise_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Add", 1, 6, binary_of_version_6<add>},
      {"Add", 7, newest, arithmetic<add, add, sum_on_host>},
      {"And", 1, 6, predicate_of_version_6<logical_and>},
      {"And", 7, newest, predicate<logical_and, std::logical_and<>>},
      {"Div", 1, 6, binary_of_version_6<quotient>},
      {"Div", 7, newest, arithmetic<quotient, div, quotient_on_host>},
      {"Equal", 1, 6, predicate_of_version_6<eq>},
      {"Equal", 7, newest, predicate<eq, std::equal_to<>>},
      {"Greater", 1, 6, predicate_of_version_6<gt>},
      {"Greater", 7, newest, predicate<gt, std::greater<>>},
      {"GreaterOrEqual", 12, newest, predicate<ge, std::greater_equal<>>},
      {"Less", 1, 6, predicate_of_version_6<lt>},
      {"Less", 7, newest, predicate<lt, std::less<>>},
      {"LessOrEqual", 12, newest, predicate<le, std::less_equal<>>},
      {"Max", 1, newest, variadic<maximum, maximum, larger>},
      {"Mean", 1, newest, mean_},
      {"Min", 1, newest, variadic<minimum, minimum, smaller>},
      {"Mod", 10, newest, mod},
      {"Mul", 1, 6, binary_of_version_6<mul>},
      {"Mul", 7, newest, arithmetic<mul, mul, product_on_host>},
      {"Or", 1, 6, predicate_of_version_6<logical_or>},
      {"Or", 7, newest, predicate<logical_or, std::logical_or<>>},
      {"Pow", 1, 6, binary_of_version_6<pow>},
      {"Pow", 7, newest, pow_},
      {"Sub", 1, 6, binary_of_version_6<sub>},
      {"Sub", 7, newest, arithmetic<sub, sub, difference_on_host>},
      {"Sum", 1, newest, variadic<add, add, sum_on_host>},
      {"Xor", 1, 6, predicate_of_version_6<logical_xor>},
      {"Xor", 7, newest, predicate<logical_xor, std::not_equal_to<>>},
  };
}

}  // namespace crisol::onnx
