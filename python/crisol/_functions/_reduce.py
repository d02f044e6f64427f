"""Reductions and scans, with PyTorch's meaning."""

from collections.abc import Callable, Sequence
from typing import Any

from .. import _crisol as _c
from .._autocast import autocasts
from .._crisol import Tensor, dtype
from .._method import _method, _numpy_names, into, tell_once
from ._results import MinMax, ValuesIndices
from ._types import floats

__all__ = ["amax", "amin", "aminmax", "cdist", "cummax", "cummin", "cumprod", "cumsum", "dist", "logcumsumexp"]
__all__ += ["logsumexp", "max", "min", "nanmean", "nansum", "norm", "std", "std_mean", "var", "var_mean"]

Dims = int | Sequence[int] | None


def _one_axis(name: str, dim: Any) -> int:
    if isinstance(dim, (tuple, list)):
        raise TypeError(
            f"[{name}] takes one axis and gives (values, indices), as in PyTorch; a{name}() takes several axes"
        )
    return int(dim)


def _extreme(name: str, input: Tensor, dim: Any, keepdim: bool, other: Any, out: Any) -> Any:
    if other is not None or isinstance(dim, Tensor):
        return into(out, getattr(_c, f"{name}imum")(input, dim if other is None else other))
    if dim is None:
        return into(out, getattr(_c, name)(input))
    pair = getattr(_c, f"{name}_with_indices")(input, _one_axis(name, dim), keepdim)
    return into(out, ValuesIndices(*pair))


@_method(Tensor)
@_numpy_names
def max(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None) -> Any:
    """The largest element, or NaN if there is one. With `dim`, the largest elements along an axis and their positions:
    (values, indices). If `dim` is a tensor, the larger element of both tensors."""
    return _extreme("max", input, dim, keepdim, other, out)


@_method(Tensor)
@_numpy_names
def min(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None) -> Any:
    """The smallest element, or NaN if there is one. With `dim`, the smallest elements along an axis and their
    positions: (values, indices). If `dim` is a tensor, the smaller element of both tensors."""
    return _extreme("min", input, dim, keepdim, other, out)


@_method(Tensor)
@_numpy_names
def logsumexp(input: Tensor, dim: Dims = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(x))) along axes, without overflow."""
    x = floats(input)
    return into(out, _c.logsumexp(x, dim, keepdim))


@_method(Tensor)
@_numpy_names
def amax(input: Tensor, dim: Dims = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The largest element along axes, or of all of the tensor."""
    return into(out, _c.max(input, dim, keepdim))


