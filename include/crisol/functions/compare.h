// Comparison of tensors within a tolerance. The results have no gradients.
#pragma once

#include "crisol/tensor.h"

namespace crisol {

/// Whether |a - b| <= atol + rtol |b|, for each element, as bool. The shapes broadcast. Equal infinities are close. NaN
/// is close to NaN only with equal_nan. Differences of integers are exact. Refuses negative tolerances and different
/// dtypes.
CRISOL_API Tensor isclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
                          bool equal_nan = false);

/// Whether isclose is true for all elements. Waits for the device.
CRISOL_API bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
                         bool equal_nan = false);

}  // namespace crisol
