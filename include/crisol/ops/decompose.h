// Raw decompositions of matrices, not recorded by autograd. The differentiable functions are in
// crisol/functions/linalg.h.
//
// x is (…, m, n), and k is min(m, n). x has any strides. It is f32, or f16, which is computed in f32. Sizes of 0 are
// allowed. A matrix that contains NaN or infinity gives NaN. Results always have the same bits on one device. Errors
// (invalid_argument): an undefined tensor, a rank below 2, another dtype.
#pragma once

#include "crisol/options/decompose.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// x = Q R by Householder's reflections, with k columns of Q, or with `complete` m. Each diagonal element of R has the
/// sign that LAPACK's geqrf gives it.
CRISOL_API QrResult qr(const Tensor& x, bool complete = false);
CRISOL_API void qr_into(const Tensor& q, const Tensor& r, const Tensor& x, bool complete = false);

/// The eigenvalues and eigenvectors of symmetric x (…, n, n), by Jacobi's rotations. Only the lower triangle is read.
/// Refuses matrices that are not square.
CRISOL_API EighResult eigh(const Tensor& x);
CRISOL_API void eigh_into(const Tensor& eigenvalues, const Tensor& eigenvectors, const Tensor& x);

/// The singular values and vectors of x by Hestenes' one-sided Jacobi rotations. U has m columns and Vᵀ n rows. Without
/// `full_matrices` both numbers are k.
CRISOL_API SvdResult svd(const Tensor& x, bool full_matrices = true);
CRISOL_API void svd_into(const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& x,
                         bool full_matrices = true);

/// Only the singular values, (…, k). This takes half the time of svd.
CRISOL_API Tensor svdvals(const Tensor& x);
CRISOL_API void svdvals_into(const Tensor& out, const Tensor& x);

}  // namespace crisol::ops
