// Expressions that are recorded instead of computed: what a function given to fuse() (crisol/fuse.h) works on.
//
// Every function of crisol/functions/elementwise.h exists for them under the same name, and so do the operators, with
// numbers on either side: a function that is a template of its arguments' type runs eagerly and fused. They are members
// too, as of Tensor: x.mul(y).relu().
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

// Numbers of a row, alone and behind other parameters; and the same without types, to be passed on.
#define CRISOL_EXPR_NONE
#define CRISOL_EXPR_ONE(name, initial, at) , const Expr& name initial
#define CRISOL_EXPR_TWO(name, initial, at, name_2, initial_2, at_2) \
  , const Expr &name initial, const Expr &name_2 initial_2
#define CRISOL_ONLY_EXPR_NONE
#define CRISOL_ONLY_EXPR_ONE(name, initial, at) const Expr& name initial
#define CRISOL_ONLY_EXPR_TWO(name, initial, at, name_2, initial_2, at_2) \
  const Expr &name initial, const Expr &name_2 initial_2

/// What a fused kernel computes for each element. Copies are cheap. The first ones come from fuse(): they stand for the
/// arguments.
class CRISOL_API Expr {
 public:
  /// A constant, which becomes an argument of the kernel: another one compiles nothing.
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  Expr(Number value) : Expr(Scalar(value)) {}
  Expr(const Scalar& value);

  /// Converted as Tensor::to(dtype) converts.
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
// The rows of crisol/ops/pointwise.def. What is a number only in a row (a slope, a limit) must be a constant or a
// number that the fused function is called with.
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

/// Reductions end a fused function: their results can only be returned. `axes` is empty, which means all, or {-1}, the
/// last one, which disappears or, with keepdim, stays with size 1.
CRISOL_API Expr sum(const Expr& x, const Shape& axes = {}, bool keepdim = false);
/// The mean; f32 and f16 only. NaN over no elements.
CRISOL_API Expr mean(const Expr& x, const Shape& axes = {}, bool keepdim = false);
/// The largest value, NaN if there is one; equal ones share the gradient evenly. Refuses to reduce no elements.
CRISOL_API Expr max(const Expr& x, const Shape& axes = {}, bool keepdim = false);
/// The smallest value, NaN if there is one; equal ones share the gradient evenly. Refuses to reduce no elements.
CRISOL_API Expr min(const Expr& x, const Shape& axes = {}, bool keepdim = false);

}  // namespace crisol
