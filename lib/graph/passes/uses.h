// The node that makes each value of a graph, and the nodes that use it. A pass may ask for the maker and the constant
// of a value that it added later: there is none here. Its users and is_output() must not be asked for.
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

  /// The node that makes the value; null for inputs and constants.
  const Node* maker(int value) const { return knows(value) ? makers_[static_cast<std::size_t>(value)] : nullptr; }
  /// The same if it is a node of that op, else null. The value may be absent.
  const Node* maker(int value, std::string_view op) const;
  /// Its place in Graph::nodes. There is one.
  std::size_t place(int value) const { return static_cast<std::size_t>(maker(value) - graph_.nodes.data()); }
  /// The constant, or null.
  const Datum* constant(int value) const {
    const std::size_t place = constant_place(value);
    return place == none ? nullptr : &graph_.constants[place].second;
  }
  /// The number of a constant with one element. The value may be absent.
  std::optional<double> number(int value) const;
  /// The number and the value that a node with two inputs has, such as a product of both.
  std::optional<std::pair<double, int>> number_and_value(const Node& node) const;
  /// Its place in Graph::constants, or `none`.
  std::size_t constant_place(int value) const {
    return knows(value) ? constants_[static_cast<std::size_t>(value)] : none;
  }
  /// The places of the nodes that use the value, in order and each once.
  const std::vector<std::size_t>& users(int value) const { return users_[static_cast<std::size_t>(value)]; }
  bool is_output(int value) const { return is_output_[static_cast<std::size_t>(value)]; }
  /// Whether one node uses the value, and nothing else.
  bool has_one_user(int value) const { return users(value).size() == 1 && !is_output(value); }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

 private:
  bool knows(int value) const { return static_cast<std::size_t>(value) < makers_.size(); }

  const Graph& graph_;
  std::vector<const Node*> makers_;
  std::vector<std::size_t> constants_;  ///< Places in Graph::constants, which may grow.
  std::vector<std::vector<std::size_t>> users_;
  std::vector<bool> is_output_;
};

/// Values that stand for others.
class Aliases {
 public:
  explicit Aliases(const Graph& graph) : alias_(graph.values.size()) {
    for (std::size_t i = 0; i < alias_.size(); ++i) alias_[i] = static_cast<int>(i);
  }

  /// `from` is `to` from now on.
  void add(int from, int to) { alias_[static_cast<std::size_t>(from)] = of(to); }
  /// Replaces the node's inputs by the values that they stand for.
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

/// Removes the nodes whose place is marked.
void remove_marked(Graph& graph, const std::vector<bool>& marked);

/// The sizes of a value of a specialised graph; nothing for an undefined value.
std::optional<Shape> shape_of(const Graph& graph, int value);

/// Empties a constant whose only user now gets another constant. So two copies of all weights never exist at once.
void give_back_constant(Graph& graph, const Uses& uses, int value);

/// Adds a constant, and gives its place in Graph::values.
int add_constant(Graph& graph, std::string name, const Tensor& tensor);

}  // namespace crisol::graph
