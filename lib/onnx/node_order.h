// What the nodes of a file read, and the order in which they can run.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "onnx/reader/model.h"

namespace crisol::onnx {

/// Calls `use` with each name that the node reads, and with each name that the graphs in the node read or give.
void visit_uses(const file::Node& node, const std::function<void(std::string_view)>& use);

/// Whether an op only moves or picks elements of its first input.
bool moves_elements(const file::Node& node);

/// The positions of the nodes in an order in which they can run: after the nodes whose outputs they or their bodies
/// use. ONNX demands this order, but some programs write another order. If nodes are in order already, nothing changes.
/// Nodes that need each other are not reordered either.
std::vector<std::size_t> order_of(const std::vector<file::Node>& nodes);

}  // namespace crisol::onnx
