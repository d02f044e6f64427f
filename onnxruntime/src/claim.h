// Which nodes of a graph the provider computes.
#pragma once

#include <vector>

#include "api.h"
#include "options.h"

namespace crisol::ort {

/// The nodes that the provider claims, in sets. Each set becomes one node of ONNX Runtime, and no path between two of
/// its nodes leads through another node. Logs at verbose level why a node is left.
std::vector<std::vector<const OrtNode*>> claimed_sets(const OrtGraph* graph, const Options& options,
                                                      const Logger& logger);

}  // namespace crisol::ort
