"""Functions of the order or the counts of elements: medians, quantiles and histograms, with PyTorch's meaning."""

import builtins
import math
from collections.abc import Sequence
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._method import _method, _numpy_names
from ._reduce import cummax
from ._results import Histogram, ValuesIndices

__all__ = ["bincount", "histc", "histogram", "kthvalue", "median", "mode", "nanmedian", "nanquantile", "quantile"]


def _sorted_along(input: Tensor, dim: int | None) -> tuple[Tensor, Tensor, int]:
    """Sorted elements, their positions, and the axis. Without an axis, all elements are sorted as a vector."""
    x = input.reshape(-1) if dim is None or input.ndim == 0 else input
    at = 0 if dim is None or input.ndim == 0 else dim
    values, indices = _c.sort_with_indices(x, at)
    return values, indices, at


def _kept(value: Tensor, input: Tensor, dim: int, keepdim: bool) -> Tensor:
    return value if input.ndim == 0 or not keepdim else value.unsqueeze(dim if dim >= 0 else dim + input.ndim)


def _pick(input: Tensor, values: Tensor, indices: Tensor, at: int, place: Any, dim: Any, keepdim: bool) -> Any:
    """The elements at a position among the sorted elements. The position is one number, or one for each row."""
    if isinstance(place, Tensor):
        place = place.unsqueeze(at if at >= 0 else at + values.ndim)
        value, index = _c.gather(values, at, place).squeeze(at), _c.gather(indices, at, place).squeeze(at)
    else:
        value, index = values.select(at, place), indices.select(at, place)
    if dim is None:
        return _shared(input, value.detach()) if input.requires_grad else value
    return ValuesIndices(_kept(value, input, dim, keepdim), _kept(index, input, dim, keepdim))


def _shared(input: Tensor, value: Tensor) -> Tensor:
    """The value. Its gradient is divided among the elements that are equal to it, as in PyTorch."""
    is_same = _c.logical_or(_c.eq(input, value), _c.logical_and(_c.isnan(input), _c.isnan(value)))
    return _c.max(_c.where(is_same, input, -math.inf))


def _float_tests(x: Tensor) -> bool:
    return _c.isdtype(x.dtype, "real floating")


@_method(Tensor)
@_numpy_names
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower median of all elements, or along an axis as (values, indices). NaN if one of the elements is NaN."""
    values, indices, at = _sorted_along(input, dim)
    n = values.shape[at]
    place: Any = (n - 1) // 2
    if _float_tests(values):  # NaN is last.
        last_is_nan = _c.isnan(values.select(at, n - 1))
        place = _c.where(last_is_nan, n - 1, place)
    return _pick(input, values, indices, at, place, dim, keepdim)


@_method(Tensor)
@_numpy_names
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower median of the elements that are not NaN."""
    values, indices, at = _sorted_along(input, dim)
    place: Any = (values.shape[at] - 1) // 2
    if _float_tests(values):
        count = _c.sum(_c.logical_not(_c.isnan(values)), axis=at)
        place = _c.floor_divide(_c.maximum(count, 1) - 1, 2)
    return _pick(input, values, indices, at, place, dim, keepdim)


@_method(Tensor)
@_numpy_names
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """The k-th smallest elements along an axis and their positions. k counts from 1."""
    values, indices, at = _sorted_along(input, dim)
    if not 1 <= k <= values.shape[at]:
        raise _c.InvalidArgumentError(f"[kthvalue] k is {k}, and the axis has {values.shape[at]} elements")
    found = _pick(input, values, indices, at, k - 1, dim, keepdim)
    return ValuesIndices(*found)


@_method(Tensor)
@_numpy_names
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """The most frequent element along an axis, and the last of its positions. Among several, the smallest element
    counts."""
    values, indices, at = _sorted_along(input, dim)
    n = values.shape[at]
    steps = _c.arange(n, device=input.device).reshape([-1 if i == at % values.ndim else 1 for i in range(values.ndim)])
    starts = _c.ne(values.narrow(at, 1, n - 1), values.narrow(at, 0, n - 1))
    first = _c.where(_c.concat([_c.ones_like(values.narrow(at, 0, 1), dtype=_c.bool), starts], axis=at), steps, 0)
    length = steps - cummax(first, at).values
    return ValuesIndices(*_pick(input, values, indices, at, _c.argmax(length, axis=at), dim, keepdim))


