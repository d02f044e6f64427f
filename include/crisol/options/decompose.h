// Results of decompositions of matrices.
#pragma once

#include "crisol/tensor.h"

namespace crisol {

/// The result of qr: x = Q R.
struct QrResult {
  Tensor q;  ///< Orthonormal columns: (…, m, k), or (…, m, m) where complete.
  Tensor r;  ///< Upper triangular: (…, k, n), or (…, m, n) where complete.
};

/// The result of eigh: x = V diag(λ) Vᵀ.
struct EighResult {
  Tensor eigenvalues;   ///< λ from small to large, (…, n).
  Tensor eigenvectors;  ///< The columns of V, orthonormal: (…, n, n).
};

/// The result of svd: x = U diag(S) Vᵀ.
struct SvdResult {
  Tensor u;   ///< Orthonormal columns: (…, m, m), or (…, m, k) where reduced.
  Tensor s;   ///< The singular values from large to small, (…, k).
  Tensor vh;  ///< Vᵀ, with orthonormal rows: (…, n, n), or (…, k, n) where reduced.
};

}  // namespace crisol
