"""Linear algebra, with PyTorch's names and arguments. Functions of matrices use the last two axes of a float32 or
float16 tensor. The axes before these two are a batch. The linalg extension of the Array API standard is in
crisol.array_api.linalg."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor, _linalg, dtype
from .._functions._results import LstsqResult, LUFactors, LUFactorsInfo, LUResult
from .._method import _method, into
from ..array_api.linalg import EighResult, QRResult, SlogdetResult, SVDResult
from ._lu import householder_product, lu, lu_factor, lu_factor_ex, lu_solve
from ._norms import check_nan, matrix_norm, norm, vector_norm

__all__ = ["EighResult", "LinAlgError", "LstsqResult", "QRResult", "SVDResult", "SlogdetResult", "cholesky"]
__all__ += [
    "cholesky_ex",
    "cholesky_solve",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "inv_ex",
    "lstsq",
]
__all__ += [
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_sqrth",
    "matrix_transpose",
    "multi_dot",
    "norm",
]
__all__ += ["outer", "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensordot"]
__all__ += ["tensorinv", "tensorsolve", "trace", "vander", "vecdot", "vector_norm"]

__all__ += ["LUFactors", "LUFactorsInfo", "LUResult", "cholesky_inverse", "householder_product"]
__all__ += ["eig", "eigvals", "ldl_factor", "ldl_solve", "lu", "lu_factor", "lu_factor_ex", "lu_solve"]
__all__ += ["ldl_factor_ex"]

LinAlgError = _c.Error
def _checked(name: str, found: Tensor, info: Tensor, problem: str, check: bool) -> tuple[Tensor, Tensor]:
    """The result and the numbers of its errors. With `check`, an error raises. Inside capture() the host cannot wait, so
    there it does not."""
    if check and not _c._is_capturing() and bool(_c.any(info != 0)):
        raise _c.InvalidArgumentError(f"[linalg.{name}] a matrix {problem}")
    return found, info


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangular L with A = L Lᵀ for symmetric positive definite A (…, n, n), or with `upper` Lᵀ. Waits for the
    result, and raises if a matrix is not positive definite. cholesky_ex() does not wait."""
    return cholesky_ex(A, upper=upper, check_errors=True)[0]


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """The results are that of cholesky(), and an int32 for each matrix, which is 0 if there was no error. With
    check_errors an error raises."""
    found = _c.cholesky(A, upper=upper)
    info = _c.any(_c.isnan(found), axis=(-2, -1)).to(_c.int32)
    return _checked("cholesky", found, info, "is not positive definite", check_errors)


@_method(Tensor)
def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The solution X of A X = B. L is the result of cholesky() for A."""
    factor = L.mT if upper else L
    return solve_triangular(factor.mT, solve_triangular(factor, B, upper=False), upper=True)


@_method(Tensor)
def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix whose cholesky() is the input."""
    return cholesky_solve(_c.eye(input.shape[-1], dtype=input.dtype, device=input.device), input, upper)


def det(A: Tensor) -> Tensor:
    """The determinant of each matrix of A (…, n, n), in the shape (…)."""
    return _c.det(A)


def slogdet(A: Tensor) -> SlogdetResult:
    """The sign and the logarithm of the magnitude of the determinants of A (…, n, n), in the shape (…)."""
    return SlogdetResult(*_c.slogdet(A))


def _slogdet(self: Tensor) -> Any:
    """linalg.slogdet()"""
    return slogdet(self)


Tensor.slogdet = _slogdet


def inv(A: Tensor) -> Tensor:
    """The inverse of each matrix of A (…, n, n). Waits for the result, and raises if a matrix is singular. inv_ex() does
    not wait."""
    return inv_ex(A, check_errors=True)[0]


