"""Functions that read and write elements by positions, with PyTorch's meaning."""

import functools
import math
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._method import F, _method, _numpy_names, into, tell_once
from ._order import nonzero
from ._types import iinfo

__all__ = [
    "gather",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_reduce",
    "index_select",
    "masked_scatter",
]
__all__ += [
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "take",
    "take_along_dim",
    "where",
    "as_strided", "as_strided_scatter", "diagonal_scatter",
    "select_scatter",
]
__all__ += ["slice_scatter", "put"]


def where(condition: Any, input: Any = None, other: Any = None, *, out: Tensor | None = None) -> Any:
    """`input` where the condition is not 0, and `other` elsewhere. where(condition) gives the positions of elements
    that are not 0, as one tensor for each axis. It waits for the device."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    return into(out, _c.where(condition, input, other))


def _where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """The elements where the condition is true, else those of `other`."""
    return _c.where(condition, self, other)


Tensor.where = _where


def _bools_as_numbers(function: F) -> F:
    """A decorator. The function then takes tensors of bool, too: a sum is "or", and a product is "and"."""

    @functools.wraps(function)
    def call(input: Tensor, *args: Any, **named: Any) -> Any:
        if input.dtype != _c.bool:
            return function(input, *args, **named)
        values = [_number_of(value) for value in args]
        found = function(_number_of(input), *values, **{name: _number_of(value) for name, value in named.items()})
        return _c.ne(found, 0)

    return call  # type: ignore[return-value]


def _number_of(value: Any) -> Any:
    return value.to(_c.int32) if isinstance(value, Tensor) and value.dtype == _c.bool else value


@_method(Tensor)
def take(input: Tensor, index: Tensor, *, axis: int | None = None) -> Tensor:
    """The elements at positions among all elements. The result has the shape of the positions."""
    if axis is not None or (input.ndim > 1 and index.ndim == 0):
        tell_once("take", "take() counts positions among all elements, as in PyTorch; array_api.take() has an axis")
    if axis is not None:
        return _c.take(input, index, axis=axis)
    return _c.take(input.reshape(-1), index.reshape(-1), axis=0).reshape(index.shape)


@_method(Tensor)
@_bools_as_numbers
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy in which elements at positions among all elements are replaced."""
    flat = _c._index_put(input.reshape(-1), [index.reshape(-1)], source.reshape(-1), accumulate)
    return flat.reshape(input.shape)


@_method(Tensor)
@_numpy_names
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """y[i, j, k] = x[i, indices[i, j, k], k] for axis 1 of rank 3. The other axes broadcast. Without an axis, the
    tensor is treated as a vector."""
    if dim is None:
        return _c.take_along_axis(input.reshape(-1), indices.reshape(-1), axis=0)
    return _c.take_along_axis(input, indices, axis=dim)


@_method(Tensor)
@_numpy_names
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None) -> Tensor:
    """y[i, j, k] = x[i, index[i, j, k], k] for axis 1 of rank 3."""
    if index.numel() == 0:  # Of any shape.
        return into(out, input.flatten()[:0].reshape(index.shape))
    return into(out, _c.gather(input, dim, index))


@_method(Tensor)
@_numpy_names
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The slices index[0], index[1], … of a tensor along an axis."""
    return into(out, _c.index_select(input, dim, index))


def _source(input: Tensor, index: Tensor, src: Any) -> Tensor:
    """The elements of `src` that belong to the positions of an index. The index may be smaller than `src`."""
    if not isinstance(src, Tensor):
        return _c.full(index.shape, src, dtype=input.dtype, device=input.device)
    for axis, size in enumerate(index.shape):
        if src.ndim == index.ndim and src.shape[axis] > size:
            src = src.narrow(axis, 0, size)
    return src


_REDUCTIONS = {"add": "sum", "multiply": "prod"}


@_method(Tensor)
@_numpy_names
@_bools_as_numbers
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """A copy in which y[i, index[i, j, k], k] = src[i, j, k] for axis 1 of rank 3. `src` may be a number. With
    `reduce`, "add" or "multiply", the old elements are combined with `src`."""
    source = _source(input, index, value if src is None else src)
    if reduce is None:
        return _c.scatter(input, dim, index, source)
    if reduce not in _REDUCTIONS:
        raise _c.InvalidArgumentError(f"[scatter] reduce is {reduce!r}, allowed are 'add' and 'multiply'")
    return _c.scatter_reduce(input, dim, index, source, _REDUCTIONS[reduce])


@_method(Tensor)
@_numpy_names
@_bools_as_numbers
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy with y[i, index[i, j, k], k] += src[i, j, k] for axis 1 of rank 3."""
    return _c.scatter_add(input, dim, index, _source(input, index, src))


