// Expressions that are recorded instead of computed. A function for fuse() (crisol/fuse.h) takes and returns Exprs.
//
// Every function of crisol/functions/elementwise.h exists for expressions under the same name. So do the operators,
// with numbers on either side. So a function template runs both on tensors and on expressions. The functions are
// members too, as in Tensor: x.mul(y).relu().
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "crisol/dtype.h"
#include "crisol/export.h"
#include "crisol/scalar.h"
#include "crisol/shape.h"

namespace crisol {

namespace detail {
struct ExprNode;
}

// A row's numbers as parameters: after other parameters, or as the only parameters.
#define CRISOL_EXPR_NONE
#define CRISOL_EXPR_ONE(name, initial, at) , const Expr& name initial
#define CRISOL_EXPR_TWO(name, initial, at, name_2, initial_2, at_2) \
  , const Expr &name initial, const Expr &name_2 initial_2
#define CRISOL_ONLY_EXPR_NONE
#define CRISOL_ONLY_EXPR_ONE(name, initial, at) const Expr& name initial
#define CRISOL_ONLY_EXPR_TWO(name, initial, at, name_2, initial_2, at_2) \
  const Expr &name initial, const Expr &name_2 initial_2

/// An expression that a fused kernel computes for each element. Copies are cheap. fuse() makes the first expressions,
/// which represent the arguments.
class CRISOL_API Expr {
 public:
  /// A constant. It becomes an argument of the kernel, so another constant compiles nothing.
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  Expr(Number value) : Expr(Scalar(value)) {}
  Expr(const Scalar& value);

  /// The value converted to another dtype, like in Tensor::to(dtype).
  Expr to(DType dtype) const;

  // The functions below as members.
#define CRISOL_UNARY(name, x, scalars, ...) Expr name(CRISOL_ONLY_EXPR_##scalars) const;
#define CRISOL_BINARY(name, a, b, scalars, ...) Expr name(const Expr& b CRISOL_EXPR_##scalars) const;
#include "crisol/ops/pointwise.def"
  ///@{
  /// The function below of the same name.
  Expr sum(const Shape& axes = {}, bool keepdim = false) const;
  Expr mean(const Shape& axes = {}, bool keepdim = false) const;
  Expr max(const Shape& axes = {}, bool keepdim = false) const;
  Expr min(const Shape& axes = {}, bool keepdim = false) const;
  ///@}

  /// Used by the library.
  explicit Expr(std::shared_ptr<const detail::ExprNode> node) noexcept : node_(std::move(node)) {}
  /// Used by the library.
  const std::shared_ptr<const detail::ExprNode>& node() const noexcept { return node_; }

 private:
  std::shared_ptr<const detail::ExprNode> node_;
};
// The functions of crisol/ops/pointwise.def. A parameter that is always a number, such as a slope or a limit, must be a
// constant, or an argument of the fused function that is a number.
#define CRISOL_UNARY(name, x, scalars, ...) CRISOL_API Expr name(const Expr& x CRISOL_EXPR_##scalars);
#define CRISOL_BINARY(name, a, b, scalars, ...) \
  CRISOL_API Expr name(const Expr& a, const Expr& b CRISOL_EXPR_##scalars);
#define CRISOL_TERNARY(name, a, b, c, scalars, ...) \
  CRISOL_API Expr name(const Expr& a, const Expr& b, const Expr& c CRISOL_EXPR_##scalars);
#include "crisol/ops/pointwise.def"
#undef CRISOL_EXPR_NONE
#undef CRISOL_EXPR_ONE
#undef CRISOL_EXPR_TWO
#undef CRISOL_ONLY_EXPR_NONE
#undef CRISOL_ONLY_EXPR_ONE
#undef CRISOL_ONLY_EXPR_TWO

#define CRISOL_OPERATOR(sign, function) \
  inline Expr operator sign(const Expr& a, const Expr& b) { return function(a, b); }
CRISOL_OPERATOR(+, add)
CRISOL_OPERATOR(-, sub)
CRISOL_OPERATOR(*, mul)
CRISOL_OPERATOR(/, div)
CRISOL_OPERATOR(%, remainder)
CRISOL_OPERATOR(<, lt)
CRISOL_OPERATOR(<=, le)
CRISOL_OPERATOR(>, gt)
CRISOL_OPERATOR(>=, ge)
#undef CRISOL_OPERATOR
/// neg(x).
inline Expr operator-(const Expr& x) { return neg(x); }

/// The sum. A reduction ends a fused function: its result can only be returned. `axes` is empty (all axes) or {-1} (the
/// last axis). The result lacks the reduced axes, or with keepdim has size 1 there.
CRISOL_API Expr sum(const Expr& x, const Shape& axes = {}, bool keepdim = false);
/// The mean, of f32, f16 and f64 only. NaN for no elements.
CRISOL_API Expr mean(const Expr& x, const Shape& axes = {}, bool keepdim = false);
/// The largest value, or NaN if a value is NaN. Equal values get equal parts of the gradient. Refuses to reduce no
/// elements.
CRISOL_API Expr max(const Expr& x, const Shape& axes = {}, bool keepdim = false);
/// The smallest value, or NaN if a value is NaN. Equal values get equal parts of the gradient. Refuses to reduce no
/// elements.
CRISOL_API Expr min(const Expr& x, const Shape& axes = {}, bool keepdim = false);

}  // namespace crisol
