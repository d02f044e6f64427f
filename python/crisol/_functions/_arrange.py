"""Functions that move elements, with PyTorch's names and arguments."""

import itertools
from collections.abc import Sequence
from typing import Any

from .. import _crisol as _c
from .._autocast import autocasts
from .._crisol import Tensor
from .._method import _method, _numpy_names, into, tell_once

__all__ = ["adjoint", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "broadcast_to", "cartesian_prod"]
__all__ += [
    "cat",
    "chunk",
    "column_stack",
    "combinations",
    "concat",
    "concatenate",
    "diff",
    "dsplit",
    "dstack",
    "flatten",
]
__all__ += [
    "flip",
    "fliplr",
    "flipud",
    "hsplit",
    "hstack",
    "meshgrid",
    "moveaxis",
    "movedim",
    "narrow",
    "narrow_copy",
    "permute",
    "ravel",
]
__all__ += [
    "repeat_interleave",
    "reshape",
    "roll",
    "rot90",
    "row_stack",
    "select",
    "split",
    "split_with_sizes",
    "squeeze",
]
__all__ += [
    "stack",
    "swapaxes",
    "swapdims",
    "t",
    "tensor_split",
    "tile",
    "transpose",
    "unbind",
    "unflatten",
    "unravel_index",
]
__all__ += ["unsqueeze", "vsplit", "vstack", "renorm"]

Dims = int | Sequence[int]


