// Runs of a graph in which the caller runs each node.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace crisol::graph {

/// Gives the results of a node for these inputs. `compute` computes them. It may be called at most once, and may
/// consume the inputs.
using RunNode = std::function<Data(const Node& node, const Data& inputs, const std::function<Data()>& compute)>;

/// The same as run(), but `run_node` runs every node, unless it is null. The run owns the values in `replaced`, so they
/// too are released as soon as no other node needs them.
Data walk(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device,
          std::vector<std::pair<int, Datum>> replaced, const RunNode& run_node = nullptr);

}  // namespace crisol::graph
