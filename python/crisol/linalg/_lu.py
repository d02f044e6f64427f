"""Triangular factors with exchanged rows, and products of reflections, as ops on batches of matrices."""

from __future__ import annotations

from .. import _crisol as _c
from .._crisol import Tensor
from .._functions._results import LUFactors, LUFactorsInfo, LUResult


def _places(n: int, like: Tensor) -> Tensor:
    return _c.arange(n, device=like.device)


def _exchanged(x: Tensor, k: int, other: Tensor) -> Tensor:
    """Exchanges row k of each matrix with the row `other`, one number for each matrix."""
    rows = _places(x.shape[-2], x)
    at, row_k = other.unsqueeze(-1), rows == k
    order = _c.where(row_k, at, _c.where(rows == at, k, rows))
    return _c.take_along_axis(x, order.unsqueeze(-1).expand(x.shape), axis=-2)


def lu_factor(A: Tensor, *, pivot: bool = True) -> LUFactors:
    """The factors of A (…, m, n): L below the diagonal, whose own diagonal is 1, and U on and above it. Rows are exchanged
    so that the largest element of a column is on the diagonal, unless `pivot` is False."""
    if A.ndim < 2:
        raise _c.InvalidArgumentError(f"[lu_factor] takes matrices, not a tensor of shape {tuple(A.shape)}")
    m, n = A.shape[-2:]
    rows, columns = _places(m, A).unsqueeze(-1), _places(n, A)
    x, pivots = A, []
    for k in range(min(m, n)):
        if pivot:
            largest = _c.argmax(_c.abs(x[..., k:, k].detach()), axis=-1) + k
            x = _exchanged(x, k, largest)
            pivots.append((largest + 1).to(_c.int32))
        else:
            pivots.append(_c.full(A.shape[:-2], k + 1, dtype=_c.int32, device=A.device))
        diagonal = x[..., k : k + 1, k : k + 1]
        zero = diagonal == 0
        share = x[..., k : k + 1] / _c.where(zero, 1.0, diagonal)
        below = _c.logical_and(rows > k, _c.logical_not(zero))
        share = _c.where(below, share, 0.0)
        rest = x - share * _c.where(columns > k, x[..., k : k + 1, :], 0.0)
        x = _c.where(_c.logical_and(below, columns == k), share, rest)
    empty = _c.zeros((*A.shape[:-2], 0), dtype=_c.int32, device=A.device)
    return LUFactors(x if pivots else A.clone(), _c.stack(pivots, axis=-1) if pivots else empty)


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> LUFactorsInfo:
    """lu_factor(), and for each matrix the number of the first zero on the diagonal of U, or 0."""
    factors, pivots = lu_factor(A, pivot=pivot)
    diagonal = factors.diagonal(0, factors.ndim - 2, factors.ndim - 1)
    if diagonal.shape[-1] == 0:
        return LUFactorsInfo(factors, pivots, _c.zeros(A.shape[:-2], dtype=_c.int32, device=A.device))
    zero = diagonal == 0
    first = _c.argmax(zero.to(_c.int32), axis=-1) + 1
    info = _c.where(_c.any(zero, axis=-1), first, 0).to(_c.int32)
    if check_errors and bool(_c.any(info != 0)):
        raise _c.InvalidArgumentError("[lu_factor_ex] a matrix is singular")
    return LUFactorsInfo(factors, pivots, info)


def _permutation(pivots: Tensor, m: int, like: Tensor) -> Tensor:
    """The matrices P of exchanges: P x undoes them."""
    p = _c.eye(m, dtype=like.dtype, device=like.device).expand((*pivots.shape[:-1], m, m))
    for k in range(pivots.shape[-1]):
        p = _exchanged(p, k, pivots[..., k].to(_c.int64) - 1)
    return p.mT


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> LUResult:
    """The matrices P, L and U of lu_factor()'s result."""
    m, n = LU_data.shape[-2:]
    k = min(m, n)
    empty = _c.empty(0, dtype=LU_data.dtype)
    p = _permutation(LU_pivots, m, LU_data) if unpack_pivots else empty
    if not unpack_data:
        return LUResult(p, empty, empty)
    unit = _c.eye(m, k, dtype=LU_data.dtype, device=LU_data.device)
    return LUResult(p, _c.tril(LU_data[..., :k], k=-1) + unit, _c.triu(LU_data[..., :k, :]))


def lu(A: Tensor, *, pivot: bool = True) -> LUResult:
    """The factors of A = P L U: exchanged rows, a lower triangle with ones on the diagonal, and an upper triangle."""
    result = lu_unpack(*lu_factor(A, pivot=pivot))
    return result if pivot else LUResult(_c.empty(0, dtype=A.dtype), result.L, result.U)


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """The X with A X = B, or with X A = B without `left`, from the factors of A. With `adjoint` it is A's transpose."""
    p, low, high = lu_unpack(LU, pivots)
    if not left:
        return lu_solve(LU, pivots, B.mT, adjoint=not adjoint).mT
    if adjoint:
        return p @ _c.solve(low.mT, _c.solve(high.mT, B))
    return _c.solve(high, _c.solve(low, p.mT @ B))


def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of reflections 1 - tau v vᵀ, where v is a column below its diagonal."""
    m, n = input.shape[-2:]
    rows = _places(m, input)
    result = _c.eye(m, n, dtype=input.dtype, device=input.device).expand(input.shape)
    for i in range(tau.shape[-1] - 1, -1, -1):
        v = _c.where(rows > i, input[..., i], (rows == i).to(input.dtype)).unsqueeze(-1)
        result = result - tau[..., i : i + 1].unsqueeze(-1) * v @ (v.mT @ result)
    return result
