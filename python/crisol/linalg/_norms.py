"""The norms of vectors and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _crisol as _c
from .._autocast import autocasts
from .._crisol import Tensor, _linalg, dtype
from .._method import _numpy_names, into

Dims = int | Sequence[int] | None


def check_nan(name: str, A: Tensor) -> None:
    """Raises if a matrix has NaN, for functions of singular values. Inside capture() the host cannot wait, so there it
    does not."""
    if not _c._is_capturing() and _c.isdtype(A.dtype, "real floating") and bool(_c.any(_c.isnan(A.detach()))):
        raise _c.InvalidArgumentError(f"[linalg.{name}] a matrix has NaN, so its singular values cannot be computed")


@_numpy_names
def vector_norm(
    input: Tensor, ord: float = 2, dim: Dims = None, keepdim: bool = False, *, dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The norm (sum |x|^ord)^(1 / ord) over one axis, several axes or all. ord = 0 gives the number of elements that
    are not 0. inf and -inf give the largest and smallest magnitude."""
    axes = None if isinstance(dim, (tuple, list)) and not dim else dim
    return into(out, _c.norm(input if dtype is None else input.to(dtype), p=float(ord), axis=axes, keepdims=keepdim))


@_numpy_names
@autocasts
def matrix_norm(
    input: Tensor, ord: Any = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """A norm of the matrices along two axes. ord is "fro" (the root of the sum of squares), "nuc" (the sum of the singular
    values), 2 or -2 (the largest or smallest singular value), 1 or -1 (the largest or smallest sum of the magnitudes of
    a column), or inf or -inf (of a row)."""
    x = input if dtype is None else input.to(dtype)
    first, second = (d % x.ndim for d in dim)
    if ord in (2, -2, "nuc"):
        check_nan("matrix_norm", x)
    y = _linalg.matrix_norm(_c.moveaxis(x, (first, second), (-2, -1)), ord, False)
    return _c.expand_dims(y, sorted((first, second))) if keepdim else y


@_numpy_names
def norm(
    input: Tensor, ord: Any = None, dim: Dims = None, keepdim: bool = False, *, dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """vector_norm() of all elements or along one axis. With an `ord` for matrices, or along two axes, matrix_norm()."""
    if ord is None:
        return vector_norm(input, 2, dim, keepdim, dtype=dtype, out=out)
    pair = isinstance(dim, (tuple, list)) and len(dim) == 2
    if isinstance(ord, str) or pair or (dim is None and input.ndim == 2):
        return into(out, matrix_norm(input, ord, dim if pair else (-2, -1), keepdim, dtype=dtype))
    return vector_norm(input, ord, dim, keepdim, dtype=dtype, out=out)
