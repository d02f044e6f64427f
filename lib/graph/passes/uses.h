// The node that makes each value of a graph, and the nodes that use the value. A pass may ask for the maker and the
// constant of a value that it added later: there is none here. It must not ask for the users of such a value, nor
// whether it is an output.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace crisol::graph {

class Uses {
 public:
  explicit Uses(const Graph& graph);

  /// The node that makes the value. Null for inputs and constants.
  const Node* maker(int value) const { return knows(value) ? makers_[static_cast<std::size_t>(value)] : nullptr; }
  /// The same if it is a node of op `op`. Otherwise null. The value may be absent.
  const Node* maker(int value, Op op) const;
  /// The maker's position in Graph::nodes. The value must have a maker.
  std::size_t place(int value) const { return static_cast<std::size_t>(maker(value) - graph_.nodes.data()); }
  /// The value as a constant, or null if it is no constant.
  const Datum* constant(int value) const {
    const std::size_t place = constant_place(value);
    return place == none ? nullptr : &graph_.constants[place].second;
  }
  /// The number of a constant with one element. The value may be absent.
  std::optional<double> number(int value) const;
  /// If one of the node's two inputs is a known number: this number, and the other input. An example is the product of
  /// both.
  std::optional<std::pair<double, int>> number_and_value(const Node& node) const;
  /// The constant's position in Graph::constants, or `none`.
  std::size_t constant_place(int value) const {
    return knows(value) ? constants_[static_cast<std::size_t>(value)] : none;
  }
  /// The positions of the nodes that use the value, in ascending order and without repeats.
  const std::vector<std::size_t>& users(int value) const { return users_[static_cast<std::size_t>(value)]; }
  bool is_output(int value) const { return is_output_[static_cast<std::size_t>(value)]; }
  /// Whether exactly one node uses the value, and the value is no output.
  bool has_one_user(int value) const { return users(value).size() == 1 && !is_output(value); }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

 private:
  bool knows(int value) const { return static_cast<std::size_t>(value) < makers_.size(); }

  const Graph& graph_;
  std::vector<const Node*> makers_;
  std::vector<std::size_t> constants_;  ///< Positions in Graph::constants, not pointers, because it may grow.
  std::vector<std::vector<std::size_t>> users_;
  std::vector<bool> is_output_;
};

/// Values that are replaced by other values.
class Aliases {
 public:
  explicit Aliases(const Graph& graph) : alias_(graph.values.size()) {
    for (std::size_t i = 0; i < alias_.size(); ++i) alias_[i] = static_cast<int>(i);
  }

  /// From now on, `to` replaces `from`.
  void add(int from, int to) { alias_[static_cast<std::size_t>(from)] = of(to); }
  /// Replaces the node's inputs that have a replacement.
  void apply(Node& node) const {
    for (int& input : node.inputs) input = of(input);
  }
  /// The same for the outputs of the graph.
  void apply(Graph& graph) const {
    for (int& output : graph.outputs) output = of(output);
  }

 private:
  int of(int value) const {
    return value == absent || value >= static_cast<int>(alias_.size()) ? value
                                                                       : alias_[static_cast<std::size_t>(value)];
  }

  std::vector<int> alias_;
};

/// Removes the marked nodes.
void remove_marked(Graph& graph, const std::vector<bool>& marked);

/// The sizes of a value of a specialised graph. Nothing for an undefined value.
std::optional<Shape> shape_of(const Graph& graph, int value);

/// Whether kernels compute the value's elements in f32: it is f32 or a half type.
bool is_of_floats(const Graph& graph, int value);

/// Empties a constant, because its only user now gets another constant. So memory never holds two copies of all
/// weights.
void give_back_constant(Graph& graph, const Uses& uses, int value);

/// Adds a constant, and returns its position in Graph::values.
int add_constant(Graph& graph, std::string name, const Tensor& tensor);

}  // namespace crisol::graph
