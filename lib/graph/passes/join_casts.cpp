#include "graph/passes/passes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

namespace {

/// The node with a cast to f32 behind it.
Node with_cast(const Node& node, const Node& cast) {
  Node joined = node;
  joined.outputs = cast.outputs;
  joined.is_joined = true;
  joined.run = [f = node.run.in_f32](const Data& in, Device device) { return Data{f(in, device, nullptr)}; };
  joined.run.with_epilogue = [f = node.run.in_f32](const Data& in, Device device, const Epilogue& epilogue) {
    return f(in, device, &epilogue);
  };
  return joined;
}

}  // namespace

std::size_t join_casts(Graph& graph, Device) {
  const Uses uses(graph);
  std::vector<bool> gone(graph.nodes.size());
  std::size_t joined = 0;
  for (Node& node : graph.nodes) {
    if (node.op != Op::cast || graph.values[static_cast<std::size_t>(node.outputs[0])].dtype != DType::f32) continue;
    const Node* maker = uses.maker(node.inputs[0]);
    if (maker == nullptr || !maker->run.in_f32 || !uses.has_one_user(node.inputs[0])) continue;
    gone[uses.place(node.inputs[0])] = true;
    node = with_cast(*maker, node);
    ++joined;
  }
  remove_marked(graph, gone);
  return joined;
}

}  // namespace crisol::graph
