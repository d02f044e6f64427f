#include "graph/passes/passes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

std::size_t remove_dead_nodes(Graph& graph, Device) {
  std::vector<bool> needed(graph.values.size()), dead(graph.nodes.size());
  for (const int output : graph.outputs)
    if (output != absent) needed[static_cast<std::size_t>(output)] = true;
  std::size_t removed = 0;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    dead[i] = std::none_of(node.outputs.begin(), node.outputs.end(),
                           [&](int output) { return output != absent && needed[static_cast<std::size_t>(output)]; });
    removed += dead[i] ? 1 : 0;
    if (dead[i]) continue;
    for (const int input : node.inputs)
      if (input != absent) needed[static_cast<std::size_t>(input)] = true;
  }
  remove_marked(graph, dead);
  std::erase_if(graph.constants,
                [&](const auto& constant) { return !needed[static_cast<std::size_t>(constant.first)]; });
  return removed;
}

std::size_t nodes_saved_by(const std::function<void()>& rewrite, Graph& graph, Device device) {
  const std::size_t before = graph.nodes.size();
  rewrite();
  remove_dead_nodes(graph, device);
  return before - graph.nodes.size();
}

}  // namespace crisol::graph
