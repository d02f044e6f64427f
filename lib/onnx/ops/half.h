// Ops that the library computes in f32 alone, for models of f16.
#pragma once

#include "onnx/ops/call.h"

namespace crisol::onnx {

/// Refuses inputs that are no floating-point numbers. Inputs of f16 are converted to f32. Then the first output is
/// converted to the type of the first input.
graph::Run in_f32(Call& call, graph::Run run);

}  // namespace crisol::onnx
