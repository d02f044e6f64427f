// Differentiable functions of square matrices.
#pragma once

#include "crisol/tensor.h"

namespace crisol {

/// The determinant of each matrix of x (…, n, n), in the shape (…). It is meant for small matrices: each of n steps of
/// elimination queues some twenty kernels. The gradient is right for singular matrices too. f16 is computed in f32.
/// Errors (invalid_argument): an undefined tensor, whole numbers, matrices that are not square.
CRISOL_API Tensor det(const Tensor& x);

}  // namespace crisol
