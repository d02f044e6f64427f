#include <algorithm>
#include <map>

#include "base/byte_dtype.h"
#include "crisol/grad_mode.h"
#include "graph/passes/formulas.h"
#include "graph/passes/passes.h"
#include "graph/passes/uses.h"
#include "ops/quantized/byte_table.h"

namespace crisol::graph {

namespace {

/// Replaces formulas of the bytes of one value by tables. The value is the source of the formula's result.
class Tabulator {
 public:
  Tabulator(Graph& graph, Device device) : graph_(graph), uses_(graph), device_(device), facts_(graph.values.size()) {}

  void run() {
    for (const Node& node : graph_.nodes)
      if (has_formula(graph_, node)) of(node.outputs[0]).source = source_of(node);
    for (const int output : graph_.outputs)
      if (output != absent) of(output).others_read = true;
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) visit(i);
    for (const auto& [place, table] : tables_) replace(graph_.nodes[place], table);
  }

 private:
  struct Facts {
    int source = absent;
    bool formulas_read = false;  ///< Whether a formula that stays reads the value.
    bool others_read = false;    ///< Whether another node reads it, or the value is an output.
  };

  Facts& of(int value) { return facts_[static_cast<std::size_t>(value)]; }

  bool is_bytes(int value) const {
    const std::optional<DType> dtype = graph_.values[static_cast<std::size_t>(value)].dtype;
    return dtype && is_of_bytes(*dtype);
  }

  bool is_number(int value) const {
    const Datum* datum = value == absent ? nullptr : uses_.constant(value);
    return value == absent || (datum != nullptr && datum->defined() && datum->shape().numel() == 1);
  }

  /// The source of the node's inputs, or the input itself. All other inputs must be numbers.
  int source_of(const Node& node) {
    const std::optional<Shape> shape = shape_of(graph_, node.outputs[0]);
    int found = absent;
    for (const int input : node.inputs) {
      if (is_number(input)) continue;
      const int own = is_bytes(input) ? input : absent, from = of(input).source != absent ? of(input).source : own;
      if (from == absent || (found != absent && from != found) || shape_of(graph_, input) != shape) return absent;
      found = from;
    }
    return found;
  }

  /// Decides about a node whose users have been visited.
  void visit(std::size_t place) {
    const Node& node = graph_.nodes[place];
    const bool is_formula = has_formula(graph_, node);
    const Facts facts = is_formula ? of(node.outputs[0]) : Facts();
    if (facts.source != absent) {
      if (!facts.formulas_read && !facts.others_read) return;  // Only tables read it.
      Steps steps;
      collect(node.outputs[0], facts.source, steps);
      if (serves(node, steps)) {
        tables_.emplace(place, table_of(facts.source, node.outputs[0], steps));
        return;
      }
    }
    for (const int input : node.inputs)
      if (input != absent) (is_formula ? of(input).formulas_read : of(input).others_read) = true;
  }

  using Steps = std::map<std::size_t, const Node*>;  ///< By the position, in the order of computation.

  /// The nodes from the source to a value.
  void collect(int value, int source, Steps& steps) const {
    if (value == source || is_number(value) || !steps.emplace(uses_.place(value), uses_.maker(value)).second) return;
    for (const int input : uses_.maker(value)->inputs) collect(input, source, steps);
  }

  /// Whether a table takes less time than the formula. A kernel of several inputs computes short formulas of one input
  /// as well. A table of larger elements pays if there are bytes on the way.
  bool serves(const Node& node, const Steps& steps) {
    const int value = node.outputs[0];
    if (is_bytes(value)) return steps.size() > 1 || node.inputs.size() > 2;
    return of(value).others_read &&
           std::any_of(steps.begin(), steps.end(), [&](const auto& step) { return is_bytes(step.second->outputs[0]); });
  }

  Tensor table_of(int source, int value, const Steps& steps) const {
    const DType dtype = *graph_.values[static_cast<std::size_t>(source)].dtype;
    std::map<int, Datum> made{{source, ops::all_bytes(dtype, device_)}};
    for (const auto& [place, node] : steps) {
      Data arguments;
      for (const int input : node->inputs) {
        const auto found = made.find(input);
        arguments.push_back(found != made.end() ? found->second
                            : input == absent   ? Datum()
                                                : uses_.constant(input)->tensor(device_).reshape(Shape()));
      }
      made[node->outputs[0]] = node->run(arguments, device_)[0];
    }
    return made[value].tensor(device_);
  }

  void replace(Node& node, const Tensor& table) {
    node.op = Op::fused;
    node.is_joined = true;
    node.inputs = {add_constant(graph_, node.name + "/table", table), of(node.outputs[0]).source};
    node.run = [](const Data& in, Device device) {
      return Data{ops::look_up_bytes(in[0].tensor(device), in[1].tensor(device))};
    };
  }

  Graph& graph_;
  const Uses uses_;
  const Device device_;
  std::vector<Facts> facts_;              ///< By value.
  std::map<std::size_t, Tensor> tables_;  ///< By the position of the node.
};

}  // namespace

std::size_t tabulate_bytes(Graph& graph, Device device) {
  return nodes_saved_by([&] { Tabulator(graph, device).run(); }, graph, device);
}

}  // namespace crisol::graph
