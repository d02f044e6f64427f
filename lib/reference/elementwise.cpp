#include "reference/elementwise.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace crisol::reference {

namespace {

// The derivative of log |Gamma|.
double digamma(double x) {
  if (x == 0) return -std::copysign(std::numeric_limits<double>::infinity(), x);
  if (x < 0 && x == std::floor(x)) return std::nan("");
  if (x < 0) return digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * x);
  double sum = 0;
  for (; x < 10; ++x) sum -= 1 / x;
  const double r = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132)))));
}

// The functions that derivatives call.
using std::abs, std::cos, std::cosh, std::exp, std::fma, std::hypot, std::log, std::pow, std::sin, std::sinh,
    std::trunc;
constexpr double NONE = 0;
double choose(bool holds, double a, double b) { return holds ? a : b; }
double floor_divide(double a, double b) { return std::floor(a / b); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double tanh_softplus(double x) { return std::tanh(std::log1p(std::exp(x))); }
double gelu_slope(double x) {
  return 0.5 * std::erfc(-x * std::sqrt(0.5)) + x * 0.3989422804014327 * std::exp(-0.5 * x * x);
}

// Python's a % b: the remainder of a / b, with the sign of b.
double floored_remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(rest, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

// log(e^a + e^b).
double added_exponentials(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  return a == b ? a + std::numbers::ln2 : std::fmax(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

}  // namespace

#define AT_NONE
#define AT_ONE(name, initial, at) at
#define AT_TWO(name, initial, at, name_2, initial_2, at_2) at, at_2
#define NUMBER(name, value) [[maybe_unused]] const double name = value;
#define SCALARS_NONE
#define SCALARS_ONE(name, initial, at) NUMBER(name, s[0])
#define SCALARS_TWO(name, initial, at, name_2, initial_2, at_2) NUMBER(name, s[0]) NUMBER(name_2, s[1])
#define INPUTS_1(x) NUMBER(x, v[0])
#define INPUTS_2(a, b) NUMBER(a, v[0]) NUMBER(b, v[1])
#define INPUTS_3(a, b, c) INPUTS_2(a, b) NUMBER(c, v[2])
#define FORWARD(begin, reference) \
  []([[maybe_unused]] const double* v, [[maybe_unused]] const double* s) -> double { begin return reference; }
#define DERIVATIVE(begin, derivative)                                                         \
  []([[maybe_unused]] double dy, [[maybe_unused]] const double* v, [[maybe_unused]] double y, \
     [[maybe_unused]] const double* s) -> double { begin return derivative; }

const std::vector<Elementwise>& elementwise_rows() {
  static const std::vector<Elementwise> rows{
#define ROW(name, inputs, scalars, reference, low, high, ulp, ...) \
  {#name, {AT_##scalars}, low, high, ulp, FORWARD(inputs SCALARS_##scalars, reference), {__VA_ARGS__}},
#define CRISOL_UNARY(name, x, scalars, rule, saved, forward, integer, derivative, reference, low, high, ulp, formula) \
  ROW(name, INPUTS_1(x), scalars, reference, low, high, ulp, DERIVATIVE(INPUTS_1(x) SCALARS_##scalars, derivative))
#define CRISOL_BINARY(name, a, b, scalars, rule, forward, integer, derivative_a, derivative_b, reference, low, high, \
                      ulp, formula)                                                                                  \
  ROW(name, INPUTS_2(a, b), scalars, reference, low, high, ulp,                                                      \
      DERIVATIVE(INPUTS_2(a, b) SCALARS_##scalars, derivative_a),                                                    \
      DERIVATIVE(INPUTS_2(a, b) SCALARS_##scalars, derivative_b))
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, forward, integer, derivative_a, derivative_b, derivative_c, \
                       reference, low, high, ulp, formula)                                                       \
  ROW(name, INPUTS_3(a, b, c), scalars, reference, low, high, ulp,                                               \
      DERIVATIVE(INPUTS_3(a, b, c) SCALARS_##scalars, derivative_a),                                             \
      DERIVATIVE(INPUTS_3(a, b, c) SCALARS_##scalars, derivative_b),                                             \
      DERIVATIVE(INPUTS_3(a, b, c) SCALARS_##scalars, derivative_c))
#include "crisol/ops/pointwise.def"
  };
  return rows;
}

}  // namespace crisol::reference
