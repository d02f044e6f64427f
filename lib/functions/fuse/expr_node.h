// What an Expr points to: a node of an expression, which never changes. Expressions share their parts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "crisol/expr.h"
#include "ops/pointwise/pointwise_row.h"

namespace crisol::detail {

using NodePtr = std::shared_ptr<const ExprNode>;

/// What ends a fused function: a combination of one expression's values.
struct Trailing {
  enum class Kind : std::uint8_t { none, sum, mean, max, min };
  Kind kind = Kind::none;
  bool last_axis = false;  ///< Over the last axis, else over all.
  bool keepdim = false;

  friend bool operator==(const Trailing&, const Trailing&) = default;
};

struct ExprNode {
  enum class Kind : std::uint8_t {
    tensor,    ///< An element of argument `argument`.
    scalar,    ///< Argument `argument`, a number.
    constant,  ///< `value`.
    row,       ///< A row of the table, of `inputs`: its inputs, then its scalars.
    cast,      ///< inputs[0] as `dtype`.
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

/// A row of its inputs, then its scalars; the row need not be in the table, but must live as long as the process.
Expr apply(const ops::PointwiseRow& row, std::span<const Expr> operands);

inline Expr make_expr(ExprNode node) { return Expr(std::make_shared<const ExprNode>(std::move(node))); }

}  // namespace crisol::detail
