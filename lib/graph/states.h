// The tensors that runs of a graph update in place (Graph::states).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace crisol::graph {

/// The inputs of a graph with states.
Data with_states(Data inputs, const std::vector<Tensor>& states);

/// Ends a run: moves the new elements of the states, which are the last outputs, into the states.
void update_states(const std::vector<Tensor>& states, Data& outputs, Device device);

/// Lets nodes that replace slices of a state write into the state, where nobody needs the old elements. The others copy
/// all slices.
void write_states_in_place(Graph& graph);

}  // namespace crisol::graph
