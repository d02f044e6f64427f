// Raw matrix products, not recorded by autograd. Users call crisol::matmul and crisol::linear
// (crisol/functions/matmul.h).
#pragma once

#include <string>

#include "crisol/device.h"
#include "crisol/precision.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// a (…, M, K) times b (…, K, N) gives (…, M, N). The leading axes broadcast. Both have one dtype, any but bool, and
/// are on one device. f16 is computed in f32, and whole numbers are exact modulo their size. An operand is used without
/// a copy if one of its last two strides is 1, as in a transpose or in a slice of rows or columns. Throws
/// invalid_argument, with both shapes, if a rank is below 2, K differs or the leading axes do not broadcast.
CRISOL_API Tensor matmul(const Tensor& a, const Tensor& b);
CRISOL_API void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b);

/// a (M, K) times b (K, N), each of u8 or i8. The sums are i32, whose overflow wraps around.
CRISOL_API Tensor matmul_of_bytes(const Tensor& a, const Tensor& b);

/// y = x · weightᵀ + bias. x is (…, I), weight (O, I), bias (O) or undefined, and y (…, O).
CRISOL_API Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor());
CRISOL_API void linear_into(const Tensor& out, const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor());

/// The matrix unit that computes products in a precision.
struct MatrixUnits {
  std::string unit;    ///< "mma_sm80", "mfma", …; empty if products are computed in fp32.
  std::string reason;  ///< Why `unit` is empty.
};

/// The matrix unit that a device uses for products in a precision. The first call compiles a kernel and checks its
/// results. The answer is stored with the cached programs, for this device, driver and version of the library.
CRISOL_API MatrixUnits matrix_units(Device device, Precision precision);

}  // namespace crisol::ops
