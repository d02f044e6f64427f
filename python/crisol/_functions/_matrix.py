"""Products and other functions of matrices, with PyTorch's meaning."""

from typing import Any

from .. import _crisol as _c
from .._autocast import autocasts
from .._crisol import Tensor
from .._method import _method, into, tell_once
from ._results import SVD
from ._types import floats

__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "block_diag",
    "bmm",
    "chain_matmul",
    "corrcoef",
    "cov",
    "cross",
]
__all__ += [
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "dot",
    "ger",
    "inner",
    "inverse",
    "kron",
    "logdet",
    "mm",
    "mv",
]
__all__ += ["outer", "tensordot", "tril", "tril_indices", "triu", "triu_indices", "vander", "vdot", "pinverse"]
__all__ += ["trapezoid", "cumulative_trapezoid", "svd", "trapz"]


def _require(ok: bool, name: str, rule: str, *tensors: Tensor) -> None:
    if not ok:
        shapes = " and ".join(str(tuple(x.shape)) for x in tensors)
        raise _c.InvalidArgumentError(f"[{name}] takes {rule}, not {shapes}")


@_method(Tensor)
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices."""
    _require(input.ndim == mat2.ndim == 2, "mm", "two matrices", input, mat2)
    return into(out, _c.matmul(input, mat2))


@_method(Tensor)
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The products of the matrices of two batches (B, N, M) and (B, M, P)."""
    ok = input.ndim == mat2.ndim == 3 and input.shape[0] == mat2.shape[0]
    _require(ok, "bmm", "two batches of matrices", input, mat2)
    return into(out, _c.matmul(input, mat2))


@_method(Tensor)
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector."""
    _require(input.ndim == 2 and vec.ndim == 1, "mv", "a matrix and a vector", input, vec)
    return _c.matmul(input, vec)


@_method(Tensor)
@autocasts
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors of one size."""
    _require(
        input.ndim == tensor.ndim == 1 and input.shape == tensor.shape, "dot", "two vectors of one size", input, tensor
    )
    return _c.matmul(input, tensor)


@_method(Tensor)
@autocasts
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """dot(), because there are no complex dtypes."""
    return dot(input, other)


@_method(Tensor)
def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products over the last axes of both."""
    if input.ndim == 0 or other.ndim == 0:
        return input * other
    return _c.tensordot(input, other, axes=([input.ndim - 1], [other.ndim - 1]))


@_method(Tensor)
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """y[i, j] = input[i] vec2[j] for vectors."""
    return _c.outer(input, vec2)


@_method(Tensor)
def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """outer()."""
    return _c.outer(input, vec2)


def _added(input: Tensor, product: Tensor, beta: float, alpha: float) -> Tensor:
    dtype = _c.result_type(input, product)
    if not _c.isdtype(dtype, "real floating"):  # PyTorch drops the fractions of both factors.
        beta, alpha = int(beta), int(alpha)
    product = product if alpha == 1 else product * alpha
    result = product if beta == 0 else (input if beta == 1 else input * beta) + product
    return result.to(dtype)


@_method(Tensor)
@autocasts
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta · input + alpha · mat1 · mat2."""
    return _added(input, mm(mat1, mat2), beta, alpha)


@_method(Tensor)
@autocasts
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta · input + alpha · mat · vec."""
    return _added(input, mv(mat, vec), beta, alpha)


@_method(Tensor)
@autocasts
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta · input + alpha · outer(vec1, vec2)."""
    return _added(input, _c.outer(vec1, vec2), beta, alpha)


@_method(Tensor)
@autocasts
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta · input + alpha · bmm(batch1, batch2)."""
    return _added(input, bmm(batch1, batch2), beta, alpha)


@_method(Tensor)
@autocasts
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta · input + alpha · the sum of bmm(batch1, batch2) over the batch."""
    return _added(input, _c.sum(bmm(batch1, batch2), axis=0, dtype=batch1.dtype), beta, alpha)


def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of several matrices."""
    result = matrices[0]
    for matrix in matrices[1:]:
        result = _c.matmul(result, matrix)
    return result


@_method(Tensor)
def inverse(input: Tensor) -> Tensor:
    """The inverse of each matrix (…, n, n): linalg.inv()."""
    from ..linalg import inv

    return inv(input)


@_method(Tensor)
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverse of each matrix."""
    return _c._linalg.pinv(input, rcond)


