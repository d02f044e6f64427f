// Derivatives of a formula, found by a walk from the results back to the arguments.
#include <algorithm>

#include "functions/fuse/fused_graph.h"

namespace crisol::detail {

namespace {

using ops::PointwiseGraph;
using Node = PointwiseGraph::Node;
using Kind = PointwiseGraph::Kind;
namespace rows = ops::rows;

constexpr int none = PointwiseGraph::none;

class Gradient {
 public:
  Gradient(const Formula& formula, std::uint32_t wanted, bool read_results)
      : formula_(formula), from_(formula.fused.graph), to_(made_.graph) {
    const std::size_t count = from_.nodes().size();
    depends_.resize(count);
    values_.resize(count, none);
    gradients_.resize(count, none);
    for (std::size_t i = 0; i < count; ++i) {
      depends_[i] = depends(from_.nodes()[i], wanted);
      if (values_[i] == none) values_[i] = copy_value(i, read_results);
    }
    for (std::size_t r = 0; r < formula.trailing.size(); ++r) seed(r);
    for (std::size_t i = count; i-- > 0;) pass_on(i);
  }

  GradientGraph take() const {
    GradientGraph result;
    std::vector<int> outputs;
    auto gradients = made_;
    for (std::size_t i = 0; i < from_.nodes().size(); ++i) {
      const Node& node = from_.nodes()[i];
      if (node.kind != Kind::input || !depends_[i] || gradients_[i] == none) continue;
      outputs.push_back(gradients.graph.convert(gradients_[i], node.type.dtype));
      result.wanted.push_back(static_cast<std::size_t>(node.index));
    }
    result.fused = extract(gradients, outputs);
    for (const int output : formula_.fused.outputs)
      result.depends.push_back(depends_[static_cast<std::size_t>(output)]);
    return result;
  }

 private:
  static bool has_derivative(const Node& node, std::size_t k) {
    return node.row->has_derivative(k) && !node.row->is_zero(k);
  }

  bool depends(const Node& node, std::uint32_t wanted) const {
    if (!is_floating(node.type.dtype)) return false;
    if (node.kind == Kind::input) return (wanted >> node.index & 1u) != 0;
    if (node.kind == Kind::convert) return depends_[static_cast<std::size_t>(node.operands[0])];
    if (node.kind != Kind::apply) return false;
    for (std::size_t k = 0; k < node.row->input_count; ++k)
      if (has_derivative(node, k) && depends_[static_cast<std::size_t>(node.operands[k])]) return true;
    return false;
  }

  int add_tensor(DType dtype, const TensorOrigin& origin) {
    made_.tensors.push_back(origin);
    return to_.input(dtype);
  }

  int add_scalar(DType dtype, const ScalarOrigin& origin) {
    made_.scalars.push_back(origin);
    return to_.scalar(dtype);
  }

  // Finds the result that stores the value of a node unchanged. Backward can then read the value instead of computing
  // it again.
  int stored_result(std::size_t node) const {
    if (from_.nodes()[node].kind != Kind::apply || !is_floating(from_.nodes()[node].type.dtype)) return none;
    for (std::size_t r = 0; r < formula_.trailing.size(); ++r)
      if (formula_.trailing[r].kind == Trailing::Kind::none && formula_.fused.outputs[r] == static_cast<int>(node))
        return static_cast<int>(r);
    return none;
  }

  int copy_value(std::size_t i, bool read_results) {
    const Node& node = from_.nodes()[i];
    const auto index = static_cast<std::size_t>(node.index);
    if (node.kind == Kind::input) {
      made_.tensors.push_back(formula_.fused.tensors[index]);
      return to_.input(node.type.dtype, node.type.kind);
    }
    if (node.kind == Kind::scalar) return add_scalar(node.type.dtype, formula_.fused.scalars[index]);
    if (read_results)
      if (const int result = stored_result(i); result != none)
        return add_tensor(node.type.dtype, {TensorOrigin::Kind::result, static_cast<std::size_t>(result)});
    return copy_node(node, values_, to_);
  }

