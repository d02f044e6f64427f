// Groups of nodes that compute with quantised numbers: DequantizeLinear before an op, and QuantizeLinear after it.
#pragma once

#include <vector>

#include "onnx/reader/model.h"
#include "onnx/tensors.h"

namespace crisol::onnx {

/// The nodes of the model's graph, with one node of whole numbers in the place of each group, if the device prefers
/// products of pairs. Elsewhere quantisation is the epilogue of a product of f32. Conv becomes QLinearConv,
/// MatMul becomes QLinearMatMul, and Gemm becomes QGemm. A Relu before QuantizeLinear disappears if quantisation cuts
/// off the same numbers. An op that only moves or picks elements moves the quantised numbers, if they mean the same
/// before and after it. Results differ from those of the group by the rounding of sums.
std::vector<file::Node> with_quantized_groups(const file::ModelProto& model, Tensors& tensors, Device device);

}  // namespace crisol::onnx
