// The factors by which pixels are repeated.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "graph/graph.h"
#include "graph/passes/uses.h"

namespace crisol::graph {

/// How often a Resize of images (N, C, H, W) repeats each row and each column. Nothing if it does not repeat all pixels
/// equally often. Sizes and factors must be constants.
std::optional<std::array<std::int64_t, 2>> repeats_of(const Graph& graph, const Uses& uses, const Node& node,
                                                      Device device);

}  // namespace crisol::graph
