#include "functions/fuse/fused_graph.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "crisol/dtype_table.h"

namespace crisol::detail {

namespace {

using ops::PointwiseGraph;
using Node = PointwiseGraph::Node;
using Kind = PointwiseGraph::Kind;

const char* name_of(Trailing::Kind kind) {
  switch (kind) {
    case Trailing::Kind::sum: return "sum";
    case Trailing::Kind::mean: return "mean";
    case Trailing::Kind::max: return "max";
    case Trailing::Kind::min: return "min";
    case Trailing::Kind::none: break;
  }
  return "";
}

// Turns expressions into nodes of a graph. An expression that several results share becomes one node.
class Lowering {
 public:
  Lowering(const char* op, std::span<const ArgumentType> arguments) : op_(op) {
    std::size_t tensors = 0;
    for (const ArgumentType& argument : arguments) tensors += argument.is_tensor ? 1 : 0;
    require(tensors <= max_tensors, op, tensors, " tensors, at most ", max_tensors, " are possible");
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const ops::OperandType& type = arguments[i].type;
      if (arguments[i].is_tensor) {
        nodes_.push_back(fused_.graph.input(type.dtype, type.kind));
        fused_.tensors.push_back({TensorOrigin::Kind::argument, i});
      } else {
        nodes_.push_back(add_scalar(type.dtype, {ScalarOrigin::Kind::argument, 0, i}));
      }
    }
  }

  void add_result(const Expr& result) {
    const ExprNode& node = *result.node();
    if (node.kind != ExprNode::Kind::trailing) {
      trailing_.push_back({});
      fused_.outputs.push_back(lower(result.node()));
      return;
    }
    const int value = lower(node.inputs[0]);
    require(node.trailing.kind != Trailing::Kind::mean || is_floating(fused_.graph[value].type.dtype), op_,
            "mean of an expression that is ", fused_.graph[value].type.dtype, ", must be ", TypesThat{is_floating});
    trailing_.push_back(node.trailing);
    fused_.outputs.push_back(value);
  }

  Formula take() const {
    for (std::size_t r = 0; r < trailing_.size(); ++r)
      require(tensors_read(fused_, fused_.outputs[r]) != 0, op_, "result ", r, " depends on no tensor");
    return {extract(fused_, fused_.outputs), trailing_};
  }

 private:
  int add_scalar(DType dtype, const ScalarOrigin& origin) {
    require(fused_.scalars.size() < max_numbers, op_, "more than ", max_numbers, " numbers, constants included");
    fused_.scalars.push_back(origin);
    return fused_.graph.scalar(dtype);
  }

  int lower(const NodePtr& expr) {
    const auto known = formula_.find(expr.get());
    if (known != formula_.end()) return known->second;
    const int node = lower_new(*expr);
    formula_.emplace(expr.get(), node);
    return node;
  }

  int lower_new(const ExprNode& expr) {
    switch (expr.kind) {
      case ExprNode::Kind::tensor:
      case ExprNode::Kind::scalar: return nodes_[expr.argument];
      case ExprNode::Kind::constant:
        return add_scalar(expr.value.dtype(), {ScalarOrigin::Kind::constant, expr.value, 0});
      case ExprNode::Kind::cast: return fused_.graph.convert(lower(expr.inputs[0]), expr.dtype);
      case ExprNode::Kind::row: break;
      case ExprNode::Kind::trailing:
        fail(ErrorCode::invalid_argument, op_, "the result of ", name_of(expr.trailing.kind),
             " can only be returned: a reduction ends a fused function");
    }
    std::vector<int> operands;
    for (const NodePtr& input : expr.inputs) operands.push_back(lower(input));
    for (std::size_t i = expr.row->input_count; i < operands.size(); ++i)
      require(fused_.graph[operands[i]].kind == Kind::scalar, op_, expr.row->name, "'s ",
              expr.row->scalars[i - expr.row->input_count], " must be a number, it is an expression");
    return fused_.graph.apply(*expr.row, operands);
  }

  const char* op_;
  FusedGraph fused_;
  std::vector<Trailing> trailing_;
  std::vector<int> nodes_;  ///< The node of each argument.
  std::unordered_map<const ExprNode*, int> formula_;
};

// Marks the outputs and all nodes on which they depend.
std::vector<bool> reachable(const PointwiseGraph& graph, std::span<const int> outputs) {
  std::vector<bool> needed(graph.nodes().size());
  for (const int output : outputs) needed[static_cast<std::size_t>(output)] = true;
  for (std::size_t i = needed.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const int operand : graph.nodes()[i].operands)
      if (operand != PointwiseGraph::none) needed[static_cast<std::size_t>(operand)] = true;
  }
  return needed;
}

}  // namespace

int copy_node(Node node, const std::vector<int>& copies, PointwiseGraph& to) {
  for (std::int16_t& operand : node.operands)
    if (operand != PointwiseGraph::none) operand = static_cast<std::int16_t>(copies[static_cast<std::size_t>(operand)]);
  return to.add(node);
}

Formula lower(const char* op, std::span<const ArgumentType> arguments, std::span<const Expr> results) {
  require(!results.empty(), op, "the function has no results");
  Lowering lowering(op, arguments);
  for (const Expr& result : results) lowering.add_result(result);
  return lowering.take();
}

FusedGraph extract(const FusedGraph& whole, std::span<const int> outputs) {
  const std::vector<bool> needed = reachable(whole.graph, outputs);
  FusedGraph part;
  std::vector<int> copies(needed.size(), PointwiseGraph::none);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    const Node& node = whole.graph.nodes()[i];
    const auto index = static_cast<std::size_t>(node.index);
    if (node.kind == Kind::input) {
      part.tensors.push_back(whole.tensors[index]);
      copies[i] = part.graph.input(node.type.dtype, node.type.kind);
    } else if (node.kind == Kind::scalar) {
      part.scalars.push_back(whole.scalars[index]);
      copies[i] = part.graph.scalar(node.type.dtype);
    } else {
      copies[i] = copy_node(node, copies, part.graph);
    }
  }
  for (const int output : outputs) part.outputs.push_back(copies[static_cast<std::size_t>(output)]);
  return part;
}

std::uint32_t tensors_read(const FusedGraph& whole, int output) {
  const std::vector<bool> needed = reachable(whole.graph, {&output, 1});
  std::uint32_t tensors = 0;
  for (std::size_t i = 0; i < needed.size(); ++i)
    if (needed[i] && whole.graph.nodes()[i].kind == Kind::input)
      tensors |= std::uint32_t{1} << whole.graph.nodes()[i].index;
  return tensors;
}

}  // namespace crisol::detail
