// Stored models: ONNX Runtime writes a model in which an EPContext node stands for each set of nodes that the provider
// computes. The node holds or names an ONNX file with these nodes and their constants.
#pragma once

#include "api.h"
#include "crisol/onnx_parts.h"
#include "options.h"

namespace crisol::ort {

/// The op of the nodes.
constexpr const char* context_op = "EPContext";

/// Whether this provider made a node as an EPContext node.
bool is_context(const onnx::NodeParts& node);

/// Makes the node for a set of nodes, which ONNX Runtime will own. `fused` is the node that ONNX Runtime runs in their
/// place. Writes a file if the node does not hold its data.
OrtNode* make_context(const onnx::ModelParts& parts, const OrtGraph* graph, const OrtNode* fused,
                      const ContextOptions& options);

/// Loads the model of an EPContext node in a graph. Its inputs and outputs have the order of the node's.
onnx::Model load_context(const onnx::NodeParts& node, const OrtGraph* graph, const Options& options);

}  // namespace crisol::ort
