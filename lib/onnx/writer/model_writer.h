// Writes graphs as ONNX files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace crisol::onnx {

/// Writes a graph whose ops and attributes have ONNX's names. `weights` are the tensors for Graph::weights. If the
/// elements of weights and constants take more than `max_bytes`, they are written to a file next to the model, whose
/// name ends in ".data". Throws invalid_argument if two values have the same name, and io if a file cannot be written.
void write_model(const std::string& path, const graph::Graph& graph, const std::vector<Tensor>& weights,
                 std::uint64_t max_bytes);

}  // namespace crisol::onnx
