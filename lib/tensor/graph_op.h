// The ids of the ops of graphs (lib/graph/graph.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace crisol {

enum class GraphOp : std::uint8_t {
  other,  ///< An op without a row in the tables. Nodes keep its name.
#define CRISOL_UNARY(name, ...) name,
#define CRISOL_BINARY(name, ...) name,
#define CRISOL_TERNARY(name, ...) name,
#include "crisol/ops/pointwise.def"
#define CRISOL_GRAPH_OP(id, ...) id,
#include "tensor/graph_ops.def"
};

/// The op's name. Empty for `other`.
std::string_view name_of(GraphOp op);
/// The op of a function of single elements, by the name of its row.
GraphOp op_of_row(std::string_view row);

}  // namespace crisol