def inv_ex(A: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """The results are that of inv(), and an int32 for each matrix, which is 0 if there was no error. With check_errors an
    error raises."""
    found = _c.inv(A)
    return _checked("inv", found, _singular(found, A), "is singular", check_errors)


def _singular(found: Tensor, A: Tensor, *others: Tensor) -> Tensor:
    """1 for each matrix of A whose result has NaN or infinity although all operands are finite, otherwise 0."""
    of_one = math.prod(found.shape[A.ndim - 2 :])
    wrong = _c.any(_c.logical_not(_c.isfinite(found)).reshape((*A.shape[:-2], of_one)), axis=-1)
    for x in (A, *others):
        wrong = _c.logical_and(wrong, _c.all(_c.isfinite(x)))
    return wrong.to(_c.int32)


def _solution(A: Tensor, B: Tensor, left: bool) -> Tensor:
    if A.ndim > 2 and B.ndim == A.ndim - 1 and tuple(B.shape) == tuple(A.shape[:-1]):  # Vectors.
        return _solution(A, B.unsqueeze(-1), left).squeeze(-1)
    return _c.solve(A, B) if left else _c.solve(A.mT, B.mT).mT


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The solution X of A X = B for A (…, n, n) and B (…, n, k) or (n), or of X A = B without `left`. Waits for the
    result, and raises if a matrix is singular. solve_ex() does not wait."""
    return solve_ex(A, B, left=left, check_errors=True)[0]


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """The results are that of solve(), and an int32 for each matrix, which is 0 if there was no error. With check_errors
    an error raises."""
    found = _solution(A, B, left)
    return _checked("solve", found, _singular(found, A, B), "is singular", check_errors)


def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """solve() for a triangular A, of which only one triangle is read."""
    triangle = _c.triu(A) if upper else _c.tril(A)
    if unitriangular:
        on = _c.eye(A.shape[-1], dtype=_c.bool, device=A.device)
        triangle = _c.where(on, 1.0, triangle)
    return _solution(triangle, B, left)


def eigh(A: Tensor, UPLO: str = "L") -> EighResult:
    """For symmetric A (…, n, n): the eigenvalues λ from small to large, as (…, n), and the eigenvectors as columns of V
    (…, n, n), so that A = V diag(λ) Vᵀ. Only the lower (or upper) triangle of A is read. NaN or infinity in a matrix
    gives NaN."""
    return EighResult(*_linalg.eigh(A if UPLO == "L" else A.mT))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric A (…, n, n) from small to large, as (…, n)."""
    return _linalg.eigvalsh(A if UPLO == "L" else A.mT)


def qr(A: Tensor, mode: str = "reduced") -> QRResult:
    """A = Q R for A (…, m, n). The columns of Q are orthonormal, and R is upper triangular. The shapes are (…, m, k)
    and (…, k, n) with k = min(m, n), or with mode "complete" (…, m, m) and (…, m, n). With mode "r" there is no Q."""
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f'[qr] mode is {mode!r}, allowed are "reduced", "complete" and "r"')
    q, r = _linalg.qr(A, mode == "complete")
    return QRResult(_c.empty(0, dtype=A.dtype) if mode == "r" else q, r)


def svd(A: Tensor, full_matrices: bool = True) -> SVDResult:
    """A = U diag(S) Vh for A (…, m, n). S is (…, k) from large to small, with k = min(m, n). U is (…, m, m) and Vh is
    (…, n, n). Without full_matrices they are (…, m, k) and (…, k, n). Waits, and raises if a matrix has NaN."""
    check_nan("svd", A)
    return SVDResult(*_linalg.svd(A, full_matrices))


def svdvals(A: Tensor) -> Tensor:
    """The singular values of A (…, m, n) from large to small, as (…, min(m, n))."""
    check_nan("svdvals", A)
    return _linalg.svdvals(A)


