// Matrix products, raw: never recorded. Users call crisol::matmul and crisol::linear (crisol/functions/matmul.h).
#pragma once

#include <string>

#include "crisol/device.h"
#include "crisol/precision.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// a (…, M, K) times b (…, K, N) gives (…, M, N); the leading axes broadcast. f32, one device. Operands whose last two
/// strides hold a 1 (transposes, slices of columns or rows) are used without a copy. Throws invalid_argument, with both
/// shapes, when a rank is below 2, K differs or the leading axes do not broadcast.
CRISOL_API Tensor matmul(const Tensor& a, const Tensor& b);

/// y = x · weightᵀ + bias: x (…, I), weight (O, I), bias (O) or undefined, y (…, O).
CRISOL_API Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor());

/// What multiplies matrices in a precision.
struct MatrixUnits {
  std::string unit;    ///< "mma_sm80", "mfma", …; empty where products are computed in fp32 all the same,
  std::string reason;  ///< and then why.
};

/// What a device multiplies matrices with where the precision allows. The first question compiles a kernel and checks
/// what it computes; the answer is kept with the cached programs, for this device, driver and version of the library.
CRISOL_API MatrixUnits matrix_units(Device device, Precision precision);

}  // namespace crisol::ops
