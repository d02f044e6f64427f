#include "graph/specialise.h"

#include <algorithm>

namespace crisol::graph {

namespace {

class Specialiser {
 public:
  Specialiser(const Graph& graph, Device device)
      : graph_(graph), device_(device), data_(graph.values.size()), is_constant_(graph.values.size()) {
    fixed_.values = graph.values;
    fixed_.inputs = graph.inputs;
    fixed_.outputs = graph.outputs;
  }

  Graph specialise(const Data& inputs, const std::vector<Tensor>& weights) {
    for (std::size_t i = 0; i < inputs.size(); ++i) set(graph_.inputs[i], inputs[i], false);
    for (std::size_t i = 0; i < weights.size(); ++i) set(graph_.weights[i], weights[i], true);
    for (const auto& [value, datum] : graph_.constants) set(value, datum, true);
    const std::vector<std::size_t> last = last_uses(graph_);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      run(graph_.nodes[i]);
      for (const int input : graph_.nodes[i].inputs)
        if (input != absent && !is_constant(input) && last[at(input)] == i) data_[at(input)] = Datum();
    }
    keep_constants();
    return std::move(fixed_);
  }

 private:
  static std::size_t at(int value) { return static_cast<std::size_t>(value); }
  bool is_constant(int value) const { return is_constant_[at(value)]; }

  void set(int value, Datum datum, bool constant) {
    fixed_.values[at(value)] = value_of(graph_.values[at(value)].name, datum);
    is_constant_[at(value)] = constant;
    data_[at(value)] = std::move(datum);
  }

  static Value value_of(const std::string& name, const Datum& datum) {
    Value value{.name = name};
    value.is_sequence = datum.is_sequence();
    if (!datum.defined() || datum.is_sequence()) return value;
    value.dtype = datum.dtype();
    auto& sizes = value.shape.emplace();
    for (const std::int64_t size : datum.shape()) sizes.push_back({size, ""});
    return value;
  }

  void run(const Node& node) {
    Data arguments;
    for (const int input : node.inputs) arguments.push_back(input == absent ? Datum() : data_[at(input)]);
    Data results = run_node(node, std::move(arguments), device_);
    const bool reads_sizes = node.op == "Shape" || node.op == "Size";
    const bool folds = !node.run.is_random &&
                       (reads_sizes || std::all_of(node.inputs.begin(), node.inputs.end(),
                                                   [&](int input) { return input == absent || is_constant(input); }));
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      if (node.outputs[k] != absent) set(node.outputs[k], std::move(results[k]), folds);
    if (!folds) fixed_.nodes.push_back(node);
  }

  /// Weights are constants here too.
  void keep_constants() {
    std::vector<bool> used(data_.size());
    for (const Node& node : fixed_.nodes)
      for (const int input : node.inputs)
        if (input != absent) used[at(input)] = true;
    for (const int output : fixed_.outputs)
      if (output != absent) used[at(output)] = true;
    for (std::size_t value = 0; value < data_.size(); ++value)
      if (used[value] && is_constant_[value]) {
        data_[value].remember();
        fixed_.constants.emplace_back(static_cast<int>(value), std::move(data_[value]));
      }
  }

  const Graph& graph_;
  const Device device_;
  Graph fixed_;
  Data data_;
  std::vector<bool> is_constant_;
};

}  // namespace

Graph specialise(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device) {
  return Specialiser(graph, device).specialise(inputs, weights);
}

}  // namespace crisol::graph
