// Ops with several inputs that compute each element by itself.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "functions/fuse/expr_node.h"
#include "onnx/ops/math/elements.h"
#include "ops/pointwise/whole_rows.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

/// A function of two numbers on the host.
template <std::int64_t (*f)(std::int64_t, std::int64_t)>
struct OnHost {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return f(a, b); }
};
using Sum = OnHost<sum_on_host>;
using Difference = OnHost<difference_on_host>;
using Product = OnHost<product_on_host>;
using Larger = decltype([](std::int64_t a, std::int64_t b) { return std::max(a, b); });
using Smaller = decltype([](std::int64_t a, std::int64_t b) { return std::min(a, b); });

/// ONNX rounds quotients of integers toward zero, but the library's div() gives f32.
Run quotient(Call& call) {
  using Host = OnHost<quotient_on_host>;
  const Run of_reals = numbers<rows::div, Host>(call), of_whole = numbers<rows::trunc_divide, Host>(call);
  for (const std::size_t operand : {0, 1})
    if (const std::optional<DType> dtype = call.dtype_of(operand)) return is_whole(*dtype) ? of_whole : of_reals;
  return [=](const Data& in, Device device) { return (is_floating(in[0].dtype()) ? of_reals : of_whole)(in, device); };
}

/// Before version 7, the second operand is broadcast only if the attribute `broadcast` says so. The operand's axes then
/// begin at axis `axis` of the first operand. Without this attribute, they end with the first operand's last axis.
template <Run (*build)(Call&)>
Run of_version_6(Call& call) {
  const Run run = build(call);
  call.gives(0, value_of(call.output(0).dtype, call.rank_of(0)));
  const bool broadcasts = call.integer("broadcast", 0) != 0;
  const bool has_axis = call.has("axis");
  const std::int64_t axis = call.integer("axis", 0);
  return [=](const Data& in, Device device) {
    const Shape &a = in[0].shape(), &b = in[1].shape();
    require(broadcasts || a == b, "onnx", "operands of shapes ", a, " and ", b, " without broadcast");
    if (!has_axis || !broadcasts) return run(in, device);
    require(axis >= 0 && axis + b.rank() <= a.rank(), "onnx", "axis ", axis, " of shapes ", a, " and ", b);
    Shape sizes = b;
    while (axis + sizes.rank() < a.rank()) sizes.push_back(1);
    return run(Data{in[0], in[1].tensor(device).reshape(sizes)}, device);
  };
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
  return {run, [](std::span<const Expr> in) { return detail::apply(rows::pow, in); }};
}

/// An op with any number of inputs.
template <const ops::PointwiseRow& row, class Host>
Run variadic(Call& call) {
  call.check_counts(call.inputs(), call.inputs());
  require(call.inputs() > 0, "onnx", "input 0 is missing");
  gives_elements(call, row);
  const Run of_two = graph::run_of_row(row);
  const auto run = [of_two](const Data& in, Device device) -> Data {
    const auto apply = [&](const std::int64_t* n) { return std::accumulate(n + 1, n + in.size(), n[0], Host()); };
    if (const auto y = map_on_host(in, in[0].dtype(), apply)) return {*y};
    Data result{in[0].tensor(device)};
    for (std::size_t i = 1; i < in.size(); ++i) result = of_two({result[0], in[i]}, device);
    return result;
  };
  return {run, [of_two](std::span<const Expr> in) {
            Expr result = in[0];
            for (const Expr& other : in.subspan(1)) result = of_two.formula(std::array{result, other});
            return result;
          }};
}

Run mean_(Call& call) {
  call.require_floating(0);
  const Run sum = variadic<rows::add, Sum>(call);
  return [sum](const Data& in, Device device) {
    const Tensor total = sum(in, device)[0].tensor(device);
    require(is_floating(total.dtype()), "onnx", "elements of ", total.dtype(), " are not supported, f32 and f16 are");
    return Data{total / static_cast<double>(in.size())};
  };
}

Run mod(Call& call) {
  const bool has_sign_of_a = call.integer("fmod", 0) != 0;
  return has_sign_of_a ? numbers<rows::fmod, OnHost<rest_on_host>>(call)
                       : numbers<rows::remainder, OnHost<remainder_on_host>>(call);
}

}  // namespace

std::vector<Row> pointwise_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Add", 1, 6, of_version_6<elements<rows::add>>},
      {"Add", 7, newest, numbers<rows::add, Sum>},
      {"And", 1, 6, of_version_6<elements<rows::logical_and>>},
      {"And", 7, newest, numbers<rows::logical_and, std::logical_and<>>},
      {"Div", 1, 6, of_version_6<quotient>},
      {"Div", 7, newest, quotient},
      {"Equal", 1, 6, of_version_6<elements<rows::eq>>},
      {"Equal", 7, newest, numbers<rows::eq, std::equal_to<>>},
      {"Greater", 1, 6, of_version_6<elements<rows::gt>>},
      {"Greater", 7, newest, numbers<rows::gt, std::greater<>>},
      {"GreaterOrEqual", 12, newest, numbers<rows::ge, std::greater_equal<>>},
      {"Less", 1, 6, of_version_6<elements<rows::lt>>},
      {"Less", 7, newest, numbers<rows::lt, std::less<>>},
      {"LessOrEqual", 12, newest, numbers<rows::le, std::less_equal<>>},
      {"Max", 1, newest, variadic<rows::maximum, Larger>},
      {"Mean", 1, newest, mean_},
      {"Min", 1, newest, variadic<rows::minimum, Smaller>},
      {"Mod", 10, newest, mod},
      {"Mul", 1, 6, of_version_6<elements<rows::mul>>},
      {"Mul", 7, newest, numbers<rows::mul, Product>},
      {"Or", 1, 6, of_version_6<elements<rows::logical_or>>},
      {"Or", 7, newest, numbers<rows::logical_or, std::logical_or<>>},
      {"Pow", 1, 6, of_version_6<elements<rows::pow>>},
      {"Pow", 7, newest, pow_},
      {"Sub", 1, 6, of_version_6<elements<rows::sub>>},
      {"Sub", 7, newest, numbers<rows::sub, Difference>},
      {"Sum", 1, newest, variadic<rows::add, Sum>},
      {"Xor", 1, 6, of_version_6<elements<rows::logical_xor>>},
      {"Xor", 7, newest, numbers<rows::logical_xor, std::not_equal_to<>>},
  };
}

}  // namespace crisol::onnx
