#include "tensor/graph_op.h"

#include <array>
#include <map>

namespace crisol {

namespace {

constexpr std::array names{
    std::string_view(),
#define CRISOL_UNARY(name, ...) std::string_view(#name),
#define CRISOL_BINARY(name, ...) std::string_view(#name),
#define CRISOL_TERNARY(name, ...) std::string_view(#name),
#include "crisol/ops/pointwise.def"
#define CRISOL_GRAPH_OP(id, ...) std::string_view(#id),
#include "tensor/graph_ops.def"
};

}  // namespace

std::string_view name_of(GraphOp op) { return names[static_cast<std::size_t>(op)]; }

GraphOp op_of_row(std::string_view row) {
  static const auto ops = [] {
    std::map<std::string_view, GraphOp> by_name;
    for (std::size_t i = 1; i < names.size(); ++i) by_name.emplace(names[i], static_cast<GraphOp>(i));
    return by_name;
  }();
  const auto found = ops.find(row);
  return found == ops.end() ? GraphOp::other : found->second;
}

}  // namespace crisol
