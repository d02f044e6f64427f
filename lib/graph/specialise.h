// Graphs for inputs of fixed shapes.
#pragma once

#include "graph/graph.h"

namespace crisol::graph {

/// The part of the graph that depends on the values of the inputs, for inputs like these. Each value of the result has
/// its dtype and sizes. Inputs on the host must have these numbers in each run. A value is computed now, and becomes a
/// constant, if it depends only on inputs on the host, weights, constants and sizes. An If with such a condition is
/// replaced by the chosen branch. For inputs of these shapes, the result computes the same as `graph`. Nothing if a
/// size or a branch depends on the values of other inputs.
///
/// `folded` gets the number of nodes that were computed now. Without the step fold_constants, only nodes whose results
/// are shapes and numbers on the host are computed.
std::optional<Graph> specialise(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights,
                                Device device, std::size_t* folded = nullptr);

}  // namespace crisol::graph
