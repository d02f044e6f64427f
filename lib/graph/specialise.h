// Graphs for inputs of fixed shapes.
#pragma once

#include "graph/graph.h"

namespace crisol::graph {

/// Runs a graph, and gives the graph of what depends on the values of its inputs. Each value has the dtype and the
/// sizes of this run. What depends only on weights, constants and sizes is a constant. A run of the result with other
/// inputs of the same shapes gives the same as a run of `graph`, if no size and no branch depends on the values of
/// inputs.
Graph specialise(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device);
/// The same without computing what depends on the values of inputs. Nothing if a size or a branch depends on them.
std::optional<Graph> specialise_by_sizes(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights,
                                         Device device);

}  // namespace crisol::graph
