// What holds for every graph that passes see.
#pragma once

#include "graph/graph.h"

namespace crisol::graph {

/// Whether the graph is checked between passes. Tests do this, and builds without NDEBUG.
#ifdef NDEBUG
inline bool checks_graphs = false;
#else
inline bool checks_graphs = true;
#endif

/// Throws Error if the graph breaks a rule: each value has one source, which comes before its users, and each node has
/// the inputs, outputs and attributes that lib/tensor/graph_ops.def lists for its op. `step` made the graph.
void check_graph(const Graph& graph, const char* step);

}  // namespace crisol::graph
