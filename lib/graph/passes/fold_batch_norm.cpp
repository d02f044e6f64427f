#include <array>

#include "crisol/functions/elementwise.h"
#include "crisol/grad_mode.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

namespace {

/// y = x · scale + shift, for each channel.
struct Affine {
  Tensor scale, shift;
};

/// Nothing if a parameter is no constant.
std::optional<Affine> affine_of(const Node& node, const Uses& uses, Device device) {
  std::array<Tensor, 4> p;
  for (std::size_t i = 0; i < 4; ++i) {
    const Datum* datum = uses.constant(node.inputs[i + 1]);
    if (datum == nullptr) return {};
    p[i] = datum->tensor(device);
  }
  const auto epsilon = node.attributes.find("epsilon");
  const Tensor scale =
      p[0] * rsqrt(p[3] + (epsilon == node.attributes.end() ? 1e-5 : std::get<double>(epsilon->second)));
  return Affine{scale, p[1] - p[2] * scale};
}

/// True if the convolution before takes the scale and the shift.
bool fold_into_conv(Graph& graph, const Node& batch_norm, const Affine& affine, const Uses& uses, Device device) {
  const int x = batch_norm.inputs[0];
  const Node* maker = uses.maker(x);
  if (maker == nullptr || maker->op != "Conv" || !uses.has_one_user(x)) return false;
  const Datum* weight = uses.constant(maker->inputs[1]);
  const bool has_bias = maker->inputs.size() > 2 && maker->inputs[2] != absent;
  const Datum* bias = has_bias ? uses.constant(maker->inputs[2]) : nullptr;
  if (weight == nullptr || (has_bias && bias == nullptr)) return false;
  const Tensor w = weight->tensor(device);
  Shape channels = Shape::filled(w.dim(), 1);
  channels[0] = w.size(0);
  const std::string name = graph.values[static_cast<std::size_t>(maker->inputs[1])].name;
  Node& conv = graph.nodes[uses.place(x)];
  conv.inputs.resize(3, absent);
  conv.inputs[2] = add_constant(graph, name + "/shift",
                                has_bias ? bias->tensor(device) * affine.scale + affine.shift : affine.shift);
  conv.inputs[1] = add_constant(graph, name + "/scaled", w * affine.scale.reshape(channels));
  conv.outputs[0] = batch_norm.outputs[0];
  return true;
}

/// Without a convolution before it, a node of its own.
void make_elementwise(Graph& graph, Node& node, const Affine& affine) {
  const std::optional<Shape> shape = shape_of(graph, node.inputs[0]);
  Shape channels = Shape::filled(shape->rank() - 1, 1);
  channels[0] = (*shape)[1];
  const int scale = add_constant(graph, node.name + "/scale", affine.scale.reshape(channels));
  const int shift = add_constant(graph, node.name + "/shift", affine.shift.reshape(channels));
  node.inputs = {node.inputs[0], scale, shift};
  node.run = Run([](const Data& in,
                    Device device) { return Data{in[0].tensor(device) * in[1].tensor(device) + in[2].tensor(device)}; },
                 [](std::span<const Expr> in) { return in[0] * in[1] + in[2]; });
}

}  // namespace

std::size_t fold_batch_norm(Graph& graph, Device device) {
  const NoGrad no_grad;
  std::vector<bool> gone(graph.nodes.size());
  std::size_t changed = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].op != "BatchNormalization") continue;
    const Uses uses(graph);  // The last change moved constants.
    const std::optional<Affine> affine = affine_of(graph.nodes[i], uses, device);
    if (!affine) continue;
    ++changed;
    gone[i] = fold_into_conv(graph, graph.nodes[i], *affine, uses, device);
    if (!gone[i]) make_elementwise(graph, graph.nodes[i], *affine);
  }
  remove_marked(graph, gone);
  return changed;
}

}  // namespace crisol::graph
