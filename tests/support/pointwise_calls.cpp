#include "support/pointwise_calls.h"

#include "crisol/functions/elementwise.h"

namespace crisol::testing {

#define SAVED_none
#define SAVED_x , v[0]
#define SAVED_y , y
#define SAVED_ab , v[0], v[1]
#define CALL(function, ...) \
  [](const std::vector<Tensor>& v, [[maybe_unused]] const PointwiseCalls::Scalars& s) { return function(__VA_ARGS__); }
#define BACKWARD(function, saved, ...)                                                                  \
  [](const Tensor& dy, [[maybe_unused]] const std::vector<Tensor>& v, [[maybe_unused]] const Tensor& y, \
     [[maybe_unused]] const PointwiseCalls::Scalars& s) { return function(dy SAVED_##saved __VA_ARGS__); }

const std::vector<PointwiseCalls>& pointwise_calls() {
  static const std::vector<PointwiseCalls> calls{
#define CRISOL_UNARY(name, saved, ...) \
  {#name, CALL(ops::name, v[0]), {BACKWARD(ops::name##_backward, saved)}, CALL(crisol::name, v[0])},
#define CRISOL_UNARY_1(name, scalar, initial, at, saved, ...) \
  {#name, CALL(ops::name, v[0], s[0]), {BACKWARD(ops::name##_backward, saved, , s[0])}, CALL(crisol::name, v[0], s[0])},
#define CRISOL_UNARY_2(name, scalar, at, scalar_2, at_2, saved, ...) \
  {#name,                                                            \
   CALL(ops::name, v[0], s[0], s[1]),                                \
   {BACKWARD(ops::name##_backward, saved, , s[0], s[1])},            \
   CALL(crisol::name, v[0], s[0], s[1])},
#define CRISOL_BINARY(name, saved, ...)                                                \
  {#name,                                                                              \
   CALL(ops::name, v[0], v[1]),                                                        \
   {BACKWARD(ops::name##_backward_a, saved), BACKWARD(ops::name##_backward_b, saved)}, \
   CALL(crisol::name, v[0], v[1])},
#include "crisol/ops/pointwise.def"
  };
  return calls;
}

const std::vector<ComparisonCalls>& comparison_calls() {
  static const std::vector<ComparisonCalls> calls{
#define CRISOL_COMPARISON(name, ...)                                        \
  {#name, [](const Tensor& a, const Tensor& b) { return ops::name(a, b); }, \
   [](const Tensor& a, double b) { return ops::name(a, b); }},
#include "crisol/ops/pointwise.def"
  };
  return calls;
}

}  // namespace crisol::testing
