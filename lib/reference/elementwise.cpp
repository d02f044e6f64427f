#include "reference/elementwise.h"

#include <cmath>

namespace crisol::reference {

namespace {

// Silences warnings about what a formula does not use.
template <class... T>
constexpr void unused(const T&...) {}

}  // namespace

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
#define UNARY_ROW(name, begin, scalars, reference, derivative, low, high, formula) \
  {#name, formula, 1, scalars, low, high, FORWARD(begin, reference), {DERIVATIVE(begin, derivative), nullptr}},
#define LIST(...) \
  { __VA_ARGS__ }
#define ONE_X            \
  const double x = v[0]; \
  unused(x);
#define ONE_SCALAR(name)    \
  const double name = s[0]; \
  unused(name);
#define SECOND_SCALAR(name) \
  const double name = s[1]; \
  unused(name);
#define TWO_INPUTS                 \
  const double a = v[0], b = v[1]; \
  unused(a, b);

const std::vector<Elementwise>& elementwise_rows() {
  static const std::vector<Elementwise> rows{
#define CRISOL_UNARY(name, saved, forward, derivative, reference, reference_derivative, low, high, formula) \
  UNARY_ROW(name, ONE_X, LIST(), reference, reference_derivative, low, high, formula)
#define CRISOL_UNARY_1(name, scalar, initial, at, saved, forward, derivative, reference, reference_derivative, low, \
                       high, formula)                                                                               \
  UNARY_ROW(name, ONE_X ONE_SCALAR(scalar), LIST(at), reference, reference_derivative, low, high, formula)
#define CRISOL_UNARY_2(name, scalar, at, scalar_2, at_2, saved, forward, derivative, reference, reference_derivative, \
                       low, high, formula)                                                                            \
  UNARY_ROW(name, ONE_X ONE_SCALAR(scalar) SECOND_SCALAR(scalar_2), LIST(at, at_2), reference, reference_derivative,  \
            low, high, formula)
#define CRISOL_BINARY(name, saved, forward, derivative_a, derivative_b, reference, reference_a, reference_b, low, \
                      high, formula)                                                                              \
  {#name,                                                                                                         \
   formula,                                                                                                       \
   2,                                                                                                             \
   {},                                                                                                            \
   low,                                                                                                           \
   high,                                                                                                          \
   FORWARD(TWO_INPUTS, reference),                                                                                \
   {DERIVATIVE(TWO_INPUTS, reference_a), DERIVATIVE(TWO_INPUTS, reference_b)}},
#include "crisol/ops/pointwise.def"
  };
  return rows;
}

const std::vector<Comparison>& comparison_rows() {
  static const std::vector<Comparison> rows{
#define CRISOL_COMPARISON(name, sign, formula) {#name, [](double a, double b) { return a sign b; }},
#include "crisol/ops/pointwise.def"
  };
  return rows;
}

}  // namespace crisol::reference
