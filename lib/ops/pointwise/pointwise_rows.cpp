// The table as data.
#include <array>

#include "ops/pointwise/pointwise_row.h"

namespace crisol::ops {

#define SCALARS_NONE \
  0, {}
#define SCALARS_ONE(name, initial, at) \
  1, { #name }
#define SCALARS_TWO(name, initial, at, second, second_initial, second_at) \
  2, { #name, #second }
constexpr const char* SAME = nullptr;
constexpr RowExpression NONE;

// The derivatives are not in the namespace of the rows, because there `log` is a row.
namespace {

using Derivatives = std::array<ExpressionParts, PointwiseRow::max_inputs>;

#define NAME(name) [[maybe_unused]] constexpr RowExpression name(#name);
#define NAMES_NONE
#define NAMES_ONE(name, initial, at) NAME(name)
#define NAMES_TWO(name, initial, at, second, second_initial, second_at) NAME(name) NAME(second)
#define DERIVATIVE(names, derivative) parts_of([]() -> RowExpression { NAME(dy) NAME(y) names return derivative; })
#define CRISOL_UNARY(name, x, scalars, rule, saved, forward, integer, derivative, ...) \
  constexpr Derivatives derivatives_of_##name{DERIVATIVE(NAME(x) NAMES_##scalars, derivative)};
#define CRISOL_BINARY(name, a, b, scalars, rule, forward, integer, derivative_a, derivative_b, ...)      \
  constexpr Derivatives derivatives_of_##name{DERIVATIVE(NAME(a) NAME(b) NAMES_##scalars, derivative_a), \
                                              DERIVATIVE(NAME(a) NAME(b) NAMES_##scalars, derivative_b)};
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, forward, integer, derivative_a, derivative_b, derivative_c, ...) \
  constexpr Derivatives derivatives_of_##name{DERIVATIVE(NAME(a) NAME(b) NAME(c) NAMES_##scalars, derivative_a),      \
                                              DERIVATIVE(NAME(a) NAME(b) NAME(c) NAMES_##scalars, derivative_b),      \
                                              DERIVATIVE(NAME(a) NAME(b) NAME(c) NAMES_##scalars, derivative_c)};
#include "crisol/ops/pointwise.def"

}  // namespace

namespace rows {

#define ROW(name, rule, inputs, scalars, forward, integer, formula, ...)                                     \
  const PointwiseRow name{#name,   RowRule::rule,         inputs, {__VA_ARGS__}, SCALARS_##scalars, forward, \
                          integer, derivatives_of_##name, formula};
#define CRISOL_UNARY(name, x, scalars, rule, saved, forward, integer, derivative, reference, low, high, ulp, formula) \
  ROW(name, rule, 1, scalars, forward, integer, formula, #x)
#define CRISOL_BINARY(name, a, b, scalars, rule, forward, integer, derivative_a, derivative_b, reference, low, high, \
                      ulp, formula)                                                                                  \
  ROW(name, rule, 2, scalars, forward, integer, formula, #a, #b)
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, forward, integer, derivative_a, derivative_b, derivative_c, \
                       reference, low, high, ulp, formula)                                                       \
  ROW(name, rule, 3, scalars, forward, integer, formula, #a, #b, #c)
#include "crisol/ops/pointwise.def"

}  // namespace rows

std::span<const PointwiseRow* const> all_rows() {
  static constexpr std::array list{
#define CRISOL_UNARY(name, ...) &rows::name,
#define CRISOL_BINARY(name, ...) &rows::name,
#define CRISOL_TERNARY(name, ...) &rows::name,
#include "crisol/ops/pointwise.def"
  };
  return list;
}

}  // namespace crisol::ops
