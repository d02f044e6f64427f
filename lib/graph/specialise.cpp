#include "graph/specialise.h"

#include <algorithm>
#include <set>

#include "crisol/error.h"
#include "graph/passes/passes.h"
#include "graph/spec.h"
#include "graph/walk.h"
#include "runtime/capture/capture.h"
#include "runtime/dry_run.h"
#include "runtime/memory/stored_block.h"

namespace crisol::graph {

namespace {

/// For each value of a graph, its position among the values of the specialised graph.
using Places = std::vector<int>;

int place_in(const Places& places, int value) {
  return value == absent ? absent : places[static_cast<std::size_t>(value)];
}

class Specialiser {
 public:
  explicit Specialiser(Device device) : device_(device) {}

  Graph specialise(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights) {
    fixed_.names_in_errors = graph.names_in_errors;
    fixed_.states = graph.states;
    Places places = new_places(graph);
    for (std::size_t i = 0; i < inputs.size(); ++i) add_input(place_in(places, graph.inputs[i]), inputs[i]);
    for (std::size_t i = 0; i < weights.size(); ++i) add_constant(place_in(places, graph.weights[i]), weights[i]);
    add_nodes(graph, places, inputs, weights);
    for (const int output : graph.outputs) fixed_.outputs.push_back(place_in(places, output));
    keep_constants();
    return std::move(fixed_);
  }

  /// How many nodes were computed at once instead of being added.
  std::size_t folded() const noexcept { return folded_; }

 private:
  /// Adds the values of a graph to the specialised graph.
  Places new_places(const Graph& graph) {
    Places places(graph.values.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int>(fixed_.values.size() + i);
    fixed_.values.insert(fixed_.values.end(), graph.values.begin(), graph.values.end());
    return places;
  }

  /// Runs the graph, and adds its nodes and constants to the specialised graph.
  Data add_nodes(const Graph& graph, Places& places, const Data& inputs, const std::vector<Tensor>& weights) {
    for (const auto& [value, datum] : graph.constants) add_constant(place_in(places, value), datum);
    return walk(graph, inputs, weights, device_, {},
                [&](const Node& node, const Data& arguments, const std::function<Data()>& compute) {
                  return node.op == Op::if_ && node.control && is_constant(place_in(places, node.inputs[0]))
                             ? add_branch(node, arguments, places)
                             : add_node(node, places, compute);
                });
  }

  /// Adds the branch that is known to run. The values of the branch become values of the surrounding graph.
  Data add_branch(const Node& node, const Data& arguments, Places& places) {
    const Graph& body = node.bodies[arguments[0].number() != 0 ? 0 : 1];
    Places inner = new_places(body);
    const std::size_t first = node.inputs.size() - node.captures;
    for (std::size_t i = 0; i < node.captures; ++i)
      inner[static_cast<std::size_t>(body.inputs[i])] = place_in(places, node.inputs[first + i]);
    const Data captured(arguments.begin() + static_cast<std::ptrdiff_t>(first), arguments.end());
    Data results = add_nodes(body, inner, captured, {});
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      if (node.outputs[k] != absent)
        places[static_cast<std::size_t>(node.outputs[k])] = place_in(inner, body.outputs[k]);
    return results;
  }

  Data add_node(const Node& original, const Places& places, const std::function<Data()>& compute) {
    Node node = original;
    for (int& input : node.inputs) input = place_in(places, input);
    for (int& output : node.outputs) output = place_in(places, output);
    const bool is_fixed = is_known(node);
    Data results = is_fixed && folds_ ? compute_values(compute) : compute();
    const bool folds = is_fixed && (folds_ || std::all_of(results.begin(), results.end(), is_on_host));
    folded_ += folds ? 1 : 0;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k] == absent) continue;
      if (folds)
        add_constant(node.outputs[k], results[k]);
      else
        note(node.outputs[k], results[k]);
    }
    if (!folds) fixed_.nodes.push_back(std::move(node));
    return results;
  }

