// Support for halves in ops that the library computes only in f32.
#pragma once

#include "onnx/ops/call.h"

namespace crisol::onnx {

/// Throws for inputs that are no floating-point numbers. Converts inputs of f16 and bf16 to f32, runs `run`, and
/// converts the first output to the type of the first input.
graph::Run in_f32(Call& call, graph::Run run);

/// x in f32, or in f64 if x is f64.
Tensor widened(const Tensor& x);

}  // namespace crisol::onnx
