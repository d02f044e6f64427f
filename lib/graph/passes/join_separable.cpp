#include "dispatch/target.h"
#include "functions/conv/conv_blocks.h"
#include "graph/passes/formulas.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

namespace {

/// A depthwise convolution, and the node of single elements after it, if there is one.
struct Depthwise {
  const Node* convolution;
  const Node* elements;
};

bool is_pointwise(const ops::Conv2dSizes& s) {
  return s.groups == 1 && s.taps() == 1 && s.stride_h == 1 && s.stride_w == 1 && s.pad_h == 0 && s.pad_w == 0 &&
         s.out_h == s.height && s.out_w == s.width;
}

/// The depthwise convolution that makes the value, and the node between the two. Nothing if other nodes use their
/// results.
std::optional<Depthwise> depthwise_of(const Graph& graph, const Uses& uses, int value) {
  const Node* elements = nullptr;
  const Node* maker = uses.has_one_user(value) ? uses.maker(value) : nullptr;
  if (maker != nullptr && is_of_elements(graph, *maker) && maker->inputs.size() == 1) {
    elements = maker;
    maker = uses.has_one_user(maker->inputs[0]) ? uses.maker(maker->inputs[0]) : nullptr;
  }
  if (maker == nullptr || maker->run.convolution == nullptr || maker->run.convolution->groups == 1) return {};
  return Depthwise{maker, elements};
}

Node joined(const Depthwise& first, const Node& second) {
  const ops::Conv2dSizes sizes = *first.convolution->run.convolution;
  const std::int64_t outputs = second.run.convolution->outputs;
  Node node = second;
  node.is_joined = true;
  node.inputs = first.convolution->inputs;
  node.inputs.resize(3, absent);
  node.inputs.insert(node.inputs.end(), second.inputs.begin() + 1, second.inputs.end());
  std::optional<Epilogue> g;
  if (first.elements != nullptr) g = FormulaKernel(first.elements->run.formula).epilogue({});
  const auto compute = [=](const Data& in, Device device, const Epilogue* f) {
    const ops::SeparableWeights weights{in[1].tensor(device), in[2].tensor(device), in[3].tensor(device),
                                        in.size() > 4 ? in[4].tensor(device) : Tensor()};
    return detail::conv2d_separable(in[0].tensor(device), weights, sizes, outputs, g ? &*g : nullptr, f);
  };
  node.run = [compute](const Data& in, Device device) { return Data{compute(in, device, nullptr)}; };
  node.run.with_epilogue = [compute](const Data& in, Device device, const Epilogue& f) {
    return compute(in, device, &f);
  };
  return node;
}

}  // namespace

std::size_t join_separable(Graph& graph, Device device) {
  const dispatch::Target& target = dispatch::target_of(device.state());
  const Uses uses(graph);
  std::vector<bool> gone(graph.nodes.size());
  std::vector<std::pair<std::size_t, Node>> made;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.run.convolution == nullptr || !is_pointwise(*node.run.convolution)) continue;
    const std::optional<Depthwise> first = depthwise_of(graph, uses, node.inputs[0]);
    if (!first || !ops::separable_pays(*first->convolution->run.convolution, target)) continue;
    made.emplace_back(i, joined(*first, node));
    gone[uses.place(first->convolution->outputs[0])] = true;
    if (first->elements != nullptr) gone[uses.place(first->elements->outputs[0])] = true;
  }
  for (auto& [place, node] : made) graph.nodes[place] = std::move(node);
  remove_marked(graph, gone);
  return made.size();
}

}  // namespace crisol::graph