  /// Stores the dtype and the sizes of a value.
  void note(int value, const Datum& datum) {
    Value& noted = fixed_.values[static_cast<std::size_t>(value)];
    if (checks_graphs && noted.dtype && datum.defined() && !datum.is_sequence())
      require(*noted.dtype == datum.dtype(), "graph", "the value ", noted.name, " is of ", datum.dtype(), ", ",
              *noted.dtype, " expected");
    noted = {.name = noted.name, .is_sequence = datum.is_sequence()};
    if (!datum.defined() || datum.is_sequence()) return;
    noted.dtype = datum.dtype();
    noted.shape = sizes_of(datum.shape());
  }

  /// An input whose numbers are known becomes a constant. Another value, which no node uses, becomes the input.
  void add_input(int value, const Datum& datum) {
    note(value, datum);
    if (!datum.on_host()) {
      fixed_.inputs.push_back(value);
      return;
    }
    constants_[value] = datum;
    fixed_.inputs.push_back(static_cast<int>(fixed_.values.size()));
    fixed_.values.push_back(Value(fixed_.values[static_cast<std::size_t>(value)]));
  }

  void add_constant(int value, const Datum& datum) {
    note(value, datum);
    constants_[value] = datum;
  }

  bool is_constant(int value) const { return constants_.count(value) > 0; }

  /// Whether the node multiplies whole numbers by zeros. Exporters write such a node where a value has no effect.
  bool is_zero(const Node& node) const {
    return node.op == Op::mul && std::any_of(node.inputs.begin(), node.inputs.end(), [&](int input) {
             const auto found = constants_.find(input);
             if (found == constants_.end() || !found->second.on_host()) return false;
             const std::vector<std::int64_t> numbers = found->second.numbers();
             return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n == 0; });
           });
  }

  /// Whether the results depend only on weights, constants and sizes.
  bool is_known(const Node& node) const {
    if (is_zero(node)) return true;
    const auto known = [&](int input) { return input == absent || is_constant(input); };
    const bool reads_sizes = node.op == Op::shape || node.op == Op::size;
    return !is_random(node) && (reads_sizes || std::all_of(node.inputs.begin(), node.inputs.end(), known));
  }

  static bool is_on_host(const Datum& datum) { return !datum.defined() || datum.on_host(); }

  /// Computes the values themselves, although this is a dry run.
  static Data compute_values(const std::function<Data()>& compute) {
    const runtime::PauseCapture pause;
    const runtime::BorrowedBlocks borrowed;
    return compute();
  }

  /// Keeps the constants that a node or an output needs. Weights are constants here too.
  void keep_constants() {
    std::set<int> used(fixed_.outputs.begin(), fixed_.outputs.end());
    for (const Node& node : fixed_.nodes) used.insert(node.inputs.begin(), node.inputs.end());
    const runtime::PauseCapture pause;  // Numbers of i32 and bool are converted before they are read.
    for (auto& [value, datum] : constants_) {
      if (used.count(value) == 0) continue;
      datum.remember();
      fixed_.constants.emplace_back(value, std::move(datum));
    }
  }

  const Device device_;
  const bool folds_ = is_enabled(folding);
  std::size_t folded_ = 0;
  Graph fixed_;
  std::map<int, Datum> constants_;
};

}  // namespace

std::optional<Graph> specialise(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights,
                                Device device, std::size_t* folded) {
  const runtime::DryRun dry_run;
  Data sizes;  // Data like the inputs, but without values.
  sizes.reserve(inputs.size());
  for (const Datum& input : inputs)
    sizes.push_back(input.on_host() ? input : empty(input.shape(), input.dtype(), device));
  try {
    Specialiser specialiser(device);
    Graph fixed = specialiser.specialise(graph, sizes, weights);
    if (folded != nullptr) *folded = specialiser.folded();
    return fixed;
  } catch (const Error&) {
    if (!dry_run.needed_values()) throw;
    return {};
  }
}

}  // namespace crisol::graph
