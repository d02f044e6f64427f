// Comparing tensors within a tolerance. Without gradients.
#pragma once

#include "crisol/tensor.h"

namespace crisol {

/// |a - b| <= atol + rtol |b| for each element, as bool; the shapes broadcast. Equal infinities are close, and NaN is
/// close to NaN only with equal_nan. Differences of integers are exact. Refuses negative tolerances and two dtypes.
CRISOL_API Tensor isclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
                          bool equal_nan = false);

/// Whether all elements are close; waits for the answer.
CRISOL_API bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
                         bool equal_nan = false);

}  // namespace crisol
