// Comparison of tensors within a tolerance, and of elements with bounds. The results have no gradients.
#pragma once

#include <string_view>

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

/// Looks for an element of a floating-point tensor that is NaN, below `low` or above `high`. The call does not wait. If
/// there is one, the next read from the device throws invalid_argument, which names `op`, the element and the bounds.
/// With CRISOL_CHECK_INDICES=1 the call itself waits and throws.
CRISOL_API void check_range(std::string_view op, const Tensor& x, double low, double high);

}  // namespace crisol
