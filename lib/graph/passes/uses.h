// Who makes and who uses each value of a graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "graph/graph.h"

namespace crisol::graph {

class Uses {
 public:
  explicit Uses(const Graph& graph);

  /// The node that makes the value; null for inputs and constants.
  const Node* maker(int value) const { return makers_[static_cast<std::size_t>(value)]; }
  /// Its place in Graph::nodes. There is one.
  std::size_t place(int value) const { return static_cast<std::size_t>(maker(value) - first_); }
  /// The constant, or null.
  const Datum* constant(int value) const { return constants_[static_cast<std::size_t>(value)]; }
  /// The places of the nodes that use the value, in order and each once.
  const std::vector<std::size_t>& users(int value) const { return users_[static_cast<std::size_t>(value)]; }
  bool is_output(int value) const { return is_output_[static_cast<std::size_t>(value)]; }
  /// Whether one node uses the value, and nothing else.
  bool has_one_user(int value) const { return users(value).size() == 1 && !is_output(value); }

 private:
  const Node* first_;
  std::vector<const Node*> makers_;
  std::vector<const Datum*> constants_;
  std::vector<std::vector<std::size_t>> users_;
  std::vector<bool> is_output_;
};

/// Removes the nodes whose place is marked.
void remove_marked(Graph& graph, const std::vector<bool>& marked);

/// The sizes of a value of a specialised graph; nothing for an undefined value.
std::optional<Shape> shape_of(const Graph& graph, int value);

/// Adds a constant, and gives its place in Graph::values.
int add_constant(Graph& graph, std::string name, const Tensor& tensor);

}  // namespace crisol::graph
