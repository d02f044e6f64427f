// The rows of crisol/ops/pointwise.def as differentiable and as in-place functions.
#include "crisol/functions/elementwise.h"

#include "functions/pointwise/pointwise.h"

namespace crisol {

#define CRISOL_UNARY(name, x, scalars, ...)                                     \
  Tensor name(const Tensor& x CRISOL_TAKES_##scalars) {                         \
    return autograd::pointwise(ops::rows::name, {x}, {CRISOL_GIVES_##scalars}); \
  }
#define CRISOL_BINARY(name, a, b, scalars, ...)                                    \
  Tensor name(const Operand& a, const Operand& b CRISOL_TAKES_##scalars) {         \
    return autograd::pointwise(ops::rows::name, {a, b}, {CRISOL_GIVES_##scalars}); \
  }
#define CRISOL_TERNARY(name, a, b, c, scalars, ...)                                          \
  Tensor name(const Operand& a, const Operand& b, const Operand& c CRISOL_TAKES_##scalars) { \
    return autograd::pointwise(ops::rows::name, {a, b, c}, {CRISOL_GIVES_##scalars});        \
  }
#include "crisol/ops/pointwise.def"

#define CRISOL_UNARY(name, x, scalars, ...) \
  Tensor Tensor::name(CRISOL_ONLY_TAKES_##scalars) const { return crisol::name(*this CRISOL_ALSO_GIVES_##scalars); }
#define CRISOL_BINARY(name, a, b, scalars, ...)                        \
  Tensor Tensor::name(const Operand& b CRISOL_TAKES_##scalars) const { \
    return crisol::name(*this, b CRISOL_ALSO_GIVES_##scalars);         \
  }
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, ...)                                               \
  CRISOL_IN_PLACE_##rule(Tensor Tensor::name(const Operand& b, const Operand& c CRISOL_TAKES_##scalars) \
                             const { return crisol::name(*this, b, c CRISOL_ALSO_GIVES_##scalars); })
#include "crisol/ops/pointwise.def"

#define IN_PLACE(name, others, numbers)                                               \
  {                                                                                   \
    autograd::pointwise_in_place(#name "_", ops::rows::name, *this, others, numbers); \
    return *this;                                                                     \
  }
#define LIST(...) \
  { __VA_ARGS__ }
#define CRISOL_UNARY(name, x, scalars, rule, ...)                             \
  CRISOL_IN_PLACE_##rule(Tensor& Tensor::name##_(CRISOL_ONLY_TAKES_##scalars) \
                             IN_PLACE(name, {}, LIST(CRISOL_GIVES_##scalars)))
#define CRISOL_BINARY(name, a, b, scalars, rule, ...)                                     \
  CRISOL_IN_PLACE_##rule(Tensor& Tensor::name##_(const Operand& b CRISOL_TAKES_##scalars) \
                             IN_PLACE(name, {b}, LIST(CRISOL_GIVES_##scalars)))
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, ...)                                                   \
  CRISOL_IN_PLACE_##rule(Tensor& Tensor::name##_(const Operand& b, const Operand& c CRISOL_TAKES_##scalars) \
                             IN_PLACE(name, LIST(b, c), LIST(CRISOL_GIVES_##scalars)))
#include "crisol/ops/pointwise.def"

}  // namespace crisol