def _reduced(
    function: Any, input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
) -> Tensor:
    start = input
    if not include_self:
        neutral: Any = 1 if reduce == "prod" else 0
        if reduce in ("amax", "amin"):
            is_float = _c.isdtype(input.dtype, "real floating")
            low, high = (-math.inf, math.inf) if is_float else (iinfo(input.dtype).min, iinfo(input.dtype).max)
            neutral = low if reduce == "amax" else high
        put = _c.scatter if function is _c.scatter_reduce else _c.index_copy
        start = put(input, dim, index, _c.full_like(src, neutral))
    if reduce != "mean":
        return function(start, dim, index, src, reduce)
    ones = _c.ones_like(src)
    count = function(
        _c.ones_like(input) if include_self else put(_c.ones_like(input), dim, index, ones * 0), dim, index, ones, "sum"
    )
    total = function(start, dim, index, src, "sum")
    return _c.div(total, count) if _c.isdtype(input.dtype, "real floating") else _c.floor_divide(total, count)


@_method(Tensor)
@_numpy_names
@_bools_as_numbers
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Like scatter_add(), with another way to combine the old value of a position and its elements. reduce is "sum",
    "prod", "mean", "amax" or "amin". Without include_self, the old value does not count. Equal extremes share their
    gradient."""
    return _reduced(_c.scatter_reduce, input, dim, index, _source(input, index, src), reduce, include_self)


@_method(Tensor)
@_numpy_names
def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor | None = None, reduce: str = "", *,
    include_self: bool = True, src: Tensor | None = None,
) -> Tensor:  # Like index_add(), with another way to combine the old slice of a position and new slices, as in
              # scatter_reduce().
    """index_add() with another way to combine the slices for one place and the old slice, as in scatter_reduce()."""
    given = source if src is None else src
    assert given is not None, "index_reduce() needs a source"
    return _reduced(_c.index_reduce, input, dim, index, given, reduce, include_self)


@_method(Tensor)
@_numpy_names
@_bools_as_numbers
def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor | None = None, *, alpha: float = 1, src: Tensor | None = None
) -> Tensor:
    """A copy with slice j of the source, times alpha, added to slice index[j] along the axis."""
    given = source if src is None else src
    assert given is not None, "index_add() needs a source"
    return _c.index_add(input, dim, index, given if alpha == 1 else given * alpha)


@_method(Tensor)
@_numpy_names
def index_copy(
    input: Tensor, dim: int, index: Tensor, source: Tensor | None = None, *, src: Tensor | None = None
) -> Tensor:
    """A copy in which slice j of the source replaces slice index[j]."""
    given = source if src is None else src
    assert given is not None, "index_copy() needs a source"
    return _c.index_copy(input, dim, index, given)


@_method(Tensor)
@_numpy_names
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy in which the slices at some positions along an axis have one value."""
    if input.ndim == 0:
        return index_fill(input.reshape(1), 0, index, value).reshape(())
    shape = list(input.shape)
    shape[dim] = index.numel()
    if isinstance(value, Tensor):
        source = value.to(input.dtype).expand(shape)
    else:
        source = _c.full(shape, value, dtype=input.dtype, device=input.device)
    return _c.index_copy(input, dim, index.reshape(-1), source)


@_method(Tensor)
@_bools_as_numbers
def index_put(input: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """A copy in which values replace the elements at given positions (one tensor for each axis). With `accumulate` they
    are added."""
    return _c._index_put(input, list(indices), values, accumulate)


@_method(Tensor)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy in which the elements of the source, one after another, replace the elements where the mask is true."""
    shape = _c.broadcast_shapes(input.shape, mask.shape)
    full, input = mask.expand(shape), input.expand(shape)
    order = _c.cumsum(full.reshape(-1), 0) - 1
    chosen = _c.take(source.reshape(-1), _c._clip(order, 0, source.numel() - 1), axis=0).reshape(input.shape)
    return _c.where(full, chosen, input)


@_method(Tensor)
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of the memory of `input` with any sizes and strides, in elements. It begins where `input` begins, or
    `storage_offset` elements into the memory. Nothing can be written to indices that mean one element."""
    return _c.as_strided(input, size, stride, storage_offset)


@_method(Tensor)
def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A copy in which `src` replaces the elements that as_strided() gives."""
    y = input.clone()
    y.as_strided(size, stride, storage_offset).copy_(src)
    return y


@_method(Tensor)
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy in which `src` replaces one element along an axis."""
    y = input.clone()
    y.select(dim, index).copy_(src)
    return y


@_method(Tensor)
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy with `src` in the place of a diagonal."""
    y = input.clone()
    y.diagonal(offset, dim1, dim2).copy_(src)
    return y


@_method(Tensor)
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy in which `src` replaces a slice along an axis."""
    y = input.clone()
    y[(slice(None),) * (dim % input.ndim) + (slice(start, end, step),)] = src
    return y
