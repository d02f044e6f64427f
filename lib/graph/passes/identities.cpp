#include <algorithm>

#include "graph/passes/passes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

namespace {

/// Whether the node is a reduction that reduces one element at a time. Its result then has the elements of its input.
bool is_of_single_elements(const Graph& graph, const Node& node) {
  if (!is_one_of(node.op, {Op::max, Op::mean, Op::min, Op::prod, Op::sum}) || node.outputs[0] == absent) return false;
  const std::optional<Shape> x = shape_of(graph, node.inputs[0]), y = shape_of(graph, node.outputs[0]);
  return x && y && x->numel() == y->numel() && x->numel() > 0;
}

/// A node that gives the first input's elements another shape.
Node reshape_to(const Shape& shape, Node node) {
  node.op = Op::reshape;
  node.inputs.resize(1);
  node.attributes.clear();
  node.run = [shape](const Data& in, Device device) { return Data{in[0].tensor(device).reshape(shape)}; };
  return node;
}

/// Whether a Dropout may drop elements: it has the input training_mode, which is not known to be false.
bool may_drop(const Uses& uses, const Node& node) {
  if (node.op != Op::dropout || node.inputs.size() < 3 || node.inputs[2] == absent) return false;
  return uses.number(node.inputs[2]) != 0;
}

/// The position of the input that the node passes on, if this input has the output's element type and shape. In a sum
/// with 0 this is the other summand, even for -0. In a product with 1 this is the other factor. Most ops have no such
/// input.
std::optional<std::size_t> input_that_stays(const Uses& uses, const Node& node) {
  if (is_one_of(node.op, {Op::identity, Op::dropout, Op::cast, Op::cast_like, Op::reshape, Op::flatten, Op::squeeze,
                          Op::unsqueeze, Op::expand}) &&
      !may_drop(uses, node))
    return 0;
  if (!is_one_of(node.op, {Op::add, Op::sub, Op::mul, Op::div, Op::pow}) || node.inputs.size() != 2) return {};
  const bool adds = node.op == Op::add || node.op == Op::sub, may_swap = node.op == Op::add || node.op == Op::mul;
  const double neutral = adds ? 0 : 1;
  if (uses.number(node.inputs[1]) == neutral) return 0;
  return may_swap && uses.number(node.inputs[0]) == neutral ? std::optional<std::size_t>(1) : std::nullopt;
}

/// Whether the output at position 0 is the only output, and has the dtype and shape of this input.
bool is_identity(const Graph& graph, const Node& node, std::size_t place) {
  if (node.inputs.size() <= place || node.inputs[place] == absent || node.outputs.empty() || node.outputs[0] == absent)
    return false;
  for (std::size_t k = 1; k < node.outputs.size(); ++k)
    if (node.outputs[k] != absent) return false;
  const Value &x = graph.values[static_cast<std::size_t>(node.inputs[place])],
              &y = graph.values[static_cast<std::size_t>(node.outputs[0])];
  return x.dtype && x.dtype == y.dtype && shape_of(graph, node.inputs[place]) == shape_of(graph, node.outputs[0]);
}

}  // namespace

std::size_t remove_identities(Graph& graph, Device) {
  const Uses uses(graph);
  Aliases aliases(graph);
  std::vector<bool> gone(graph.nodes.size());
  std::size_t removed = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    aliases.apply(graph.nodes[i]);
    const bool reshapes = is_of_single_elements(graph, graph.nodes[i]);
    if (reshapes) {
      const Shape shape = *shape_of(graph, graph.nodes[i].outputs[0]);
      graph.nodes[i] = reshape_to(shape, std::move(graph.nodes[i]));
    }
    const std::optional<std::size_t> place = input_that_stays(uses, graph.nodes[i]);
    gone[i] = place && is_identity(graph, graph.nodes[i], *place);
    if (gone[i]) aliases.add(graph.nodes[i].outputs[0], graph.nodes[i].inputs[*place]);
    removed += reshapes || gone[i] ? 1 : 0;
  }
  aliases.apply(graph);
  remove_marked(graph, gone);
  return removed;
}

}  // namespace crisol::graph
