#include <map>
#include <numeric>

#include "crisol/grad_mode.h"
#include "graph/passes/attributes.h"
#include "graph/passes/formulas.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

namespace {

/// Axis i of the result is axis p[i] of the input.
using Permutation = std::vector<std::int64_t>;

Permutation permutation_of(const Node& transpose, int rank) {
  if (const Permutation given = integers_of(transpose, "axes"); !given.empty()) return given;
  Permutation p(static_cast<std::size_t>(rank));
  std::iota(p.rbegin(), p.rend(), 0);
  return p;
}

Shape permuted(const Shape& shape, const Permutation& p) {
  Shape result;
  for (const std::int64_t axis : p) result.push_back(shape[static_cast<int>(axis)]);
  return result;
}

Permutation inverse(const Permutation& p) {
  Permutation result(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) result[static_cast<std::size_t>(p[i])] = static_cast<std::int64_t>(i);
  return result;
}

class Mover {
 public:
  Mover(Graph& graph, Device device) : graph_(graph), device_(device), uses_(graph), aliases_(graph) {}

  std::size_t move() {
    for (Node& node : graph_.nodes) {
      aliases_.apply(node);
      if (node.op == Op::permute)
        merge(node);
      else if (!move_behind(node))
        nodes_.push_back(std::move(node));
    }
    graph_.nodes = std::move(nodes_);
    aliases_.apply(graph_);
    return changed_;
  }

 private:
  struct Transposed {
    int source;
    Permutation permutation;
  };

  Node transpose(const std::string& name, int x, const Permutation& p, int y) {
    of_[y] = {x, p};
    Node node;
    node.name = name;
    node.op = Op::permute;
    node.attributes = {{"axes", p}};
    node.inputs = {x};
    node.outputs = {y};
    node.run = [p](const Data& in, Device device) { return Data{in[0].tensor(device).permute(Shape(p))}; };
    return node;
  }

  /// Merges a transpose of a transpose into one transpose, or none.
  void merge(const Node& node) {
    const int rank = shape_of(graph_, node.outputs[0])->rank();
    Permutation p = permutation_of(node, rank);
    int x = node.inputs[0];
    if (const auto before = of_.find(x); before != of_.end()) {
      for (std::int64_t& axis : p) axis = before->second.permutation[static_cast<std::size_t>(axis)];
      x = before->second.source;
      ++changed_;
    }
    Permutation none(p.size());
    std::iota(none.begin(), none.end(), 0);
    if (p == none)
      aliases_.add(node.outputs[0], x);
    else
      nodes_.push_back(transpose(node.name, x, p, node.outputs[0]));
  }

  /// The permutation that all inputs have, apart from constants. Empty if they do not have the same.
  Permutation common_permutation(const Node& node) const {
    Permutation common;
    if (!is_of_elements(graph_, node)) return {};
    const std::optional<Shape> result = shape_of(graph_, node.outputs[0]);
    for (const int input : node.inputs) {
      if (input == absent || uses_.constant(input) != nullptr) continue;
      const auto transposed = of_.find(input);
      if (transposed == of_.end() || (!common.empty() && transposed->second.permutation != common)) return {};
      common = transposed->second.permutation;
    }
    return result && result->rank() == static_cast<int>(common.size()) ? common : Permutation();
  }

  /// If all inputs are transposed in the same way, computes the elements first and transposes the result.
  bool move_behind(Node& node) {
    const Permutation p = common_permutation(node);
    if (p.empty()) return false;
    ++changed_;
    for (int& input : node.inputs) {
      if (input == absent) continue;
      const auto transposed = of_.find(input);
      input = transposed != of_.end() ? transposed->second.source : permuted_constant(input, p);
    }
    const int y = node.outputs[0];
    Value before = graph_.values[static_cast<std::size_t>(y)];
    before.shape = sizes_of(permuted(*shape_of(graph_, y), inverse(p)));
    graph_.values.push_back(std::move(before));
    node.outputs[0] = static_cast<int>(graph_.values.size()) - 1;
    node.attributes.clear();
    node.run = run_of(node.run.formula);
    const std::string name = node.name;
    nodes_.push_back(std::move(node));
    nodes_.push_back(transpose(name, nodes_.back().outputs[0], p, y));
    return true;
  }

  int permuted_constant(int value, const Permutation& p) {
    const Datum datum = *uses_.constant(value);
    if (!datum.defined() || datum.shape().numel() == 1) return value;
    Shape full = Shape::filled(static_cast<int>(p.size()), 1);
    for (int i = 0; i < datum.shape().rank(); ++i) full[full.rank() - datum.shape().rank() + i] = datum.shape()[i];
    const Permutation back = inverse(p);
    return add_constant(graph_, graph_.values[static_cast<std::size_t>(value)].name + "/transposed",
                        datum.tensor(device_).reshape(full).permute(Shape(back)));
  }

  Graph& graph_;
  const Device device_;
  const Uses uses_;
  Aliases aliases_;
  std::vector<Node> nodes_;
  std::map<int, Transposed> of_;
  std::size_t changed_ = 0;
};

}  // namespace

std::size_t move_transposes(Graph& graph, Device device) {
  const std::size_t changed = Mover(graph, device).move();
  // Removes transposes that were moved away. Otherwise they would still count as users of values.
  remove_dead_nodes(graph, device);
  return changed;
}

}  // namespace crisol::graph