  void add_gradient(int node, int gradient) {
    int& sum = gradients_[static_cast<std::size_t>(node)];
    sum = sum == none ? gradient : to_.apply(rows::add, {sum, gradient});
  }

  // The gradient of result r starts at the node whose value was stored or reduced.
  void seed(std::size_t r) {
    const int node = formula_.fused.outputs[r];
    if (!depends_[static_cast<std::size_t>(node)]) return;
    const DType dtype = from_[node].type.dtype;
    int gradient = add_tensor(dtype, {TensorOrigin::Kind::gradient, r});
    switch (formula_.trailing[r].kind) {
      case Trailing::Kind::none:
      case Trailing::Kind::sum: break;
      case Trailing::Kind::mean:
        gradient = to_.apply(rows::mul, {gradient, add_scalar(DType::f32, {ScalarOrigin::Kind::count, 0, r})});
        break;
      case Trailing::Kind::max:
      case Trailing::Kind::min: {
        // This gradient is already divided by the number of elements that share the maximum or minimum.
        const int zero = add_scalar(DType::i64, {ScalarOrigin::Kind::constant, 0, 0});
        gradient = to_.apply(rows::where, {add_hits(made_, r, dtype), gradient, zero});
      }
    }
    add_gradient(node, gradient);
  }

  void pass_on(std::size_t i) {
    const Node& node = from_.nodes()[i];
    const int gradient = gradients_[i];
    if (gradient == none || !depends_[i]) return;
    if (node.kind == Kind::convert)
      add_gradient(node.operands[0], to_.convert(gradient, from_[node.operands[0]].type.dtype));
    if (node.kind != Kind::apply) return;
    for (std::size_t k = 0; k < node.row->input_count; ++k) {
      if (!has_derivative(node, k) || !depends_[static_cast<std::size_t>(node.operands[k])]) continue;
      add_gradient(node.operands[k], node.row->passes_on(k) ? gradient : derivative(node, k, gradient, values_[i]));
    }
  }

  // Passes only the operands that a derivative reads, so that the others are neither loaded nor computed.
  int derivative(const Node& node, std::size_t k, int gradient, int y) {
    const ops::PointwiseRow& row = *node.row;
    std::vector<int> inputs, scalars;
    for (std::size_t i = 0; i < row.input_count; ++i)
      inputs.push_back(row.derivative_reads(k, row.inputs[i]) ? value_of(node.operands[i]) : none);
    for (std::size_t i = 0; i < row.scalar_count; ++i) scalars.push_back(value_of(node.operands[row.input_count + i]));
    return to_.derivative(row, k, gradient, inputs, row.derivative_reads(k, "y") ? y : none, scalars);
  }

  int value_of(int node) const { return values_[static_cast<std::size_t>(node)]; }

  const Formula& formula_;
  const PointwiseGraph& from_;
  FusedGraph made_;
  PointwiseGraph& to_;
  std::vector<bool> depends_;   ///< Whether each node depends on a wanted tensor.
  std::vector<int> values_;     ///< For each node: the node of made_ that has its value.
  std::vector<int> gradients_;  ///< For each node: the node of made_ that has its gradient.
};

}  // namespace

int add_hits(FusedGraph& fused, std::size_t result, DType dtype) {
  PointwiseGraph& graph = fused.graph;
  const int elements = graph.input(dtype), extreme = graph.input(dtype);
  fused.tensors.push_back({TensorOrigin::Kind::elements, result});
  fused.tensors.push_back({TensorOrigin::Kind::extreme, result});
  const int nans =
      graph.apply(rows::logical_and, {graph.apply(rows::isnan, {elements}), graph.apply(rows::isnan, {extreme})});
  return graph.apply(rows::logical_or, {graph.apply(rows::eq, {elements, extreme}), nans});
}

GradientGraph gradient_of(const Formula& formula, std::uint32_t wanted) {
  GradientGraph computed = Gradient(formula, wanted, false).take();
  GradientGraph read = Gradient(formula, wanted, true).take();
  return read.fused.tensors.size() <= computed.fused.tensors.size() ? std::move(read) : std::move(computed);
}

}  // namespace crisol::detail