@_method(Tensor)
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant. NaN if the determinant is negative."""
    sign, value = _c.slogdet(input)
    return _c.where(_c.lt(sign, 0), float("nan"), value)


def _unit(dim: int, ndim: int) -> int:
    return dim + ndim if dim < 0 else dim


@_method(Tensor)
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A view of the diagonals of the matrices along two axes. The diagonal is the last axis."""
    if input.ndim > 2 and (dim1, dim2) == (0, 1):
        tell_once(
            "diagonal", "diagonal() takes the first two axes, as in PyTorch; linalg.diagonal() takes the last two"
        )
    order = [i for i in range(input.ndim) if i not in (_unit(dim1, input.ndim), _unit(dim2, input.ndim))]
    return _c.diagonal(input.permute(*order, dim1, dim2), offset=offset)


@_method(Tensor)
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix with a vector on a diagonal, or the diagonal of a matrix."""
    _require(input.ndim in (1, 2), "diag", "a vector or a matrix", input)
    return diag_embed(input, diagonal) if input.ndim == 1 else _c.diagonal(input, offset=diagonal)


@_method(Tensor)
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the last axis of a tensor on a diagonal."""
    n = input.shape[-1] + abs(offset)
    places = _c.arange(n, device=input.device)
    rows = _c._clip(places + min(offset, 0), 0, input.shape[-1] - 1)
    spread = _c.index_select(input, -1, rows).unsqueeze(-1)
    on = _c.eq(places.unsqueeze(0) - places.unsqueeze(1), offset)
    return _c.moveaxis(_c.where(on, spread, 0).to(input.dtype), (-2, -1), (dim1, dim2))


@_method(Tensor)
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements of a tensor on a diagonal."""
    return diag_embed(input.reshape(-1), offset)


@_method(Tensor)
def tril(input: Tensor, diagonal: int = 0, *, k: int | None = None, out: Tensor | None = None) -> Tensor:
    """A copy of x (…, R, C) with zeros above a diagonal."""
    return into(out, _c.tril(input, k=diagonal if k is None else k))


@_method(Tensor)
def triu(input: Tensor, diagonal: int = 0, *, k: int | None = None, out: Tensor | None = None) -> Tensor:
    """A copy of x (…, R, C) with zeros below a diagonal."""
    return into(out, _c.triu(input, k=diagonal if k is None else k))


def _indices(row: int, col: int, keep: Any, dtype: Any, device: Any) -> Tensor:
    rows, columns = _c.arange(row, device=device).unsqueeze(1), _c.arange(col, device=device)
    found = _c.stack(list(_c.nonzero(keep(columns - rows))), axis=0)
    return found if dtype is None else found.to(dtype)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: _c.dtype | None = None, device: Any = None) -> Tensor:
    """The positions (2, N) of the elements of a matrix on a diagonal and below. Waits."""
    return _indices(row, col, lambda k: _c.le(k, offset), dtype, device)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: _c.dtype | None = None, device: Any = None) -> Tensor:
    """The positions (2, N) of the elements of a matrix on a diagonal and above. Waits."""
    return _indices(row, col, lambda k: _c.ge(k, offset), dtype, device)


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with matrices along its diagonal."""
    parts = [x.reshape((1, -1)) if x.ndim < 2 else x for x in tensors]
    width, before, rows = sum(x.shape[1] for x in parts), 0, []
    for x in parts:
        rows.append(_c._functional.pad(x, [before, width - before - x.shape[1]]))
        before += x.shape[1]
    return _c.concat(rows, axis=0)


@_method(Tensor)
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Kronecker's product: each element of `input` times all of `other`."""
    ndim = max(input.ndim, other.ndim)
    a, b = ((1,) * (ndim - x.ndim) + x.shape for x in (input, other))
    left = input.reshape([n for size in a for n in (size, 1)])
    right = other.reshape([n for size in b for n in (1, size)])
    return (left * right).reshape([x * y for x, y in zip(a, b)])


