#include "graph/ops/runs.h"

#include "base/text.h"
#include "crisol/error.h"
#include "graph/ops/elements.h"

namespace crisol::graph {

namespace {

Run run_of(const Node& node) {
  if (row_of(node) != nullptr) return run_of_elements(node);
  for (const Runs* runs : {&runs_of_arrangements(), &runs_of_layers()})
    if (const auto found = runs->find(node.op); found != runs->end()) return found->second(node);
  fail(ErrorCode::invalid_argument, "graph", "the op ", node.op_name(), " has no run");
}

}  // namespace

void add_runs(Graph& graph) {
  for (Node& node : graph.nodes) node.run = run_of(node);
}

std::vector<Tensor> tensors_of(const Data& in, Device device) {
  std::vector<Tensor> tensors;
  for (const Datum& datum : in) tensors.push_back(datum.tensor(device));
  return tensors;
}

}  // namespace crisol::graph
