// The rows of crisol/ops/pointwise.def as raw ops.
#include "crisol/ops/elementwise.h"

#include <array>
#include <cmath>

#include "base/text.h"
#include "ops/pointwise/pointwise.h"

namespace crisol {

DType result_type(const Operand& a, const Operand& b) {
  const std::array types{ops::type_of(a), ops::type_of(b)};
  return ops::promoted(types).dtype;
}

namespace ops {

namespace {

const Tensor nothing;

// dst + alpha * src, for accumulation.
constexpr PointwiseRow add_scaled{"accumulate_into",
                                  RowRule::number,
                                  2,
                                  {"a", "b"},
                                  1,
                                  {"alpha"},
                                  "a + alpha * b",
                                  "as_T(as_U(a) + as_U(alpha) * as_U(b))",
                                  {},
                                  "a + alpha b"};

}  // namespace

#define INPUT_none nothing
#define INPUT_x x
#define INPUT_y nothing
#define VALUE_none nothing
#define VALUE_x nothing
#define VALUE_y y

#define CRISOL_UNARY(name, x, scalars, rule, saved, ...)                                                               \
  Tensor name(const Tensor& x CRISOL_TAKES_##scalars) { return pointwise(rows::name, {x}, {CRISOL_GIVES_##scalars}); } \
  void name##_into(const Tensor& out, const Tensor& x CRISOL_TAKES_##scalars) {                                        \
    pointwise(rows::name, {x}, {CRISOL_GIVES_##scalars}, &out);                                                        \
  }                                                                                                                    \
  CRISOL_GRADIENT_##rule(                                                                                              \
      Tensor name##_backward(const Tensor& dy CRISOL_SAVED_##saved CRISOL_TAKES_##scalars) {                           \
        return pointwise_backward(rows::name, 0, dy, {INPUT_##saved}, VALUE_##saved, {CRISOL_GIVES_##scalars});        \
      } void name##_backward_into(const Tensor& out, const Tensor& dy CRISOL_SAVED_##saved CRISOL_TAKES_##scalars) {   \
        pointwise_backward(rows::name, 0, dy, {INPUT_##saved}, VALUE_##saved, {CRISOL_GIVES_##scalars}, &out);         \
      })
#define CRISOL_BINARY(name, a, b, scalars, ...)                                                    \
  Tensor name(const Operand& a, const Operand& b CRISOL_TAKES_##scalars) {                         \
    return pointwise(rows::name, {a, b}, {CRISOL_GIVES_##scalars});                                \
  }                                                                                                \
  void name##_into(const Tensor& out, const Operand& a, const Operand& b CRISOL_TAKES_##scalars) { \
    pointwise(rows::name, {a, b}, {CRISOL_GIVES_##scalars}, &out);                                 \
  }
#define CRISOL_TERNARY(name, a, b, c, scalars, ...)                                                                  \
  Tensor name(const Operand& a, const Operand& b, const Operand& c CRISOL_TAKES_##scalars) {                         \
    return pointwise(rows::name, {a, b, c}, {CRISOL_GIVES_##scalars});                                               \
  }                                                                                                                  \
  void name##_into(const Tensor& out, const Operand& a, const Operand& b, const Operand& c CRISOL_TAKES_##scalars) { \
    pointwise(rows::name, {a, b, c}, {CRISOL_GIVES_##scalars}, &out);                                                \
  }
#include "crisol/ops/pointwise.def"

void accumulate_into(const Tensor& dst, const Tensor& src, double alpha) {
  // A whole factor leaves whole numbers whole.
  const bool is_count = std::trunc(alpha) == alpha && std::abs(alpha) < 0x1p63;
  const Scalar factor = is_count ? Scalar(static_cast<std::int64_t>(alpha)) : Scalar(alpha);
  pointwise_into("accumulate_into", add_scaled, dst, {dst, src}, {factor});
}

}  // namespace ops
}  // namespace crisol
