// Makes graphs run if their nodes have only ops and attributes.
#pragma once

#include "graph/graph.h"

namespace crisol::onnx {

/// Gives each node of a graph the function that runs it. Ops and attributes must have the form of ONNX's newest
/// version. Throws invalid_argument with all ops that the library does not compute.
void add_runs(graph::Graph& graph);

}  // namespace crisol::onnx
