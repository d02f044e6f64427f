// ONNX's names of the ops of graphs.
#pragma once

#include <string_view>

#include "graph/graph.h"

namespace crisol::onnx {

/// The op that ONNX gives this name; `other` if graphs have no such op.
GraphOp op_of_name(std::string_view name);
/// ONNX's name of an op. An op that ONNX does not have keeps its own name. The name lives as long as the process.
std::string_view onnx_name(GraphOp op);
/// ONNX's name of the node's op, as files and users see it.
std::string_view onnx_name(const graph::Node& node);

}  // namespace crisol::onnx
