#include "graph/passes/formulas.h"

#include <set>

#include "functions/fuse/expr_node.h"

namespace crisol::graph {

namespace {

/// A formula, and the number of its arguments.
struct Counted {
  std::shared_ptr<const Run::Formula> formula;
  std::size_t arguments;
};

void evaluate(const void* object, const Expr* arguments, std::vector<Expr>& results) {
  const auto& counted = *static_cast<const Counted*>(object);
  results.push_back((*counted.formula)({arguments, counted.arguments}));
}

}  // namespace

std::size_t numbers_of(const Run::Formula& formula, std::size_t inputs) {
  using detail::ExprNode;
  std::vector<Expr> arguments;
  for (std::size_t i = 0; i < inputs; ++i)
    arguments.push_back(detail::make_expr({.kind = ExprNode::Kind::tensor, .argument = i}));
  const Expr result = formula(arguments);
  std::set<const ExprNode*> seen;
  std::vector<const ExprNode*> open{result.node().get()};
  std::size_t numbers = 0;
  while (!open.empty()) {
    const ExprNode* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    if (node->kind == ExprNode::Kind::constant) ++numbers;
    for (const detail::NodePtr& input : node->inputs) open.push_back(input.get());
  }
  return numbers;
}

bool has_formula(const Graph& graph, const Node& node) {
  if (!node.run.formula || node.outputs.size() != 1 || node.outputs[0] == absent) return false;
  const Value& value = graph.values[static_cast<std::size_t>(node.outputs[0])];
  return value.dtype && value.shape;
}

bool is_of_elements(const Graph& graph, const Node& node) {
  return has_formula(graph, node) && is_floating(*graph.values[static_cast<std::size_t>(node.outputs[0])].dtype);
}

FormulaKernel::FormulaKernel(Run::Formula formula)
    : formula_(std::make_shared<const Run::Formula>(std::move(formula))), function_(detail::make_fused("graph")) {}

Tensor FormulaKernel::operator()(const std::vector<Tensor>& inputs) const {
  const std::vector<detail::FusedArgument> arguments(inputs.begin(), inputs.end());
  const Counted counted{formula_, inputs.size()};
  return detail::run_fused(*function_, evaluate, &counted, arguments.data(), arguments.size())[0];
}

Epilogue FormulaKernel::epilogue(std::vector<Tensor> other_inputs) const {
  auto counted = std::make_shared<const Counted>(Counted{formula_, other_inputs.size() + 1});
  std::vector<Scalar> numbers(other_inputs.size(), Scalar(0));
  return Epilogue(function_, evaluate, std::move(counted), std::move(other_inputs), std::move(numbers));
}

Run run_of(Run::Formula formula) {
  const FormulaKernel kernel(formula);
  return {[kernel](const Data& in, Device device) {
            std::vector<Tensor> tensors;
            for (const Datum& datum : in) tensors.push_back(datum.tensor(device));
            return Data{kernel(tensors)};
          },
          std::move(formula)};
}

}  // namespace crisol::graph
