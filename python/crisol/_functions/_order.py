"""Functions that find elements and put them in order, with PyTorch's meaning."""

from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._method import _method, _numpy_names, into, tell_once
from ._results import ValuesIndices
from ._types import iinfo

__all__ = ["argwhere", "bucketize", "isin", "msort", "nonzero", "nonzero_static", "searchsorted", "sort", "topk"]
__all__ += ["unique", "all", "any", "unique_consecutive"]


@_method(Tensor)
@_numpy_names
def sort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False, *, out: Any = None
) -> ValuesIndices:
    """The elements along an axis from small to large, or with `descending` from large to small, and their positions:
    (values, indices). NaN counts as largest. Equal elements keep their order, so `stable` changes nothing."""
    return into(out, ValuesIndices(*_c.sort_with_indices(input, dim, descending)))


@_method(Tensor)
@_numpy_names
def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *, out: Any = None
) -> ValuesIndices:
    """The k largest (or smallest) elements along an axis and their positions: (values, indices), always sorted."""
    return into(out, ValuesIndices(*_c.topk(input, k, dim, largest)))


@_method(Tensor)
def msort(input: Tensor) -> Tensor:
    """The elements along the first axis from small to large."""
    return _c.sort(input, 0)


@_method(Tensor)
@_numpy_names
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """The positions of the elements that are not 0. The result is (N, rank) with a row for each element, or with
    as_tuple one tensor for each axis. Waits for the device."""
    if not as_tuple and out is None:
        tell_once("nonzero", "nonzero() gives a matrix, as in PyTorch; as_tuple=True gives a tensor for each axis")
    return _c.nonzero(input if input.ndim else input.reshape(1)) if as_tuple else into(out, _positions(input))


def _positions(input: Tensor) -> Tensor:
    columns = _c.nonzero(input if input.ndim else input.reshape(1))
    return _c.stack(list(columns), axis=1) if input.ndim else columns[0].unsqueeze(1)[:, :0]


@_method(Tensor)
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1, out: Tensor | None = None) -> Tensor:
    """The first `size` rows of nonzero(), and rows of fill_value where there are fewer. Waits for the device."""
    found = _positions(input)[:size]
    more = _c.full((size - found.shape[0], input.ndim), fill_value, dtype=found.dtype, device=found.device)
    return into(out, _c.cat([found, more], 0))


@_method(Tensor)
def argwhere(input: Tensor) -> Tensor:
    """The positions of the elements that are not 0, as (N, rank) with a row for each element. Waits for the device."""
    return _positions(input)


@_method(Tensor)
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """The different values in order. return_inverse adds the position of each element's value, and return_counts adds
    the number of elements with each value. With `dim`, slices along this axis are compared. Waits for the device."""
    if not (return_inverse or return_counts):
        tell_once("unique", "unique() gives the values alone, as in PyTorch; array_api.unique_all() gives four tensors")
    values, _, inverse, counts = _c.unique(input, sorted, axis=dim)
    found = [values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    return values if len(found) == 1 else tuple(found)


@_method(Tensor)
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The values without consecutive repetitions. Waits for the device."""
    x = input.reshape(-1) if dim is None else input.movedim(dim, 0)
    n = x.shape[0]
    changed = _c.ne(x[1:], x[:-1]) if n else _c.zeros(0, dtype=_c.bool, device=x.device)
    if changed.ndim > 1:
        changed = _c.any(changed, axis=tuple(range(1, changed.ndim)))
    first = _c.concat([_c.ones(min(n, 1), dtype=_c.bool, device=x.device), changed])
    (places,) = _c.nonzero(first)
    values = _c.index_select(x, 0, places)
    found = [values if dim is None else values.movedim(0, dim)]
    if return_inverse:
        inverse = _c.cumsum(first, 0) - 1
        found.append(inverse.reshape(input.shape) if dim is None else inverse)
    if return_counts:
        found.append(_c.diff(places, append=_c.full(1, n, dtype=_c.int64, device=x.device)))
    return found[0] if len(found) == 1 else tuple(found)


def _tensor_beside(value: Tensor | float, other: Tensor | float) -> Tensor:
    """A number as a function of the other tensor takes it: in the tensor's dtype, if the dtype has the number."""
    if isinstance(value, Tensor) or not isinstance(other, Tensor):
        return _c.asarray(value)
    kind = _c.result_type(other, value)
    fits = not _c.isdtype(kind, "integral") or iinfo(kind).min <= value <= iinfo(kind).max
    return _c.asarray(value, dtype=kind if fits else None, device=other.device)


def searchsorted(
    sorted_sequence: Tensor, input: Tensor | float, *, out_int32: bool = False, right: bool = False,
    side: str | None = None, sorter: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """For each value of `input`, the number of elements of the sorted sequence below it. With `right`, elements equal
    to the value count too. A sequence of several axes has one row for each row of `input`."""
    if side not in (None, "left", "right"):
        raise _c.InvalidArgumentError(f"[searchsorted] side is {side!r}, allowed are 'left' and 'right'")
    right = right or side == "right"
    values = _tensor_beside(input, sorted_sequence)
    both = _c.promote_types(sorted_sequence.dtype, values.dtype)
    sequence, values = sorted_sequence.to(both), values.to(both)
    if sequence.ndim > 1:
        if sorter is not None:
            sequence = _c.gather(sequence, -1, sorter)
        below = (_c.le if right else _c.lt)(sequence.unsqueeze(-2), values.unsqueeze(-1))
        found = _c.sum(below, axis=-1)
    else:
        found = _c.searchsorted(sequence, values, side="right" if right else "left", sorter=sorter)
    return found.to(_c.int32) if out_int32 else found


def bucketize(input: Tensor | float, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The number of boundaries below each value. With `right`, boundaries equal to the value count too."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def isin(
    elements: Tensor | float, test_elements: Tensor | float, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Whether each element is one of the test elements, as bool."""
    first, second = _tensor_beside(elements, test_elements), _tensor_beside(test_elements, elements)
    return _c.isin(first, second, invert=invert)


@_method(Tensor)
@_numpy_names
def all(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether all elements are not 0, along axes or in the whole tensor. As in PyTorch, uint8 gives uint8."""
    return _truth(_c.all, input, dim, keepdim, out)


@_method(Tensor)
@_numpy_names
def any(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether an element is not 0, along axes or in the whole tensor. As in PyTorch, uint8 gives uint8."""
    return _truth(_c.any, input, dim, keepdim, out)


def _truth(function: Any, input: Tensor, dim: Any, keepdim: bool, out: Tensor | None) -> Tensor:
    result = function(input, axis=dim, keepdims=keepdim)
    return into(out, result.to(_c.uint8) if input.dtype is _c.uint8 else result)
