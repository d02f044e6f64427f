// Raw products with quantised weights, not recorded by autograd. Users call crisol::linear and crisol::quantize
// (crisol/quantized_weight.h).
#pragma once

#include "crisol/quantized_weight.h"

namespace crisol::ops {

/// y = x · weightᵀ + bias. x is (…, columns), bias (rows) or undefined, and y (…, rows), all of one floating-point
/// dtype.
CRISOL_API Tensor quantized_linear(const Tensor& x, const QuantizedWeight& weight, const Tensor& bias = Tensor());

/// The elements of the weight, f32 (rows, columns).
CRISOL_API Tensor dequantize(const QuantizedWeight& weight);

}  // namespace crisol::ops
