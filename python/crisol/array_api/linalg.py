"""Linear algebra: the linalg extension of the Array API standard 2025.12. Functions of matrices use the last two axes
of a float32 or float16 tensor. The axes before these two are a batch."""

from typing import NamedTuple

from .. import _crisol as _c
from .._crisol import (
    Tensor,
    _linalg,
    cholesky,
    cross,
    det,
    diagonal,
    inv,
    matmul,
    matrix_transpose,
    outer,
    solve,
    tensordot,
    vecdot,
)
from ._functions import total_dtype

__all__ = [
    "EighResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


class EighResult(NamedTuple):
    """The result of eigh()."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """The result of qr()."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """The result of slogdet()."""

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """The result of svd()."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def eigh(x: Tensor, /) -> EighResult:
    """For symmetric x (…, n, n): the eigenvalues λ from small to large, as (…, n), and the eigenvectors as columns of V
    (…, n, n), so that x = V diag(λ) Vᵀ. Only the lower triangle of x is read. NaN or infinity in a matrix gives NaN."""
    return EighResult(*_linalg.eigh(x))


def eigvalsh(x: Tensor, /) -> Tensor:
    """The eigenvalues of symmetric x (…, n, n) from small to large, as (…, n)."""
    return _linalg.eigvalsh(x)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: float | str = "fro") -> Tensor:
    """A norm of each matrix of x (…, m, n). The result is (…), or with keepdims (…, 1, 1). ord is "fro" (the root of
    the sum of squares), "nuc" (the sum of the singular values), 2 or -2 (the largest or smallest singular value), 1 or
    -1 (the largest or smallest sum of magnitudes in a column), or inf or -inf (the same for rows)."""
    return _linalg.matrix_norm(x, ord, keepdims)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """The product of n matrices x (…, m, m). n = 0 gives the unit matrix, n < 0 the product of -n inverses."""
    return _linalg.matrix_power(x, n)


def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """The rank of each matrix of x (…, m, n): how many singular values are above rtol times the largest. The result is
    (…). rtol is a number or a tensor (…). Its default is max(m, n) times the eps of the dtype."""
    return _linalg.matrix_rank(x, rtol)


def pinv(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """The pseudo-inverse (…, n, m) of x (…, m, n). Singular values count as 0 if they are at most rtol times the
    largest one. rtol is as in matrix_rank()."""
    return _linalg.pinv(x, rtol)


def qr(x: Tensor, /, *, mode: str = "reduced") -> QRResult:
    """x = Q R for x (…, m, n). The columns of Q are orthonormal, and R is upper triangular. The shapes are (…, m, k)
    and (…, k, n) with k = min(m, n), or with mode "complete" (…, m, m) and (…, m, n)."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f'[qr] mode is {mode!r}, allowed are "reduced" and "complete"')
    return QRResult(*_linalg.qr(x, mode == "complete"))


def slogdet(x: Tensor, /) -> SlogdetResult:
    """The sign and the logarithm of the magnitude of each matrix's determinant, for x (…, n, n), in the shape (…)."""
    return SlogdetResult(*_c.slogdet(x))


def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVDResult:
    """x = U diag(S) Vh for x (…, m, n). S is (…, k) from large to small, with k = min(m, n). U is (…, m, m) and Vh is
    (…, n, n). Without full_matrices they are (…, m, k) and (…, k, n). NaN or infinity in a matrix gives NaN."""
    return SVDResult(*_linalg.svd(x, full_matrices))


def svdvals(x: Tensor, /) -> Tensor:
    """The singular values of x (…, m, n) from large to small, as (…, min(m, n))."""
    return _linalg.svdvals(x)


def trace(x: Tensor, /, *, offset: int = 0, dtype: _c.dtype | None = None) -> Tensor:
    """The sum of a diagonal of each matrix of x (…, m, n), in the shape (…). Whole numbers are added as int64, or as
    uint64 without a sign, unless dtype names another type."""
    dtype = total_dtype(x, dtype)
    y = _c.matrix_trace(x if dtype is None else x.to(dtype), offset=offset)
    return y if dtype is None else y.to(dtype)


def vector_norm(
    x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, ord: float = 2
) -> Tensor:
    """The norm (sum |x|^ord)^(1 / ord) over one axis, several axes or all. ord = 0 gives the number of elements that
    are not 0. inf and -inf give the largest and smallest magnitude."""
    return _c.norm(x, p=ord, axis=axis, keepdims=keepdims)


def __dir__():
    return __all__
