#include "crisol/expr.h"

#include "base/text.h"
#include "functions/fuse/expr_node.h"

namespace crisol {

using detail::ExprNode;
using detail::Trailing;

namespace {

Expr apply(const ops::PointwiseRow& row, std::initializer_list<Expr> operands) {
  const ExprNode& last = *std::rbegin(operands)->node();
  if (last.kind == ExprNode::Kind::constant && ops::is_square_root(row, last.value)) return sqrt(*operands.begin());
  return detail::apply(row, std::span<const Expr>(operands.begin(), operands.size()));
}

Expr reduced(const char* op, Trailing::Kind kind, const Expr& x, const Shape& axes, bool keepdim) {
  require(axes.empty() || axes == Shape{-1}, op,
          "a fused function reduces over all axes ({}) or the last one ({-1}), not ", axes);
  ExprNode node{.kind = ExprNode::Kind::trailing, .trailing = {kind, !axes.empty(), keepdim}};
  node.inputs.push_back(x.node());
  return detail::make_expr(std::move(node));
}

}  // namespace

Expr detail::apply(const ops::PointwiseRow& row, std::span<const Expr> operands) {
  ExprNode node{.kind = ExprNode::Kind::row, .row = &row};
  for (const Expr& operand : operands) node.inputs.push_back(operand.node());
  return make_expr(std::move(node));
}

Expr::Expr(const Scalar& value)
    : node_(std::make_shared<const ExprNode>(ExprNode{.kind = ExprNode::Kind::constant, .value = value})) {}

Expr Expr::to(DType dtype) const {
  ExprNode node{.kind = ExprNode::Kind::cast, .dtype = dtype};
  node.inputs.push_back(node_);
  return detail::make_expr(std::move(node));
}

#define PARAMETERS_NONE
#define PARAMETERS_ONE(name, initial, at) , const Expr& name
#define PARAMETERS_TWO(name, initial, at, ...) , const Expr& name PARAMETERS_ONE(__VA_ARGS__)
#define NAMES_NONE
#define NAMES_ONE(name, initial, at) , name
#define NAMES_TWO(name, initial, at, name_2, initial_2, at_2) , name, name_2
#define CRISOL_UNARY(name, x, scalars, ...) \
  Expr name(const Expr& x PARAMETERS_##scalars) { return apply(ops::rows::name, {x NAMES_##scalars}); }
#define CRISOL_BINARY(name, a, b, scalars, ...)                  \
  Expr name(const Expr& a, const Expr& b PARAMETERS_##scalars) { \
    return apply(ops::rows::name, {a, b NAMES_##scalars});       \
  }
#define CRISOL_TERNARY(name, a, b, c, scalars, ...)                             \
  Expr name(const Expr& a, const Expr& b, const Expr& c PARAMETERS_##scalars) { \
    return apply(ops::rows::name, {a, b, c NAMES_##scalars});                   \
  }
#include "crisol/ops/pointwise.def"

#define ONLY_PARAMETERS_NONE
#define ONLY_PARAMETERS_ONE(name, initial, at) const Expr& name
#define ONLY_PARAMETERS_TWO(name, initial, at, ...) const Expr& name PARAMETERS_ONE(__VA_ARGS__)
#define CRISOL_UNARY(name, x, scalars, ...) \
  Expr Expr::name(ONLY_PARAMETERS_##scalars) const { return crisol::name(*this NAMES_##scalars); }
#define CRISOL_BINARY(name, a, b, scalars, ...) \
  Expr Expr::name(const Expr& b PARAMETERS_##scalars) const { return crisol::name(*this, b NAMES_##scalars); }
#include "crisol/ops/pointwise.def"

Expr Expr::sum(const Shape& axes, bool keepdim) const { return crisol::sum(*this, axes, keepdim); }
Expr Expr::mean(const Shape& axes, bool keepdim) const { return crisol::mean(*this, axes, keepdim); }
Expr Expr::max(const Shape& axes, bool keepdim) const { return crisol::max(*this, axes, keepdim); }
Expr Expr::min(const Shape& axes, bool keepdim) const { return crisol::min(*this, axes, keepdim); }

Expr sum(const Expr& x, const Shape& axes, bool keepdim) {
  return reduced("sum", Trailing::Kind::sum, x, axes, keepdim);
}

Expr mean(const Expr& x, const Shape& axes, bool keepdim) {
  return reduced("mean", Trailing::Kind::mean, x, axes, keepdim);
}

Expr max(const Expr& x, const Shape& axes, bool keepdim) {
  return reduced("max", Trailing::Kind::max, x, axes, keepdim);
}

Expr min(const Expr& x, const Shape& axes, bool keepdim) {
  return reduced("min", Trailing::Kind::min, x, axes, keepdim);
}

}  // namespace crisol
