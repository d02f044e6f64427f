#include "graph/spec.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <variant>

#include "base/text.h"
#include "graph/ops/elements.h"
#include "ops/pointwise/pointwise_row.h"

namespace crisol::graph {

namespace {

constexpr std::size_t many = static_cast<std::size_t>(-1);

/// What nodes of an op have.
struct OpSpec {
  std::size_t least, most, outputs;
  std::map<std::string, std::string> attributes;  ///< By name, the letters of the types.
};

std::map<std::string, std::string> attributes_of(const char* text) {
  std::map<std::string, std::string> attributes;
  std::istringstream words(text);
  for (std::string word; words >> word;) attributes[word.substr(0, word.find(':'))] = word.substr(word.find(':') + 1);
  return attributes;
}

const OpSpec* spec_of(Op op) {
  static const std::map<Op, OpSpec> specs{
#define CRISOL_GRAPH_OP(id, least, most, outputs, attributes) \
  {Op::id, {least, most, outputs, attributes_of(attributes)}},
#include "tensor/graph_ops.def"
  };
  const auto found = specs.find(op);
  return found == specs.end() ? nullptr : &found->second;
}

/// The letter of an attribute's type, in the order of the types of Attribute.
char letter_of(const Attribute& attribute) { return "idsIDSr"[attribute.index()]; }

/// How many values a node has, without those that are left out at the end.
std::size_t count_of(const std::vector<int>& values) {
  std::size_t count = values.size();
  while (count > 0 && values[count - 1] == absent) --count;
  return count;
}

class Checker {
 public:
  Checker(const Graph& graph, const char* step) : graph_(graph), step_(step), is_known_(graph.values.size()) {}

  void check() {
    for (const int value : graph_.inputs) add(value, "an input");
    for (const int value : graph_.weights) add(value, "a weight");
    for (const auto& constant : graph_.constants) add(constant.first, "a constant");
    for (const Node& node : graph_.nodes) {
      for (const int value : node.inputs)
        rule(value == absent || knows(value), node, "uses value ", value, ", which no earlier node makes");
      check_form(node);
      for (const int value : node.outputs)
        if (value != absent) add(value, node.name);
    }
    for (const int value : graph_.outputs)
      require(value == absent || knows(value), "graph", "after ", step_, ": nothing makes output ", value);
    require(graph_.states.size() <= std::min(graph_.inputs.size(), graph_.outputs.size()), "graph", "after ", step_,
            ": ", graph_.states.size(), " states");
  }

 private:
  template <class... Parts>
  void rule(bool holds, const Node& node, const Parts&... parts) const {
    require(holds, "graph", "after ", step_, ": node ", node.name, " (", node.op_name(), ") ", parts...);
  }

  bool knows(int value) const {
    return value >= 0 && static_cast<std::size_t>(value) < is_known_.size() &&
           is_known_[static_cast<std::size_t>(value)];
  }

  void add(int value, const std::string& source) {
    require(value >= 0 && static_cast<std::size_t>(value) < is_known_.size() && !knows(value), "graph", "after ", step_,
            ": value ", value, " has a second source: ", source);
    is_known_[static_cast<std::size_t>(value)] = true;
  }

  void check_form(const Node& node) const {
    rule(static_cast<bool>(node.run) != static_cast<bool>(node.control), node, "has no run, or two");
    rule(node.captures <= node.inputs.size(), node, "captures more values than it uses");
    if (node.is_joined) return;
    const ops::PointwiseRow* row = row_of(node);
    rule(row == nullptr || node.inputs.size() == row->input_count, node, "has ", node.inputs.size(), " inputs");
    const OpSpec* spec = spec_of(node.op);
    if (spec == nullptr || row != nullptr) return;
    rule(node.inputs.size() >= spec->least && count_of(node.inputs) <= spec->most, node, "has ", node.inputs.size(),
         " inputs");
    rule(count_of(node.outputs) <= spec->outputs, node, "has ", count_of(node.outputs), " outputs");
    for (const auto& [name, attribute] : node.attributes) {
      const auto letters = spec->attributes.find(name);
      rule(letters != spec->attributes.end() && letters->second.find(letter_of(attribute)) != std::string::npos, node,
           "has an attribute ", name, " of type ", letter_of(attribute));
    }
  }

  const Graph& graph_;
  const char* step_;
  std::vector<bool> is_known_;
};

}  // namespace

void check_graph(const Graph& graph, const char* step) { Checker(graph, step).check(); }

}  // namespace crisol::graph
