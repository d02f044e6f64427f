// Formulas of nodes as kernels.
#pragma once

#include "graph/graph.h"

namespace crisol::graph {

/// Whether a kernel can compute the node's formula: it has one, and its output is of floating-point numbers.
bool is_of_elements(const Graph& graph, const Node& node);

/// How many numbers the formula has: constants, and the parameters of its ops.
std::size_t numbers_of(const Run::Formula& formula, std::size_t inputs);

/// A formula as a function of fused kernels.
class FormulaKernel {
 public:
  explicit FormulaKernel(Run::Formula formula);

  Tensor operator()(const std::vector<Tensor>& inputs) const;
  /// The formula behind an op whose result is its first input.
  Epilogue epilogue(std::vector<Tensor> other_inputs) const;

 private:
  std::shared_ptr<const Run::Formula> formula_;
  std::shared_ptr<detail::FusedFunction> function_;
};

/// A run of the formula in one kernel.
Run run_of(Run::Formula formula);

}  // namespace crisol::graph
