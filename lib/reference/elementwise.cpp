#include "reference/elementwise.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace crisol::reference {

namespace {

// Avoids warnings about arguments that a formula does not use.
template <class... T>
constexpr void unused(const T&...) {}

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
#define SCALARS_NONE
#define SCALARS_ONE(name, initial, at) \
  const double name = s[0];            \
  unused(name);
#define SCALARS_TWO(name, initial, at, name_2, initial_2, at_2) \
  const double name = s[0], name_2 = s[1];                      \
  unused(name, name_2);
#define UNARY_INPUTS(x)  \
  const double x = v[0]; \
  unused(x);
#define BINARY_INPUTS(a, b)        \
  const double a = v[0], b = v[1]; \
  unused(a, b);
#define TERNARY_INPUTS(a, b, c)              \
  const double a = v[0], b = v[1], c = v[2]; \
  unused(a, b, c);
#define FORWARD(begin, reference)                  \
  [](const double* v, const double* s) -> double { \
    begin unused(v, s);                            \
    return reference;                              \
  }
#define DERIVATIVE(begin, reference)                                    \
  [](double dy, const double* v, double y, const double* s) -> double { \
    begin unused(dy, v, y, s);                                          \
    return reference;                                                   \
  }

const std::vector<Elementwise>& elementwise_rows() {
  static const std::vector<Elementwise> rows{
#define CRISOL_UNARY(name, x, scalars, rule, saved, forward, integer, derivative, reference, reference_derivative, \
                     low, high, ulp, formula)                                                                      \
  {#name,                                                                                                          \
   {AT_##scalars},                                                                                                 \
   low,                                                                                                            \
   high,                                                                                                           \
   ulp,                                                                                                            \
   FORWARD(UNARY_INPUTS(x) SCALARS_##scalars, reference),                                                          \
   {DERIVATIVE(UNARY_INPUTS(x) SCALARS_##scalars, reference_derivative), nullptr, nullptr}},
#define CRISOL_BINARY(name, a, b, scalars, rule, forward, integer, derivative_a, derivative_b, reference, reference_a, \
                      reference_b, low, high, ulp, formula)                                                            \
  {#name,                                                                                                              \
   {AT_##scalars},                                                                                                     \
   low,                                                                                                                \
   high,                                                                                                               \
   ulp,                                                                                                                \
   FORWARD(BINARY_INPUTS(a, b) SCALARS_##scalars, reference),                                                          \
   {DERIVATIVE(BINARY_INPUTS(a, b) SCALARS_##scalars, reference_a),                                                    \
    DERIVATIVE(BINARY_INPUTS(a, b) SCALARS_##scalars, reference_b), nullptr}},
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, forward, integer, derivative_a, derivative_b, derivative_c, \
                       reference, reference_a, reference_b, reference_c, low, high, ulp, formula)                \
  {#name,                                                                                                        \
   {AT_##scalars},                                                                                               \
   low,                                                                                                          \
   high,                                                                                                         \
   ulp,                                                                                                          \
   FORWARD(TERNARY_INPUTS(a, b, c) SCALARS_##scalars, reference),                                                \
   {DERIVATIVE(TERNARY_INPUTS(a, b, c) SCALARS_##scalars, reference_a),                                          \
    DERIVATIVE(TERNARY_INPUTS(a, b, c) SCALARS_##scalars, reference_b),                                          \
    DERIVATIVE(TERNARY_INPUTS(a, b, c) SCALARS_##scalars, reference_c)}},
#include "crisol/ops/pointwise.def"
  };
  return rows;
}

}  // namespace crisol::reference
