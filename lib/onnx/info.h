// What users see of a decoded model.
#pragma once

#include <utility>
#include <vector>

#include "crisol/onnx.h"
#include "onnx/reader/model.h"

namespace crisol::onnx {

/// The inputs without those that are initializers too, and the outputs.
std::pair<std::vector<ValueInfo>, std::vector<ValueInfo>> values_of(const file::Graph& graph);

}  // namespace crisol::onnx
