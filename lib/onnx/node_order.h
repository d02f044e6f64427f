// The order in which the nodes of a graph can run.
#pragma once

#include <cstddef>
#include <vector>

#include "onnx/reader/model.h"

namespace crisol::onnx {

/// The positions of the nodes, each after the nodes whose outputs it or its bodies use. ONNX demands this order of a
/// file, but some programs write another. Nodes in order stay as they are, and so do nodes that need each other.
std::vector<std::size_t> order_of(const std::vector<file::Node>& nodes);

}  // namespace crisol::onnx
