#include "graph/passes/uses.h"

#include "crisol/dtype_table.h"

namespace crisol::graph {

Uses::Uses(const Graph& graph)
    : graph_(graph),
      makers_(graph.values.size()),
      constants_(graph.values.size(), none),
      users_(graph.values.size()),
      is_output_(graph.values.size()) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const int output : graph.nodes[i].outputs)
      if (output != absent) makers_[static_cast<std::size_t>(output)] = &graph.nodes[i];
    for (const int input : graph.nodes[i].inputs) {
      if (input == absent) continue;
      std::vector<std::size_t>& users = users_[static_cast<std::size_t>(input)];
      if (users.empty() || users.back() != i) users.push_back(i);
    }
  }
  for (std::size_t i = 0; i < graph.constants.size(); ++i)
    constants_[static_cast<std::size_t>(graph.constants[i].first)] = i;
  for (const int output : graph.outputs)
    if (output != absent) is_output_[static_cast<std::size_t>(output)] = true;
}

const Node* Uses::maker(int value, Op op) const {
  const Node* node = value == absent ? nullptr : maker(value);
  return node != nullptr && node->op == op ? node : nullptr;
}

std::optional<double> Uses::number(int value) const {
  const Datum* datum = value == absent ? nullptr : constant(value);
  if (datum == nullptr || !datum->defined() || datum->shape().numel() != 1) return {};
  return datum->number();
}

std::optional<std::pair<double, int>> Uses::number_and_value(const Node& node) const {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (const std::optional<double> n = number(node.inputs[i])) return std::pair{*n, node.inputs[1 - i]};
  return {};
}

void remove_marked(Graph& graph, const std::vector<bool>& marked) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (marked[i]) continue;
    if (kept != i) graph.nodes[kept] = std::move(graph.nodes[i]);
    ++kept;
  }
  graph.nodes.resize(kept);
}

std::optional<Shape> shape_of(const Graph& graph, int value) {
  const auto& sizes = graph.values[static_cast<std::size_t>(value)].shape;
  if (!sizes) return {};
  Shape shape;
  for (const SymbolicSize& s : *sizes) shape.push_back(s.size.value_or(-1));
  return shape;
}

bool is_of_floats(const Graph& graph, int value) {
  const std::optional<DType>& dtype = graph.values[static_cast<std::size_t>(value)].dtype;
  return dtype && value_type(*dtype) == DType::f32;
}

void give_back_constant(Graph& graph, const Uses& uses, int value) {
  if (uses.has_one_user(value)) graph.constants[uses.constant_place(value)].second = Datum();
}

int add_constant(Graph& graph, std::string name, const Tensor& tensor) {
  graph.values.push_back({.name = std::move(name), .dtype = tensor.dtype(), .shape = sizes_of(tensor.shape())});
  const int place = static_cast<int>(graph.values.size()) - 1;
  graph.constants.emplace_back(place, tensor);
  return place;
}

}  // namespace crisol::graph
