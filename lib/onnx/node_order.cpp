#include "onnx/node_order.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <queue>

namespace crisol::onnx {

void visit_uses(const file::Node& node, const std::function<void(std::string_view)>& use) {
  for (const std::string_view input : node.inputs) use(input);
  for (const file::Attribute& attribute : node.attributes)
    for (const file::Graph& graph : attribute.graphs) {
      for (const file::Node& inner : graph.nodes) visit_uses(inner, use);
      for (const file::ValueInfoProto& output : graph.outputs) use(output.name);
    }
}

bool moves_elements(const file::Node& node) {
  constexpr std::string_view all[] = {"ArrayFeatureExtractor",
                                      "Compress",
                                      "Expand",
                                      "Flatten",
                                      "Gather",
                                      "GatherElements",
                                      "GatherND",
                                      "Identity",
                                      "Reshape",
                                      "Slice",
                                      "Split",
                                      "Squeeze",
                                      "Tile",
                                      "Transpose",
                                      "Unsqueeze"};
  return std::find(std::begin(all), std::end(all), node.op) != std::end(all);
}

std::vector<std::size_t> order_of(const std::vector<file::Node>& nodes) {
  std::map<std::string_view, std::size_t> makers;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::string_view output : nodes[i].outputs)
      if (!output.empty()) makers.emplace(output, i);
  std::vector<std::vector<std::size_t>> users(nodes.size());
  std::vector<std::size_t> open(nodes.size(), 0);  // For each node, how many nodes must run before it.
  bool in_order = true;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    visit_uses(nodes[i], [&](std::string_view name) {
      const auto maker = makers.find(name);
      if (maker == makers.end() || maker->second == i) return;
      users[maker->second].push_back(i);
      ++open[i];
      in_order = in_order && maker->second < i;
    });
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (in_order) return order;
  order.clear();
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>>
      ready;  // The node that is first in the file runs first.
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (open[i] == 0) ready.push(i);
  while (!ready.empty()) {
    const std::size_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const std::size_t user : users[node])
      if (--open[user] == 0) ready.push(user);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (open[i] > 0) order.push_back(i);
  return order;
}

}  // namespace crisol::onnx