@_method(Tensor)
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariances of variables, which are rows."""
    x = input.reshape((1, -1)) if input.ndim < 2 else input
    x = floats(x)
    for w in (fweights, aweights):
        if w is not None and _c.isdtype(w.dtype, "real floating"):
            x = x.to(_c.promote_types(x.dtype, w.dtype))
    weights = [w.to(x.dtype) for w in (fweights, aweights) if w is not None]
    if not weights:
        centred = x - _c.mean(x, 1, True)
        result = _c.matmul(centred, centred.mT) / max(x.shape[1] - correction, 0)
    else:
        w = weights[0] if len(weights) == 1 else weights[0] * weights[1]
        total = _c.sum(w)
        mean = _c.sum(x * w, 1, True) / total
        lost = correction if aweights is None else correction * _c.sum(w * aweights.to(x.dtype)) / total
        result = _c.matmul((x - mean) * w, (x - mean).mT) / (total - lost)
    return result if x.shape[0] != 1 else result.reshape(())


@_method(Tensor)
def corrcoef(input: Tensor) -> Tensor:
    """The correlations of variables, which are rows."""
    covariances = cov(input)
    if covariances.ndim == 0:
        return covariances / covariances
    scale = _c.sqrt(_c.diagonal(covariances))
    return _c._clip(covariances / scale.unsqueeze(0) / scale.unsqueeze(1), -1, 1)


@_method(Tensor)
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The cross product of vectors of 3 elements along an axis. The default is the first axis of size 3."""
    if dim is None:
        dim = next((i for i, size in enumerate(input.shape) if size == 3), -1)
    return _c.cross(input, other, axis=dim - max(input.ndim, other.ndim) if dim >= 0 else dim)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, *, axes: Any = None) -> Tensor:
    """The sums of products over the last `dims` axes of a and the first `dims` axes of b, or over two lists of axes."""
    dims = dims if axes is None else axes
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if not isinstance(dims, int):  # An axis of size 1 is broadcast.
        first, second = list(dims[0]), list(dims[1])
        for i, j in zip(first, second):
            if a.shape[i] == 1 != b.shape[j]:
                b = _c.sum(b, j, True).to(b.dtype)
            elif b.shape[j] == 1 != a.shape[i]:
                a = _c.sum(a, i, True).to(a.dtype)
    return _c.tensordot(a, b, axes=dims if isinstance(dims, int) else tuple(list(part) for part in dims))


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of a vector as columns, beginning with the highest power, or with `increasing` with the lowest. Whole
    numbers and bool become int64."""
    x = x if _c.isdtype(x.dtype, "real floating") else x.to(_c.int64)
    n = x.shape[-1] if N is None else N
    powers = _c.arange(n, device=x.device)
    return _c.pow(x.unsqueeze(-1), (powers if increasing else n - 1 - powers).to(x.dtype))


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The integral of y along an axis by trapezoids, for positions x or for equal distances dx."""
    return _c.sum(_trapezoids(y, x, dx, dim), axis=dim) / 2


trapz = trapezoid


def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The running integral of y along an axis by trapezoids."""
    return _c.cumsum(_trapezoids(y, x, dx, dim), dim) / 2


def _trapezoids(y: Tensor, x: Tensor | None, dx: float, dim: int) -> Tensor:
    """Twice the area of each trapezoid."""
    n = y.shape[dim]
    sums = y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1)
    if x is None:
        return sums * dx
    if x.ndim == 1:
        x = x.reshape([-1 if i == dim % y.ndim else 1 for i in range(y.ndim)])
    return sums * (x.narrow(dim, 1, n - 1) - x.narrow(dim, 0, n - 1))


@_method(Tensor)
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> SVD:
    """input = U diag(S) Vᵀ for (…, m, n), with V as it is. With `some`, U and V have min(m, n) columns. linalg.svd() has
    other arguments, and its third result is Vᵀ. Without compute_uv, U and V are zeros."""
    from ..linalg import svd

    u, s, vh = svd(input, not some)
    if not compute_uv:
        m, n = input.shape[-2:]
        u = _c.zeros((*input.shape[:-2], m, m), dtype=input.dtype, device=input.device)
        return SVD(u, s, _c.zeros((*input.shape[:-2], n, n), dtype=input.dtype, device=input.device))
    return SVD(u, s, vh.mT)
