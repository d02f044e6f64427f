// Differentiable functions of matrices and vectors.
#pragma once

#include <cstdint>
#include <string_view>

#include "crisol/options/decompose.h"
#include "crisol/tensor.h"

namespace crisol {

/// The determinant of each matrix of x (…, n, n), in the shape (…). It is meant for small matrices: each of n steps of
/// elimination queues some twenty kernels. The gradient is right for singular matrices too. f16 is computed in f32.
/// Errors (invalid_argument): an undefined tensor, whole numbers, matrices that are not square.
CRISOL_API Tensor det(const Tensor& x);

/// The result of slogdet. The determinant is sign e^logabsdet.
struct SlogdetResult {
  Tensor sign;       ///< 1, -1, or 0 for a singular matrix; (…).
  Tensor logabsdet;  ///< The logarithm of the determinant's absolute value, -inf for a singular matrix; (…).
};

/// The sign and the logarithm of the determinants of x (…, n, n), without overflow. It is computed like det. The
/// gradient of logabsdet needs matrices that are not singular. sign has no gradient.
CRISOL_API SlogdetResult slogdet(const Tensor& x);

/// The solution x of a x = b for a (…, n, n) and b (…, n, k), or for b (n), in the shape of b. The leading axes
/// broadcast. It is meant for small matrices: each of n steps of elimination queues some fifteen kernels. A singular
/// matrix gives infinities or NaN, because the host does not wait. f16 is computed in f32. Differentiable in a and b.
/// Errors (invalid_argument): whole numbers, two dtypes, shapes that do not fit.
CRISOL_API Tensor solve(const Tensor& a, const Tensor& b);

/// The inverse of each matrix of x (…, n, n). It is computed like solve.
CRISOL_API Tensor inv(const Tensor& x);

/// The lower triangular L with x = L Lᵀ for symmetric positive definite x (…, n, n), or with `upper` Lᵀ. Only the lower
/// triangle of x is read. A matrix that is not positive definite gives NaN, because the host does not wait. The
/// gradient is symmetric. Each of n steps queues some eight kernels. f16 is computed in f32.
CRISOL_API Tensor cholesky(const Tensor& x, bool upper = false);

/// x = Q R for x (…, m, n), where Q has orthonormal columns and R is upper triangular. Q has k = min(m, n) columns, or
/// m columns with `complete`. The method is Householder's reflections, and the diagonal of R has LAPACK's signs. A
/// matrix with NaN or infinity gives NaN. f16 is computed in f32. Differentiable where the first k columns of x are
/// independent. The complete form of a tall matrix has no gradient: backward throws. Errors (invalid_argument): an
/// undefined tensor, whole numbers, a rank below 2.
CRISOL_API QrResult qr(const Tensor& x, bool complete = false);

/// The eigenvalues and eigenvectors of symmetric x (…, n, n): x = V diag(λ) Vᵀ, with λ from small to large. The method
/// is Jacobi's rotations. The sign of an eigenvector is arbitrary. Only the lower triangle of x is read. A matrix with
/// NaN or infinity gives NaN. f16 is computed in f32. The gradient is symmetric. The gradient through eigenvectors
/// needs different eigenvalues. Errors (invalid_argument): whole numbers, matrices that are not square.
CRISOL_API EighResult eigh(const Tensor& x);

/// The eigenvalues that eigh gives, (…, n). Their gradient exists even if eigenvalues are equal.
CRISOL_API Tensor eigvalsh(const Tensor& x);

/// x = U diag(S) Vᵀ for x (…, m, n), with orthonormal columns of U and V, and S from large to small. U is (…, m, m) and
/// Vᵀ (…, n, n), or without `full_matrices` (…, m, k) and (…, k, n) for k = min(m, n). Hestenes' one-sided Jacobi
/// rotations (Demmel and Veselić 1992); the signs of vectors are arbitrary. A matrix with NaN or infinity gives NaN.
/// f16 is computed in f32. The gradient through U and V needs different singular values that are not 0. It ignores
/// terms that depend on the further vectors of the full form, as in PyTorch. Errors (invalid_argument): whole numbers,
/// a rank below 2.
CRISOL_API SvdResult svd(const Tensor& x, bool full_matrices = true);

/// The singular values that svd gives, (…, k). Their gradient exists even if values are equal.
CRISOL_API Tensor svdvals(const Tensor& x);

/// The pseudo-inverse of x (…, m, n) by Moore and Penrose, (…, n, m): V diag(1 / S) Uᵀ. Singular values that are at
/// most rtol times the largest count as 0. rtol is f32, f16 or f64 and broadcasts to (…). An undefined rtol is max(m,
/// n) times the epsilon of the dtype, as in the array API standard. The gradient is right for matrices near x of the
/// same rank.
CRISOL_API Tensor pinv(const Tensor& x, const Tensor& rtol = Tensor());
/// As above, with one rtol for all matrices.
CRISOL_API Tensor pinv(const Tensor& x, double rtol);

/// The number of singular values of x (…, m, n) above rtol times the largest, i64 (…). rtol is as in pinv. The result
/// has no gradient.
CRISOL_API Tensor matrix_rank(const Tensor& x, const Tensor& rtol = Tensor());
/// As above, with one rtol for all matrices.
CRISOL_API Tensor matrix_rank(const Tensor& x, double rtol);

/// A norm of each matrix of x (…, m, n), in the shape (…), or with `keepdim` (…, 1, 1). "fro" is the root of the sum of
/// squares, and "nuc" the sum of the singular values. The norm of vectors is `norm`.
CRISOL_API Tensor matrix_norm(const Tensor& x, std::string_view ord = "fro", bool keepdim = false);
/// The norm with a number. 2 is the largest singular value, 1 the largest column sum of magnitudes, and infinity the
/// largest row sum. -2, -1 and -infinity give the smallest instead. Refuses other numbers. Refuses matrices without
/// rows or columns if the norm would be the largest or smallest of no elements.
CRISOL_API Tensor matrix_norm(const Tensor& x, double ord, bool keepdim = false);

/// The product of n matrices x (…, m, m), in about 2 log n products. n = 0 gives the unit matrix, and n < 0 the product
/// of inverses, which whole numbers do not have. Products of whole numbers are exact modulo the size of the dtype.
/// Refuses bool and matrices that are not square.
CRISOL_API Tensor matrix_power(const Tensor& x, std::int64_t n);

/// The diagonal of two axes, along a new last axis: x[…, i, i + offset], or x[…, i - offset, i] for a negative offset.
/// The result is a view. Any dtype. Refuses equal axes.
CRISOL_API Tensor diagonal(const Tensor& x, std::int64_t offset = 0, int axis_a = 0, int axis_b = 1);

/// The sum of the diagonal of each matrix of x (…, R, C), in the shape (…): the array API's trace. Integers and bool
/// are added as i64. (crisol::trace is the namespace of timelines.)
CRISOL_API Tensor matrix_trace(const Tensor& x, std::int64_t offset = 0);

/// The matrix with its last two axes exchanged, a view. Refuses a rank below 2.
CRISOL_API Tensor matrix_transpose(const Tensor& x);

/// y[i, j] = a[i] b[j] for all elements of a and b, whose dtypes are promoted. Refuses other ranks than 1.
CRISOL_API Tensor outer(const Tensor& a, const Tensor& b);

/// The sum of a b along an axis, counted from the end (-1 is the last). The other axes broadcast. The result has the
/// promoted dtype, any but bool; whole numbers are exact modulo their size. Refuses different sizes along the axis.
CRISOL_API Tensor vecdot(const Tensor& a, const Tensor& b, int axis = -1);

/// The sum of products over the last `axes` axes of a and the first of b, of the same sizes. The dtypes are the same as
/// for matmul. With 0 axes it is the product of all pairs.
CRISOL_API Tensor tensordot(const Tensor& a, const Tensor& b, int axes = 2);
/// The sum of products over the pairs of axes a_axes[k] of a and b_axes[k] of b, of the same sizes.
CRISOL_API Tensor tensordot(const Tensor& a, const Tensor& b, const Shape& a_axes, const Shape& b_axes);

/// The cross product of vectors of 3 elements along an axis. The other axes broadcast, and the dtypes are promoted.
/// Refuses other sizes along the axis.
CRISOL_API Tensor cross(const Tensor& a, const Tensor& b, int axis = -1);

}  // namespace crisol
