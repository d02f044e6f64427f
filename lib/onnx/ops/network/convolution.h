// The convolution of ONNX, for other ops that compute it too.
#pragma once

#include "graph/graph.h"
#include "onnx/ops/call.h"

namespace crisol::onnx {

/// A convolution of the first two or three inputs, by the attributes of Conv. The caller checks the number of inputs.
graph::Run convolution(Call& call);

}  // namespace crisol::onnx
