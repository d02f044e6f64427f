// The node to which an Expr points. A node never changes. Expressions share nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "crisol/expr.h"
#include "ops/pointwise/pointwise_row.h"

namespace crisol::detail {

using NodePtr = std::shared_ptr<const ExprNode>;

/// The last step of a fused function: a reduction over the values of one expression.
struct Trailing {
  enum class Kind : std::uint8_t { none, sum, mean, max, min };
  Kind kind = Kind::none;
  bool last_axis = false;  ///< True for the last axis, false for all axes.
  bool keepdim = false;

  friend bool operator==(const Trailing&, const Trailing&) = default;
};

struct ExprNode {
  enum class Kind : std::uint8_t {
    tensor,    ///< An element of argument `argument`.
    scalar,    ///< Argument `argument`, a number.
    constant,  ///< `value`.
    row,       ///< A row of the table, applied to `inputs`: the row's inputs, then its scalars.
    cast,      ///< inputs[0], converted to `dtype`.
    trailing,  ///< A reduction of inputs[0].
  };

  Kind kind;
  std::size_t argument = 0;
  Scalar value = 0;
  const ops::PointwiseRow* row = nullptr;
  DType dtype = DType::f32;
  Trailing trailing{};
  std::vector<NodePtr> inputs{};
};

/// Applies a row to operands: its inputs, then its scalars. The row need not be in the table, but must live as long as
/// the process.
Expr apply(const ops::PointwiseRow& row, std::span<const Expr> operands);

inline Expr make_expr(ExprNode node) { return Expr(std::make_shared<const ExprNode>(std::move(node))); }

}  // namespace crisol::detail
