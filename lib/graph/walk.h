// Runs of a graph in which the caller takes part.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace crisol::graph {

/// Gives the results of a node for these inputs. `compute` computes them, once at most, and may take the inputs.
using RunNode = std::function<Data(const Node& node, const Data& inputs, const std::function<Data()>& compute)>;

/// The same as run(). Every node runs by `run_node`, or as usual if that is null. This run alone owns the values in
/// `replaced`, so that they too are given back as soon as no further node needs them.
Data walk(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device,
          std::vector<std::pair<int, Datum>> replaced, const RunNode& run_node = nullptr);

}  // namespace crisol::graph
