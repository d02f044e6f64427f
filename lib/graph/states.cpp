#include "graph/states.h"

#include <algorithm>

#include "crisol/ops/index.h"
#include "graph/ops/data.h"
#include "graph/ops/runs.h"
#include "graph/passes/attributes.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

Data with_states(Data inputs, const std::vector<Tensor>& states) {
  for (const Tensor& state : states) inputs.emplace_back(state.detach());
  return inputs;
}

void update_states(const std::vector<Tensor>& states, Data& outputs, Device device) {
  const std::size_t first = outputs.size() - states.size();
  const auto is_state = [](const Tensor& x, const Tensor& state) {
    return x.shares_storage_with(state) && x.offset() == state.offset() && x.strides() == state.strides();
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || outputs[i].on_host() || outputs[i].is_sequence()) continue;
    const Tensor x = outputs[i].tensor(device);
    // What follows must not change the elements of an output that is a state or a view of one.
    const bool shares = std::any_of(states.begin(), states.end(), [&](const Tensor& state) {
      return x.shares_storage_with(state) && !(i >= first && is_state(x, states[i - first]));
    });
    if (shares) outputs[i] = x.clone();
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Tensor x = outputs[first + i].tensor(device);
    if (!is_state(x, states[i])) Tensor(states[i]).copy_from(x);
  }
  outputs.resize(first);
}

namespace {

Run write(const Node& node) {
  return run_of_all([axis = static_cast<int>(integer_of(node, "axis", 0)),
                     adds = text_of(node, "reduction", "none") == "add"](const std::vector<Tensor>& in) {
    ops::index_write(in[0], axis, counted(in[1], in[0].size(axis)), in[2], adds);
    return in[0];
  });
}

}  // namespace

void write_states_in_place(Graph& graph) {
  if (graph.states.empty()) return;
  const Uses uses(graph);
  for (std::size_t i = 0; i < graph.states.size(); ++i) {
    const int state = graph.inputs.end()[-static_cast<std::ptrdiff_t>(graph.states.size() - i)];
    int value = graph.outputs.end()[-static_cast<std::ptrdiff_t>(graph.states.size() - i)];
    std::vector<std::size_t> places;
    while (const Node* node = uses.maker(value, Op::index_copy)) {
      const std::string how = text_of(*node, "reduction", "none");
      value = node->inputs[0];
      if ((how != "none" && how != "add") || !uses.has_one_user(value)) break;
      places.push_back(uses.place(node->outputs[0]));
    }
    if (value != state) continue;
    for (const std::size_t place : places) graph.nodes[place].run = write(graph.nodes[place]);
  }
}

}  // namespace crisol::graph
