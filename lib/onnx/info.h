// The description of a decoded model for users.
#pragma once

#include <utility>
#include <vector>

#include "crisol/onnx.h"
#include "onnx/reader/model.h"

namespace crisol::onnx {

/// The inputs that are no initializers, and the outputs.
std::pair<std::vector<ValueInfo>, std::vector<ValueInfo>> values_of(const file::Graph& graph);

}  // namespace crisol::onnx
