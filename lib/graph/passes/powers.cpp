#include "crisol/functions/elementwise.h"
#include "graph/passes/formulas.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

namespace {

/// The power with this exponent as a formula of the base, if it gives what pow() gives for every base: also for -0,
/// infinity and NaN. A square root does not: pow(-0, 0.5) is 0.
Run::Formula formula_of_power(double exponent) {
  if (exponent == 2) return [](std::span<const Expr> in) { return square(in[0]); };
  if (exponent == 3) return [](std::span<const Expr> in) { return square(in[0]) * in[0]; };
  if (exponent == -1) return [](std::span<const Expr> in) { return reciprocal(in[0]); };
  return {};
}

}  // namespace

std::size_t simplify_powers(Graph& graph, Device) {
  const Uses uses(graph);
  std::size_t simplified = 0;
  for (Node& node : graph.nodes) {
    if (node.op != Op::pow || node.is_joined || !is_of_elements(graph, node)) continue;
    const int base = node.inputs[0], power = node.outputs[0];
    const std::optional<double> exponent = uses.number(node.inputs[1]);
    if (!exponent || shape_of(graph, base) != shape_of(graph, power) ||
        graph.values[static_cast<std::size_t>(base)].dtype != graph.values[static_cast<std::size_t>(power)].dtype)
      continue;
    Run::Formula formula = formula_of_power(*exponent);
    if (!formula) continue;
    node.inputs.resize(1);
    node.is_joined = true;
    node.run = run_of(std::move(formula));
    ++simplified;
  }
  return simplified;
}

}  // namespace crisol::graph