def _rounding(A: Tensor) -> float:
    """max(m, n) times the epsilon of the dtype in which matrices are decomposed."""
    return max(A.shape[-2:]) * (2.0**-52 if A.dtype is _c.float64 else 2.0**-23)


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> LstsqResult:
    """The X for which |A X - B| is smallest, for A (…, m, n) and B (…, m, k)."""
    u, s, vh = svd(A, False)
    limit = rcond if rcond is not None else _rounding(A)
    kept = _c.gt(s, limit * s[..., :1])
    inverse = _c.where(kept, 1 / _c.where(kept, s, 1.0), 0.0)
    x = vh.mT @ (inverse.unsqueeze(-1) * (u.mT @ B))
    residuals = _c.empty(0, dtype=x.dtype)
    if driver not in (None, "gelsy") and A.shape[-2] > A.shape[-1]:
        residuals = _c.sum(_c.square(A @ x - B), axis=-2)
    if driver in (None, "gels", "gelsy"):  # LAPACK's drivers of these names compute no singular values.
        s = _c.empty(0, dtype=x.dtype)
    rank = _c.empty(0, dtype=_c.int64) if driver == "gels" else _c.sum(kept, axis=-1)
    return LstsqResult(x, residuals, rank, s)


def _symmetric(A: Tensor) -> Tensor:
    """The symmetric matrices with the lower triangles of A."""
    return _c.tril(A) + _c.tril(A, k=-1).mT


def _limit(A: Tensor, s: Tensor, atol: Any, rtol: Any) -> Tensor:
    """The largest singular value that counts as 0, for each matrix. Without limits rtol is _rounding()."""
    if rtol is None:
        rtol = _rounding(A) if atol is None else 0.0
    if isinstance(atol, Tensor) and not isinstance(rtol, Tensor) and rtol == 0.0:
        rtol = _c.where(_c.gt(atol, 0), 0.0, _rounding(A))
    least, share = (v.unsqueeze(-1) if isinstance(v, Tensor) else v for v in (0.0 if atol is None else atol, rtol))
    return _c.maximum(s[..., :1] * share, least)


def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """The pseudo-inverse (…, n, m) of A (…, m, n). Singular values count as 0 if they are at most rtol times the largest,
    or at most atol. With `hermitian`, only the lower triangles are read."""
    if not hermitian:
        check_nan("pinv", A)
    x, rtol = _symmetric(A) if hermitian else A, rtol if rcond is None else rcond
    if atol is None:
        return _linalg.pinv(x, rtol)
    u, s, vh = svd(x, False)
    kept = _c.gt(s, _limit(x, s, atol, rtol))
    inverse = _c.where(kept, 1 / _c.where(kept, s, 1.0), 0.0)
    return vh.mT @ (inverse.unsqueeze(-1) * u.mT)


def matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """The number of singular values of A (…, m, n) above rtol times the largest and above `atol` (or `tol`). With
    `hermitian`, only the lower triangles are read."""
    if not hermitian:
        check_nan("matrix_rank", A)
    x = _symmetric(A) if hermitian else A
    if tol is None and atol is None:
        return _linalg.matrix_rank(x, rtol)
    s = svdvals(x)
    return _c.sum(_c.gt(s, _limit(x, s, atol if tol is None else tol, rtol)), axis=-1)


@_method(Tensor)
def matrix_power(A: Tensor, n: int) -> Tensor:
    """The product of n matrices A (…, m, m). n = 0 gives the unit matrix, n < 0 the product of -n inverses."""
    return _linalg.matrix_power(A, n)


@_method(Tensor)
def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of each matrix (…, n, n). The series is computed for the matrix divided by a power of 2, and the
    result is squared repeatedly. The power is as small as the series allows, because each square doubles the error.
    Waits for the device."""
    norms = _c.max(_c.sum(_c.abs(A.detach()), -2, True), -1, True) if A.numel() else _c.zeros((1, 1), dtype=A.dtype)
    halvings = _c.maximum(_c.ceil(_c.log2(_c.where(_c.isfinite(norms), norms, 1.0) / 3)), 0.0)
    x, unit = A * _c.exp2(-halvings), _c.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    result = unit.expand(A.shape)
    for i in range(18, 0, -1):
        result = unit + x @ result / i
    for step in range(int(_c.max(halvings).item())):
        result = _c.where(_c.gt(halvings, step), result @ result, result)
    return result


def matrix_sqrth(A: Tensor) -> Tensor:
    """The symmetric root of each symmetric positive definite matrix. Only the lower triangles are read."""
    values, vectors = eigh(A)
    return (vectors * _c.sqrt(values).unsqueeze(-2)) @ vectors.mT


def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number: the norm of each matrix times the norm of its inverse. With p None or 2, it is the largest
    singular value divided by the smallest. With p -2 it is the reciprocal."""
    if p in (None, 2, -2):
        s = svdvals(A)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return matrix_norm(A, p) * matrix_norm(_c.inv(A), p)


