// The order in which the nodes of a graph can run.
#pragma once

#include <cstddef>
#include <vector>

#include "onnx/reader/model.h"

namespace crisol::onnx {

/// The positions of the nodes in an order in which they can run: after the nodes whose outputs they or their bodies
/// use. ONNX demands this order, but some programs write another order. If nodes are in order already, nothing changes.
/// Nodes that need each other are not reordered either.
std::vector<std::size_t> order_of(const std::vector<file::Node>& nodes);

}  // namespace crisol::onnx
