#include <algorithm>

#include "graph/passes/passes.h"
#include "graph/passes/uses.h"
#include "ops/product/pairs.h"

namespace crisol::graph {

namespace {

/// Whether the node reads the numbers and the zero point as a product does, and nothing else of the two.
bool takes(const Node& node, int numbers, int zero) {
  const auto count = [&](int value) { return std::count(node.inputs.begin(), node.inputs.end(), value); };
  return node.run.takes_centred && node.inputs.size() > 2 && node.inputs[0] == numbers && node.inputs[2] == zero &&
         count(numbers) == 1 && count(zero) == 1;
}

}  // namespace

std::size_t centre_numbers(Graph& graph, Device device) {
  // The device is asked only for a graph of bytes, because its answer takes a probe in each process.
  const auto gives_bytes = [](const Node& node) { return node.run.centred != nullptr; };
  const bool has_bytes = std::any_of(graph.nodes.begin(), graph.nodes.end(), gives_bytes);
  if (!has_bytes || !ops::takes_centred(device)) return 0;
  const Uses uses(graph);
  std::size_t centred = 0;
  for (Node& node : graph.nodes) {
    if (!node.run.centred || node.outputs.size() != 3 || node.outputs[0] == absent || node.outputs[2] == absent)
      continue;
    const int numbers = node.outputs[0], zero = node.outputs[2];
    const std::vector<std::size_t>& users = uses.users(numbers);
    const auto is_fit = [&](std::size_t user) { return takes(graph.nodes[user], numbers, zero); };
    if (uses.is_output(numbers) || uses.is_output(zero) || users.empty() || users != uses.users(zero) ||
        !std::all_of(users.begin(), users.end(), is_fit))
      continue;
    for (const std::size_t user : users) graph.nodes[user].inputs[2] = absent;
    graph.values[static_cast<std::size_t>(numbers)].dtype = DType::i16;
    node.run = Run(Run::Function(node.run.centred));
    ++centred;
  }
  return centred;
}

}  // namespace crisol::graph
