#include "graph/specialise.h"

#include <algorithm>
#include <set>

#include "crisol/error.h"
#include "graph/walk.h"
#include "runtime/capture/capture.h"
#include "runtime/dry_run.h"

namespace crisol::graph {

namespace {

class Specialiser {
 public:
  explicit Specialiser(const Graph& graph) : graph_(graph) {
    fixed_.values = graph.values;
    fixed_.inputs = graph.inputs;
    fixed_.outputs = graph.outputs;
  }

  Graph specialise(const Data& inputs, const std::vector<Tensor>& weights, Device device) {
    for (std::size_t i = 0; i < inputs.size(); ++i) note(graph_.inputs[i], inputs[i]);
    for (std::size_t i = 0; i < weights.size(); ++i) add_constant(graph_.weights[i], weights[i]);
    std::vector<std::pair<int, Datum>> constants;
    for (const auto& [value, datum] : graph_.constants) {
      add_constant(value, datum.apart());
      constants.emplace_back(value, datum.apart());
    }
    walk(graph_, inputs, weights, device, std::move(constants),
         [&](const Node& node, const std::function<Data()>& compute) {
           const bool folds = is_known(node);
           Data results = folds ? compute_values(compute) : compute();
           add(node, results, folds);
           return results;
         });
    keep_constants();
    return std::move(fixed_);
  }

 private:
  /// Keeps the dtype and the sizes of a value.
  void note(int value, const Datum& datum) {
    Value& noted = fixed_.values[static_cast<std::size_t>(value)];
    noted = {.name = noted.name, .is_sequence = datum.is_sequence()};
    if (!datum.defined() || datum.is_sequence()) return;
    noted.dtype = datum.dtype();
    noted.shape = sizes_of(datum.shape());
  }

  void add_constant(int value, const Datum& datum) {
    note(value, datum);
    constants_[value] = datum;
  }

  /// Whether the results depend only on weights, constants and sizes.
  bool is_known(const Node& node) const {
    const auto known = [&](int input) { return input == absent || constants_.count(input) > 0; };
    const bool reads_sizes = node.op == "Shape" || node.op == "Size";
    return !is_random(node) && (reads_sizes || std::all_of(node.inputs.begin(), node.inputs.end(), known));
  }

  /// Also in a dry run.
  static Data compute_values(const std::function<Data()>& compute) {
    const runtime::PauseCapture pause;
    return compute();
  }

  void add(const Node& node, const Data& results, bool folds) {
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k] == absent) continue;
      if (folds)
        add_constant(node.outputs[k], results[k]);
      else
        note(node.outputs[k], results[k]);
    }
    if (!folds) fixed_.nodes.push_back(node);
  }

  /// Those that a node or an output needs. Weights are constants here too.
  void keep_constants() {
    std::set<int> used(fixed_.outputs.begin(), fixed_.outputs.end());
    for (const Node& node : fixed_.nodes) used.insert(node.inputs.begin(), node.inputs.end());
    for (auto& [value, datum] : constants_) {
      if (used.count(value) == 0) continue;
      datum.remember();
      fixed_.constants.emplace_back(value, std::move(datum));
    }
  }

  const Graph& graph_;
  Graph fixed_;
  std::map<int, Datum> constants_;
};

}  // namespace

std::optional<Graph> specialise(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights,
                                Device device) {
  const runtime::DryRun dry_run;
  Data sizes;  // Like the inputs, but without values.
  sizes.reserve(inputs.size());
  for (const Datum& input : inputs) sizes.emplace_back(empty(input.shape(), input.dtype(), device));
  try {
    return Specialiser(graph).specialise(sizes, weights, device);
  } catch (const Error&) {
    if (!dry_run.needed_values()) throw;
    return {};
  }
}

}  // namespace crisol::graph
