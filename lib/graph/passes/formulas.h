// Formulas of nodes, computed by kernels.
#pragma once

#include "graph/graph.h"

namespace crisol::graph {

/// Whether the node has a formula, and the type and shape of its output are known.
bool has_formula(const Graph& graph, const Node& node);

/// Whether a kernel can compute the node's formula: there is a formula, and the output is floating-point.
bool is_of_elements(const Graph& graph, const Node& node);

/// How many numbers the formula has: constants, and the parameters of its ops.
std::size_t numbers_of(const Run::Formula& formula, std::size_t inputs);

/// A formula as a function for fused kernels.
class FormulaKernel {
 public:
  explicit FormulaKernel(Run::Formula formula);

  Tensor operator()(const std::vector<Tensor>& inputs) const;
  /// The formula as an epilogue of an op. The op's result is the formula's first input.
  Epilogue epilogue(std::vector<Tensor> other_inputs) const;

 private:
  std::shared_ptr<const Run::Formula> formula_;
  std::shared_ptr<detail::FusedFunction> function_;
};

/// A Run that computes the formula in one kernel.
Run run_of(Run::Formula formula);

}  // namespace crisol::graph
