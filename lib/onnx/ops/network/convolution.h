// ONNX's convolution, for other ops that include it.
#pragma once

#include "graph/graph.h"
#include "onnx/ops/call.h"

namespace crisol::onnx {

/// A convolution of the first two or three inputs, with the attributes of Conv. The caller checks the number of inputs.
graph::Run convolution(Call& call);

/// The same for inputs of f32 that the caller makes. The inputs of the node may have other types and places.
graph::Run convolution_of_f32(Call& call);

}  // namespace crisol::onnx
