#include "tensor/graph_op.h"

#include <array>
#include <map>

namespace crisol {

namespace {

constexpr std::array ids{
    std::string_view(),
#define CRISOL_UNARY(name, ...) std::string_view(#name),
#define CRISOL_BINARY(name, ...) std::string_view(#name),
#define CRISOL_TERNARY(name, ...) std::string_view(#name),
#include "crisol/ops/pointwise.def"
#define CRISOL_GRAPH_OP(id, ...) std::string_view(#id),
#include "tensor/graph_ops.def"
};

std::array<std::string_view, ids.size()> all_names() {
  std::array<std::string_view, ids.size()> names = ids;
#define CRISOL_GRAPH_OP(id, name, ...) names[static_cast<std::size_t>(GraphOp::id)] = name;
#define CRISOL_NAMED_ROW(id, name) names[static_cast<std::size_t>(GraphOp::id)] = name;
#include "tensor/graph_ops.def"
  return names;
}

const std::array<std::string_view, ids.size()>& names() {
  static const auto all = all_names();
  return all;
}

using ByName = std::map<std::string_view, GraphOp>;

ByName by_name(const std::array<std::string_view, ids.size()>& names) {
  ByName all;
  for (std::size_t i = 1; i < names.size(); ++i) all.emplace(names[i], static_cast<GraphOp>(i));
  return all;
}

GraphOp found(const ByName& all, std::string_view name) {
  const auto at = all.find(name);
  return at == all.end() ? GraphOp::other : at->second;
}

}  // namespace

std::string_view name_of(GraphOp op) { return names()[static_cast<std::size_t>(op)]; }

GraphOp op_of_name(std::string_view name) {
  static const ByName all = by_name(names());
  return found(all, name);
}

GraphOp op_of_row(std::string_view row) {
  static const ByName all = by_name(ids);
  return found(all, row);
}

}  // namespace crisol