def _quantile(input: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, ignore_nan: bool) -> Tensor:
    ways = ("linear", "lower", "higher", "midpoint", "nearest")
    if interpolation not in ways:
        raise _c.InvalidArgumentError(f"[quantile] interpolation is {interpolation!r}, allowed are {ways}")
    levels = _c.asarray(q, dtype=input.dtype, device=input.device)
    if input.ndim == 0 and dim is not None:
        return _quantile(input.reshape(1), q, dim, False, interpolation, ignore_nan)
    values, _, at = _sorted_along(input, dim)
    values = values.unsqueeze(-1).transpose(at if at >= 0 else at - 1, -1).squeeze(at if at >= 0 else at - 1)
    n = values.shape[-1]
    known = _c.logical_not(_c.isnan(values))
    count = _c.sum(known, axis=-1, keepdims=True)  # NaN is last.
    place = levels.reshape(-1) * _c.maximum(count - 1, 0).to(input.dtype)
    below = {"higher": _c.ceil, "nearest": _c.round}.get(interpolation, _c.floor)(place)
    above = {"lower": _c.floor, "higher": _c.ceil, "nearest": _c.round}.get(interpolation, _c.ceil)(place)
    low, high = (_c.gather(values, -1, end.to(_c.int64)) for end in (below, above))
    part: Any = 0.5 if interpolation == "midpoint" else (place - below)
    result = low + (high - low) * part
    if not ignore_nan:
        result = _c.where(count < n, float("nan"), result)
    result = result.unsqueeze(0).transpose(0, -1).squeeze(-1)
    if keepdim:
        result = result.reshape((-1, *[1] * input.ndim)) if dim is None else result.unsqueeze(dim % input.ndim + 1)
    return result if levels.ndim else result.squeeze(0)


@_method(Tensor)
@_numpy_names
def quantile(
    input: Tensor, q: float | Tensor, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The q-th quantiles of all elements or along an axis. q is a number or a vector. NaN if one of the elements is
    NaN."""
    return _quantile(input, q, dim, keepdim, interpolation, False)


@_method(Tensor)
@_numpy_names
def nanquantile(
    input: Tensor, q: float | Tensor, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """quantile() of the elements that are not NaN."""
    return _quantile(input, q, dim, keepdim, interpolation, True)


@_method(Tensor)
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each whole number 0, 1, … occurs in a vector, or the sum of the weights at its positions. Waits for the
    device."""
    if input.ndim != 1 or _c.isdtype(input.dtype, ("real floating", "bool")):
        raise _c.InvalidArgumentError(f"[bincount] takes a whole vector, not {input.dtype} {tuple(input.shape)}")
    size = minlength
    if input.numel():
        if _c.min(input).item() < 0:
            raise _c.InvalidArgumentError(f"[bincount] the element {_c.min(input).item()} is negative")
        size = builtins.max(size, int(_c.max(input).item()) + 1)
    ones = _c.ones_like(input, dtype=_c.int64) if weights is None else weights
    if weights is not None and weights.dtype is not _c.float32:
        ones = weights.to(_c.float64)
    zeros = _c.zeros(size, dtype=ones.dtype, device=input.device)
    return _c.scatter_add(zeros, 0, input.to(_c.int64), ones) if input.numel() else zeros


def _bins(
    input: Tensor, bins: int, low: float, high: float, around: float = 1
) -> tuple[Tensor, Tensor, float, float]:
    """The bin of each element, and whether the element lies between the bounds."""
    x = input.reshape(-1)
    if low == high and x.numel():
        low, high = float(_c.min(x).item()), float(_c.max(x).item())
    if low == high and x.numel():
        low, high = low - around, high + around
    elif low == high:
        high = low + 1
    place = _c._clip(_c.floor((x - low) * (bins / (high - low))), 0, bins - 1)
    return place.to(_c.int64), _c.logical_and(_c.ge(x, low), _c.le(x, high)), low, high


@_method(Tensor)
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements lie in each of `bins` equal parts of [min, max]. Without bounds, the range of the elements is
    used."""
    place, within, _, _ = _bins(input, bins, float(min), float(max))
    return _c.scatter_add(_c.zeros(bins, dtype=input.dtype, device=input.device), 0, place, within.to(input.dtype))


@_method(Tensor)
def histogram(
    input: Tensor, bins: int | Tensor, *, range: Sequence[float] | None = None, weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:  # fmt: skip
    """The sums of the weights (or the numbers of elements) in `bins` equal parts of a range, or between bounds in a
    tensor, and the bounds of the parts."""
    x = input.reshape(-1)
    if isinstance(bins, Tensor):
        edges, count = bins, bins.numel() - 1
        place = _c.searchsorted(edges, x, side="right") - 1
        place = _c.where(_c.eq(x, edges[-1]), count - 1, place)
        within = _c.logical_and(_c.ge(place, 0), _c.lt(place, count))
        place = _c._clip(place, 0, count - 1).to(_c.int64)
    else:
        place, within, low, high = _bins(input, bins, *(range or (0.0, 0.0)), 0.5)
        edges, count = _c.linspace(low, high, bins + 1, dtype=input.dtype, device=input.device), bins
    counted = within.to(input.dtype) if weight is None else _c.where(within, weight.reshape(-1), 0)
    hist = _c.scatter_add(_c.zeros(count, dtype=input.dtype, device=input.device), 0, place, counted)
    if density:
        hist = hist / (_c.sum(hist) * (edges[1:] - edges[:-1]))
    return Histogram(hist, edges)
