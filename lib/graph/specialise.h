// Graphs for inputs of fixed shapes.
#pragma once

#include "graph/graph.h"

namespace crisol::graph {

/// The part of the graph that depends on the values of the inputs, for inputs like these. Each value has its dtype and
/// its sizes. Inputs on the host have these numbers in each run. A value that depends only on such inputs, weights,
/// constants and sizes is computed now, and is a constant. An If with such a condition is replaced by its chosen
/// branch. With inputs of these shapes the result computes the same as `graph`. Nothing if a size or a branch depends
/// on the values of other inputs.
///
/// `folded` gets the number of nodes that were computed. Without the step fold_constants these are only the nodes whose
/// results are shapes and numbers on the host.
std::optional<Graph> specialise(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights,
                                Device device, std::size_t* folded = nullptr);

}  // namespace crisol::graph
