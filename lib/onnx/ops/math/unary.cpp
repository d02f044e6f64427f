// Ops with one input that compute each element by itself.
#include <functional>

#include "crisol/functions/elementwise.h"
#include "onnx/ops/math/elements.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

std::int64_t opposite(std::int64_t n) { return difference_on_host(0, n); }
using Opposite = decltype([](std::int64_t n) { return opposite(n); });
using Absolute = decltype([](std::int64_t n) { return n < 0 ? opposite(n) : n; });

template <class X>
X softsign_of(const X& x) {
  return x / (abs(x) + 1.0);
}

Run softsign(Call& call) {
  call.check_counts(1, 1);
  call.require_floating(0);
  call.gives_same();
  return {[](const Data& in, Device device) { return Data{softsign_of(in[0].tensor(device))}; },
          [](std::span<const Expr> in) { return softsign_of(in[0]); }};
}

Run softplus_(Call& call) {
  call.require_floating(0);
  return run_of_row(call, rows::softplus, {1, 20});
}

Run is_inf(Call& call) {
  call.check_counts(1, 1);
  call.require_floating(0);
  gives_elements(call, rows::isinf);
  const bool negative = call.integer("detect_negative", 1) != 0, positive = call.integer("detect_positive", 1) != 0;
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    if (negative && positive) return Data{isinf(x)};
    if (!negative && !positive) return Data{zeros_like(x, DType::boolean)};
    return Data{logical_and(isinf(x), negative ? x.lt(0) : x.gt(0))};
  };
}

}  // namespace

std::vector<Row> unary_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Abs", 1, newest, numbers<rows::abs, Absolute>},
      {"Acos", 7, newest, reals<rows::acos>},
      {"Acosh", 9, newest, reals<rows::acosh>},
      {"Asin", 7, newest, reals<rows::asin>},
      {"Asinh", 9, newest, reals<rows::asinh>},
      {"Atan", 7, newest, reals<rows::atan>},
      {"Atanh", 9, newest, reals<rows::atanh>},
      {"Ceil", 1, newest, reals<rows::ceil>},
      {"Cos", 7, newest, reals<rows::cos>},
      {"Cosh", 9, newest, reals<rows::cosh>},
      {"Erf", 9, newest, reals<rows::erf>},
      {"Exp", 1, newest, reals<rows::exp>},
      {"Floor", 1, newest, reals<rows::floor>},
      {"HardSwish", 14, newest, reals<rows::hard_swish>},
      {"IsInf", 10, newest, is_inf},
      {"IsNaN", 9, newest, reals<rows::isnan>},
      {"Log", 1, newest, reals<rows::log>},
      {"Mish", 18, newest, reals<rows::mish>},
      {"Neg", 1, newest, numbers<rows::neg, Opposite>},
      {"Not", 1, newest, numbers<rows::logical_not, std::logical_not<>>},
      {"Reciprocal", 1, newest, reals<rows::reciprocal>},
      {"Relu", 1, newest, elements<rows::relu>},
      {"Round", 11, newest, reals<rows::round>},
      {"Sigmoid", 1, newest, reals<rows::sigmoid>},
      {"Sign", 9, newest, elements<rows::sign>},
      {"Sin", 7, newest, reals<rows::sin>},
      {"Sinh", 9, newest, reals<rows::sinh>},
      {"Softplus", 1, newest, softplus_},
      {"Softsign", 1, newest, softsign},
      {"Sqrt", 1, newest, reals<rows::sqrt>},
      {"Tan", 7, newest, reals<rows::tan>},
      {"Tanh", 1, newest, reals<rows::tanh>},
  };
}

}  // namespace crisol::onnx
