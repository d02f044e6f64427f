#include "base/byte_dtype.h"
#include "crisol/dtype_table.h"
#include "graph/passes/formulas.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

namespace {

/// Whether products whose results have this type compute epilogues in f32.
bool is_in_f32(const std::optional<DType>& dtype) {
  return dtype && (value_type(*dtype) == DType::f32 || is_of_bytes(*dtype));
}

/// The input of a formula whose own kernel can also compute the formula. If there are several, it is the input that is
/// made last. Absent if there is none.
int input_with_kernel(const Graph& graph, const Uses& uses, const Node& node) {
  int best = absent;
  const auto dtype_of = [&](int value) { return graph.values[static_cast<std::size_t>(value)].dtype; };
  if (!node.run.formula || node.outputs.size() != 1) return best;
  for (const int input : node.inputs) {
    const Node* maker = input == absent ? nullptr : uses.maker(input);
    if (maker == nullptr || !maker->run.with_epilogue || !uses.has_one_user(input) || !is_in_f32(dtype_of(input)) ||
        dtype_of(input) != dtype_of(node.outputs[0]) || shape_of(graph, input) != shape_of(graph, node.outputs[0]))
      continue;
    if (best == absent || uses.place(input) > uses.place(best)) best = input;
  }
  return best;
}

/// The product, joined with the formula that follows it. The formula's other inputs come after the product's inputs.
Node joined(const Node& product, const Node& elements, int between) {
  Node node = product;
  node.outputs = elements.outputs;
  node.is_joined = true;
  // For each input of the formula: its position among the epilogue's arguments. Position 0 is the product.
  std::vector<std::size_t> places;
  std::size_t others = 0;
  for (const int input : elements.inputs) {
    places.push_back(input == between ? 0 : ++others);
    if (input != between) node.inputs.push_back(input);
  }
  const FormulaKernel kernel([formula = elements.run.formula, places](std::span<const Expr> in) {
    std::vector<Expr> arguments;
    arguments.reserve(places.size());
    for (const std::size_t place : places) arguments.push_back(in[place]);
    return formula(arguments);
  });
  node.run = [kernel, run = product.run.with_epilogue, own = product.inputs.size()](const Data& in, Device device) {
    std::vector<Tensor> tensors;
    for (std::size_t i = own; i < in.size(); ++i) tensors.push_back(in[i].tensor(device));
    const auto end = in.begin() + static_cast<std::ptrdiff_t>(own);
    return Data{run(Data(in.begin(), end), device, kernel.epilogue(std::move(tensors)))};
  };
  return node;
}

}  // namespace

std::size_t fuse_epilogues(Graph& graph, Device) {
  const Uses uses(graph);
  std::vector<bool> gone(graph.nodes.size());
  std::vector<std::pair<std::size_t, Node>> made;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const int between = input_with_kernel(graph, uses, node);
    if (between == absent) continue;
    const std::size_t product = uses.place(between);
    made.emplace_back(i, joined(graph.nodes[product], node, between));
    gone[product] = true;
  }
  for (auto& [place, node] : made) graph.nodes[place] = std::move(node);
  remove_marked(graph, gone);
  return made.size();
}

}  // namespace crisol::graph