@_method(Tensor)
@_numpy_names
def amin(input: Tensor, dim: Dims = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The smallest element along axes, or of all of the tensor."""
    return into(out, _c.min(input, dim, keepdim))


@_method(Tensor)
@_numpy_names
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> MinMax:
    """The smallest and the largest element, as (min, max)."""
    return MinMax(_c.min(input, dim, keepdim), _c.max(input, dim, keepdim))


def _correction(name: str, dim: Any, unbiased: bool | None, correction: float | None) -> tuple[Any, float]:
    if isinstance(dim, bool):  # x.std(False)
        dim, unbiased = None, dim
    if correction is None:
        if unbiased is None:
            tell_once(name, f"{name}() divides by n - 1, as in PyTorch; {name}(correction=0) divides by n, as in 0.2")
        correction = 1.0 if unbiased is None else float(unbiased)
    return dim, float(correction)


@_method(Tensor)
@_numpy_names
def var(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
    correction: float | None = None, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The variance: sum((x - mean)^2) / max(0, n - correction). The default of correction is 1."""
    dim, correction = _correction("var", dim, unbiased, correction)
    return into(out, _c.var(input, dim, keepdim, correction=correction))


@_method(Tensor)
@_numpy_names
def std(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
    correction: float | None = None, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The square root of var()."""
    dim, correction = _correction("std", dim, unbiased, correction)
    return into(out, _c.std(input, dim, keepdim, correction=correction))


@_numpy_names
def var_mean(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The variance and the mean."""
    dim, correction = _correction("var", dim, unbiased, correction)
    return _c.var(input, dim, keepdim, correction=correction), _c.mean(input, dim, keepdim)


@_numpy_names
def std_mean(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The standard deviation and the mean."""
    dim, correction = _correction("std", dim, unbiased, correction)
    return _c.std(input, dim, keepdim, correction=correction), _c.mean(input, dim, keepdim)


@_method(Tensor)
@_numpy_names
def norm(
    input: Tensor, p: Any = "fro", dim: Dims = None, keepdim: bool = False, out: Tensor | None = None,
    dtype: dtype | None = None,
) -> Tensor:  # fmt: skip
    """The p-norm (sum |x|^p)^(1/p) along axes or of all elements; p may be infinite, and "fro" is 2. "nuc" is the nuclear
    norm of matrices."""
    if dim is None and not isinstance(p, (str, float)) and p in (-1, 0, 1):
        tell_once("norm", f"norm(x, {p}) is the {p}-norm, as in PyTorch; norm(x, dim={p}) is along an axis")
    x = input if dtype is None else input.to(dtype)
    if p == "nuc":
        from .. import linalg

        return into(out, linalg.matrix_norm(x, "nuc", (-2, -1) if dim is None else dim, keepdim))
    return into(out, _c.norm(x, p=2.0 if p in ("fro", None) else float(p), dim=dim, keepdim=keepdim))


@_method(Tensor)
@autocasts
def dist(input: Tensor, other: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm of input - other."""
    return _c.norm(input - other, p=float(p))


@autocasts
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The p-norm of the difference between each row of x1 (…, P, M) and each row of x2 (…, R, M), as (…, P, R).
    compute_mode has no effect: the differences themselves are summed."""
    return _c.norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p=float(p), axis=-1)


def _scan(input: Tensor, dim: int, better: Callable[[Tensor, Tensor], Tensor]) -> ValuesIndices:
    """The best element so far along an axis, computed in log2(n) steps. Among equal elements, the last is the best."""
    if input.ndim == 0:
        return ValuesIndices(input.clone(), _c.zeros_like(input, dtype=_c.int64))
    n, at = input.shape[dim], dim % input.ndim
    places = _c.arange(n, device=input.device).reshape([-1 if i == at else 1 for i in range(input.ndim)])
    with_no = _c._autograd.NoGrad()
    with_no.enter()
    try:
        values, indices = input.detach(), places.expand(input.shape).contiguous()
        step = 1
        while step < n:
            head, tail = values.narrow(at, 0, step), values.narrow(at, step, n - step)
            before = values.narrow(at, 0, n - step)
            keep = better(tail, before)
            indices = _c.concat([indices.narrow(at, 0, step), _c.where(
                keep, indices.narrow(at, step, n - step), indices.narrow(at, 0, n - step))], axis=at)  # fmt: skip
            values = _c.concat([head, _c.where(keep, tail, before)], axis=at)
            step *= 2
    finally:
        with_no.leave()
    return ValuesIndices(_c.gather(input, at, indices), indices)


@_method(Tensor)
@_numpy_names
def cummax(input: Tensor, dim: int) -> ValuesIndices:
    """The largest element so far along an axis, and its position."""
    return _scan(input, dim, lambda new, old: _c.logical_or(_c.ge(new, old), _c.ne(new, new)))


@_method(Tensor)
@_numpy_names
def cummin(input: Tensor, dim: int) -> ValuesIndices:
    """The smallest element so far along an axis, and its position."""
    return _scan(input, dim, lambda new, old: _c.logical_or(_c.le(new, old), _c.ne(new, new)))


@_method(Tensor)
@_numpy_names
def cumsum(input: Tensor, dim: int, *, dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The running sum along an axis. Integers and bool give int64."""
    result = _c.cumsum(input if dtype is None else input.to(dtype), dim)
    return into(out, result if dtype is None else result.to(dtype))


@_method(Tensor)
@_numpy_names
def cumprod(input: Tensor, dim: int, *, dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The running product along an axis. Integers and bool give int64."""
    result = _c.cumprod(input if dtype is None else input.to(dtype), dim)
    return into(out, result if dtype is None else result.to(dtype))


@_method(Tensor)
@_numpy_names
def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """log(cumsum(exp(x))) along an axis, without overflow."""
    return into(out, _c.logcumsumexp(input, dim))


@_method(Tensor)
@_numpy_names
@autocasts
def nansum(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor:
    """The sum of the elements that are not NaN."""
    return _c.sum(_c.where(_c.isnan(input), 0, input), dim, keepdim, dtype=dtype)


@_method(Tensor)
@_numpy_names
@autocasts
def nanmean(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor:
    """The mean of the elements that are not NaN."""
    count = _c.sum(_c.logical_not(_c.isnan(input)), dim, keepdim)
    return nansum(input, dim, keepdim, dtype=dtype) / count.to(input.dtype if dtype is None else dtype)