def _numbers(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The numbers in a call f(2, 3) or f((2, 3))."""
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else given


def _axis(name: str, dim: int, ndim: int) -> int:
    ndim = max(ndim, 1)
    if not -ndim <= dim < ndim:
        raise _c.OutOfRangeError(f"[{name}] axis {dim} does not exist, there are {ndim} axes")
    return dim % ndim


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merges the axes start_dim to end_dim into one axis."""
    return input.flatten(start_dim, end_dim)


@_method(Tensor)
def ravel(input: Tensor) -> Tensor:
    """All elements as a vector."""
    return input.reshape(-1)


@_method(Tensor)
@_numpy_names
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Divides an axis into several axes. One size may be -1."""
    at = _axis("unflatten", dim, input.ndim)
    return input.reshape((*input.shape[:at], *sizes, *input.shape[at + 1 :]))


def reshape(input: Tensor, shape: Dims, *, copy: bool | None = None) -> Tensor:
    """The elements of a tensor in another shape. One size may be -1. Without `copy`, the result is a view if the
    strides allow it."""
    y = input.reshape(shape)
    shared = y.shares_storage_with(input)
    if copy is False and not shared:
        raise ValueError("[reshape] the strides of the tensor do not allow a view, but copy=False")
    return y.clone() if copy and shared else y


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with two axes exchanged."""
    return input.transpose(dim0, dim1)


@_method(Tensor)
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """A view with two axes exchanged."""
    return input.transpose(axis0, axis1)


@_method(Tensor)
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with two axes exchanged."""
    return input.transpose(dim0, dim1)


def t(input: Tensor) -> Tensor:
    """The transposed matrix."""
    return input.t()


@_method(Tensor)
def adjoint(input: Tensor) -> Tensor:
    """A view with the last two axes exchanged."""
    return input.mT


def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """A view whose axis i is axis dims[i] of the tensor."""
    return input.permute(*dims)


@_method(Tensor)
def movedim(input: Tensor, source: Dims, destination: Dims) -> Tensor:
    """A view with axes moved to other positions."""
    return _c.moveaxis(input, source, destination)


@_method(Tensor)
def moveaxis(input: Tensor, source: Dims, destination: Dims) -> Tensor:
    """A view with axes moved to other positions."""
    return _c.moveaxis(input, source, destination)


@_numpy_names
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A view with a new axis of size 1 before `dim`."""
    return input.unsqueeze(dim)


@_method(Tensor)
@_numpy_names
def squeeze(input: Tensor, dim: Dims | None = None) -> Tensor:
    """A view without axes of size 1. Only the axes of `dim` are removed, if it is given."""
    if dim is None:
        return _c.squeeze(input)
    axes = [_axis("squeeze", d, input.ndim) for d in ([dim] if isinstance(dim, int) else dim)]
    return _c.squeeze(input, [d for d in axes if input.ndim and input.shape[d] == 1])


@_numpy_names
def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """A view of the elements start to start + length - 1 along an axis."""
    return input.narrow(dim, start, length)


@_method(Tensor)
@_numpy_names
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """A copy of narrow()."""
    return input.narrow(dim, start, length).clone()


@_numpy_names
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """A view of one element along an axis."""
    return input.select(dim, index)


@_numpy_names
def flip(input: Tensor, dims: Dims | None = None, *, dim: Dims | None = None) -> Tensor:
    """A copy with the elements along axes in the opposite order."""
    return _c.flip(input, axis=dim if dims is None else dims)


def _flip(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """A copy with the elements along axes in the opposite order."""
    return _c.flip(input, axis=_numbers(dims) if dims else next(iter(named.values()), None))


Tensor.flip = _flip


@_method(Tensor)
def fliplr(input: Tensor) -> Tensor:
    """A copy with the opposite order along axis 1."""
    return _c.flip(input, axis=1)


@_method(Tensor)
def flipud(input: Tensor) -> Tensor:
    """A copy with the opposite order along axis 0."""
    return _c.flip(input, axis=0)


@_method(Tensor)
@_numpy_names
def roll(input: Tensor, shifts: Any = None, dims: Any = None, *, dim: Any = None, shift: Any = None) -> Tensor:
    """Moves elements along axes. Elements that leave at one end enter at the other end. Without axes, the tensor is
    treated as a vector."""
    dims = dim if dims is None else dims
    return _c.roll(input, shift if shifts is None else shifts, None if dims == () else dims)


@_method(Tensor)
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Rotates the plane of two axes k times by 90 degrees, from the first axis to the second."""
    first, second = dims
    if k % 4 == 0:
        return input.clone()
    if k % 4 == 2:
        return _c.flip(input, axis=[first, second])
    if k % 4 == 1:
        return _c.flip(input, axis=second).transpose(first, second)
    return _c.flip(input.transpose(first, second), axis=second)


def tile(input: Tensor, dims: Dims) -> Tensor:
    """Repeats a tensor along its last axes."""
    return _c.tile(input, dims)


def _tile(input: Tensor, *repeats: Any, dims: Any = ()) -> Tensor:
    """Repeats the tensor along its last axes."""
    return _c.tile(input, _numbers(repeats or dims))


Tensor.tile = _tile


@_method(Tensor)
@_numpy_names
def repeat_interleave(
    input: Tensor, repeats: int | Tensor | None = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeats each element along an axis: `repeats` times, or element i repeats[i] times. Without an axis, the tensor
    is treated as a vector. repeat_interleave(counts) repeats the positions 0, 1, …."""
    if repeats is None:
        return _c.repeat(_c.arange(input.shape[0], device=input.device), input, axis=0)
    return _c.repeat(input, repeats, axis=dim)


def _without_empty(tensors: list[Tensor]) -> list[Tensor]:
    """PyTorch leaves out tensors of shape (0), if others have another rank."""
    return [x for x in tensors if not isinstance(x, Tensor) or x.shape != (0,)] or tensors


@_numpy_names
def cat(tensors: Sequence[Tensor], dim: int | None = 0, *, out: Tensor | None = None) -> Tensor:
    """Joins tensors one after another along an axis. They are converted to one dtype."""
    return into(out, _c.cat(_without_empty(list(tensors)), dim))


def concat(
    tensors: Sequence[Tensor], dim: int | None = 0, *, axis: int | None = 0, out: Tensor | None = None
) -> Tensor:
    """cat(). With axis=None, the tensors are joined as vectors."""
    return cat(tensors, axis if dim == 0 else dim, out=out)


@_numpy_names
def concatenate(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """cat()."""
    return cat(tensors, dim, out=out)


@_numpy_names
def stack(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Joins tensors of one shape along a new axis."""
    return into(out, _c.stack(list(tensors), dim))


def atleast_1d(*tensors: Any) -> Any:
    """Tensors with at least one axis."""
    return _each(tensors, lambda x: x if x.ndim else x.reshape(1))


def atleast_2d(*tensors: Any) -> Any:
    """Tensors with at least two axes. A vector becomes a row."""
    return _each(tensors, lambda x: x if x.ndim > 1 else x.reshape((1, -1)))


def atleast_3d(*tensors: Any) -> Any:
    """Tensors with at least three axes."""
    return _each(tensors, lambda x: x if x.ndim > 2 else x.unsqueeze(-1) if x.ndim == 2 else x.reshape((1, -1, 1)))


def _each(tensors: tuple[Any, ...], function: Any) -> Any:
    given = _numbers(tensors)
    found = tuple(function(x) for x in given)
    return found[0] if len(tensors) == 1 and isinstance(tensors[0], Tensor) else found


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joins tensors along axis 1. Vectors are joined along axis 0."""
    parts = [x if x.ndim else x.reshape(1) for x in tensors]
    return _c.cat(parts, 0 if parts[0].ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joins tensors along axis 0. A vector is treated as a row."""
    return _c.cat([x if x.ndim > 1 else x.reshape((1, -1)) for x in tensors], 0)


row_stack = vstack


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joins tensors along axis 2."""
    return _c.cat([atleast_3d(x) for x in tensors], 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Joins vectors as columns, and matrices along axis 1."""
    return hstack([x if x.ndim > 1 else x.reshape((-1, 1)) for x in tensors])


@_method(Tensor)
@_numpy_names
def split(input: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views along an axis. They have one size (the last may be smaller), or the given sizes."""
    return tuple(_c.split(input, split_size_or_sections, dim))


@_method(Tensor)
@_numpy_names
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the given sizes along an axis."""
    return tuple(_c.split(input, list(split_sizes), dim))


@_method(Tensor)
@_numpy_names
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` views of equal size."""
    return tuple(_c.chunk(input, chunks, dim))


@_method(Tensor)
@_numpy_names
def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None, sections: int | None = None
) -> tuple[Tensor, ...]:
    """Views along an axis: `sections` views of nearly the same size, or views that end at given positions."""
    given = next(value for value in (indices_or_sections, indices, sections) if value is not None)
    given = given.tolist() if isinstance(given, Tensor) else given
    n = input.shape[dim]
    if isinstance(given, int):
        ends = [(i + 1) * (n // given) + min(i + 1, n % given) for i in range(given)]
    else:
        ends = [*(slice(i).indices(n)[1] for i in given), n]
    starts = [0, *ends[:-1]]
    return tuple(input.narrow(dim, min(a, n), max(b - a, 0)) for a, b in zip(starts, ends))


@_method(Tensor)
def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """tensor_split() along axis 1. A vector is split along axis 0."""
    return tensor_split(input, indices_or_sections, 0 if input.ndim == 1 else 1)


@_method(Tensor)
def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """tensor_split() along axis 0."""
    return tensor_split(input, indices_or_sections, 0)


@_method(Tensor)
def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """tensor_split() along axis 2."""
    return tensor_split(input, indices_or_sections, 2)


@_method(Tensor)
@_numpy_names
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the parts of a tensor along an axis."""
    return tuple(_c._unstack(input, dim))


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of all tensors with the shape to which they broadcast together."""
    return tuple(_c._broadcast_tensors(list(tensors)))


@_method(Tensor)
def broadcast_to(input: Tensor, size: Dims) -> Tensor:
    """Repeats axes of size 1 without a copy."""
    return _c.broadcast_to(input, size)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Expands vectors of n_0, n_1, … elements to one grid. With "ij", the results are views of shape (n_0, n_1, …).
    "xy" exchanges the first two axes."""
    if indexing not in (None, "xy", "ij"):
        raise ValueError(f'[meshgrid] indexing is {indexing!r}, allowed are "xy" and "ij"')
    if indexing is None:
        tell_once("meshgrid", 'meshgrid() has the indexing "ij", as in PyTorch; in 0.2 it was "xy"')
    given = _numbers(tensors)
    return tuple(_c._meshgrid(list(given), indexing == "xy")) if given else ()


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All tuples with one element of each vector, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    return _c.stack([x.reshape(-1) for x in _c._meshgrid(list(tensors), False)], axis=1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of r elements of a vector, as rows."""
    chosen = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = list(chosen(range(input.shape[0]), r))
    index = _c.asarray(places or [0], dtype=_c.int64, device=input.device)
    return input[index] if places else input[:0].reshape((0, r))


@_method(Tensor)
@_numpy_names
def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The differences x[i + 1] - x[i] along an axis, n times. `prepend` and `append` are joined to the tensor first."""
    if n == 0:
        return input.clone()
    return _c.diff(input, n=n, axis=dim, prepend=prepend, append=append)


def unravel_index(indices: Tensor, shape: Dims) -> tuple[Tensor, ...]:
    """Converts positions among all elements to positions along each axis."""
    found: list[Tensor] = []
    indices = indices.to(_c.int64)
    for size in reversed([shape] if isinstance(shape, int) else list(shape)):
        found.insert(0, _c.remainder(indices, size))
        indices = _c.floor_divide(indices, size)
    return tuple(found)


@_method(Tensor)
@autocasts
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Scales each part along an axis so that its p-norm is at most maxnorm."""
    others = [i for i in range(input.ndim) if i != dim % input.ndim]
    norms = _c.norm(input, others, True, p=float(p))
    return input * _c.where(_c.gt(norms, maxnorm), maxnorm / (norms + 1e-7), 1.0)
