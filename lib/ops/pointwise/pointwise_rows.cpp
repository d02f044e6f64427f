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
constexpr const char* NONE = nullptr;

namespace rows {

#define CRISOL_UNARY(name, x, scalars, rule, saved, forward, integer, derivative, reference, reference_derivative, \
                     low, high, ulp, formula)                                                                      \
  const PointwiseRow name{#name, RowRule::rule, 1, {#x}, SCALARS_##scalars, forward, integer, {derivative}, formula};
#define CRISOL_BINARY(name, a, b, scalars, rule, forward, integer, derivative_a, derivative_b, reference, reference_a, \
                      reference_b, low, high, ulp, formula)                                                            \
  const PointwiseRow name{                                                                                             \
      #name, RowRule::rule, 2, {#a, #b}, SCALARS_##scalars, forward, integer, {derivative_a, derivative_b}, formula};
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, forward, integer, derivative_a, derivative_b, derivative_c, \
                       reference, reference_a, reference_b, reference_c, low, high, ulp, formula)                \
  const PointwiseRow name{#name,                                                                                 \
                          RowRule::rule,                                                                         \
                          3,                                                                                     \
                          {#a, #b, #c},                                                                          \
                          SCALARS_##scalars,                                                                     \
                          forward,                                                                               \
                          integer,                                                                               \
                          {derivative_a, derivative_b, derivative_c},                                            \
                          formula};
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