def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of matrices (…, M, K) and (…, K, N)."""
    return into(out, _c.matmul(input, other))


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of several matrices."""
    result = tensors[0]
    for x in tensors[1:]:
        result = _c.matmul(result, x)
    return result


def matrix_transpose(x: Tensor) -> Tensor:
    """A view with the last two axes exchanged."""
    return x.mT


def outer(x: Tensor, y: Tensor) -> Tensor:
    """x[i] y[j] for vectors."""
    return _c.outer(x, y)


def cross(input: Tensor, other: Tensor, *, dim: int = -1, axis: int | None = None) -> Tensor:
    """The cross product of vectors of 3 elements along an axis."""
    at = dim if axis is None else axis
    return _c.cross(input, other, axis=at - max(input.ndim, other.ndim) if at >= 0 else at)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonal of each matrix of A."""
    return A.diagonal(offset, dim1 % A.ndim, dim2 % A.ndim)


def trace(x: Tensor, /, *, offset: int = 0, dtype: dtype | None = None) -> Tensor:
    """The sum of a diagonal of each matrix of x (…, m, n), in the shape (…)."""
    y = _c.matrix_trace(x if dtype is None else x.to(dtype), offset=offset)
    return y if dtype is None else y.to(dtype)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, axis: int | None = None) -> Tensor:
    """The sum of x y along an axis. The other axes broadcast."""
    at = dim if axis is None else axis
    return _c.vecdot(x, y, axis=at - max(x.ndim, y.ndim) if at >= 0 else at)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, *, axes: Any = None) -> Tensor:
    """The sums of products over the last `dims` axes of a and the first `dims` axes of b, or over two lists of axes."""
    from .._functions._matrix import tensordot

    return tensordot(a, b, dims, axes=axes)


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """The powers 0, 1, … of the elements of each vector, as rows."""
    from .._functions._matrix import vander

    return vander(x.reshape(1) if x.ndim == 0 else x, N, True)


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of the map from the last axes of A to its first `ind` axes."""
    rows, columns = A.shape[:ind], A.shape[ind:]
    return _c.inv(A.reshape((math.prod(rows), -1))).reshape((*columns, *rows))


def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """The X with tensordot(A, X) = B. The axes `dims` of A are moved to its end first."""
    if dims is not None:
        A = _c.moveaxis(A, tuple(d % A.ndim for d in dims), tuple(range(A.ndim - len(dims), A.ndim)))
    shape = A.shape[B.ndim :]
    return _c.solve(A.reshape((B.numel(), -1)), B.reshape(-1)).reshape(shape)


def _refused(name: str, advice: str) -> Any:
    def refuse(*args: Any, **named: Any) -> Any:
        raise NotImplementedError(f"[linalg.{name}] is not there: {advice}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Not there: {advice}."
    return refuse


_INSTEAD_OF_LDL = "lu_factor() and lu_solve() take any matrices, and cholesky() positive definite ones"
_INSTEAD_OF_EIG = "there are no complex tensors. eigh() takes symmetric matrices, and svd() any"
ldl_factor, ldl_solve = _refused("ldl_factor", _INSTEAD_OF_LDL), _refused("ldl_solve", _INSTEAD_OF_LDL)
ldl_factor_ex = _refused("ldl_factor_ex", _INSTEAD_OF_LDL)
eig, eigvals = _refused("eig", _INSTEAD_OF_EIG), _refused("eigvals", _INSTEAD_OF_EIG)


def __dir__():
    return __all__
