"""The parts of the Array API standard that are written in Python: additional names and named results."""

from collections.abc import Sequence
from typing import NamedTuple

from .. import _crisol as _c
from .._crisol import Tensor, dtype
from .._functions import _order

__all__ = ["UniqueAll", "UniqueCounts", "UniqueInverse", "broadcast_arrays", "can_cast", "clip", "conj", "imag", "isin"]
__all__ += ["meshgrid", "positive", "real", "reshape", "searchsorted"]
__all__ += ["unique_all", "unique_counts", "unique_inverse", "unique_values", "unstack"]


def positive(x: Tensor, /) -> Tensor:
    """x itself."""
    return +x


def real(x: Tensor, /) -> Tensor:
    """x itself, because there are no complex dtypes."""
    return +x


def imag(x: Tensor, /) -> Tensor:
    """Zeros in the shape of x, because there are no complex dtypes."""
    return _c.zeros_like(x)


def conj(x: Tensor, /) -> Tensor:
    """x itself, because there are no complex dtypes."""
    return +x


def clip(x: Tensor, /, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
    """min(max(x, min), max) in the dtype of x. Each bound is a tensor or a number, or left out."""
    return _c._clip(x, min, max)


def total_dtype(x: Tensor, dtype: dtype | None) -> dtype | None:
    """The dtype of a sum of x: the standard adds numbers without a sign as uint64, where PyTorch adds them as int64."""
    return _c.uint64 if dtype is None and _c.isdtype(x.dtype, "unsigned integer") else dtype


# scikit-learn asks for the arguments of these two. Python cannot tell the arguments of a function of the extension.
def sum(
    x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, dtype: dtype | None = None, keepdims: bool = False
) -> Tensor:
    """The sum; 0 for no elements. Integers and bool are added as int64, or as uint64 without a sign, if no dtype is
    given."""
    return _c.sum(x, axis=axis, dtype=total_dtype(x, dtype), keepdims=keepdims)


def prod(
    x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, dtype: dtype | None = None, keepdims: bool = False
) -> Tensor:
    """The product; 1 for no elements. Integers and bool are multiplied as int64, or as uint64 without a sign, if no
    dtype is given."""
    return _c.prod(x, axis=axis, dtype=total_dtype(x, dtype), keepdims=keepdims)


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: dtype | None = None, include_initial: bool = False
) -> Tensor:
    """The running sum along an axis, in the dtype of sum()."""
    return _c.cumulative_sum(x, axis=axis, dtype=total_dtype(x, dtype), include_initial=include_initial)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: dtype | None = None, include_initial: bool = False
) -> Tensor:
    """The running product along an axis, in the dtype of prod()."""
    return _c.cumulative_prod(x, axis=axis, dtype=total_dtype(x, dtype), include_initial=include_initial)


def reshape(x: Tensor, /, shape: int | Sequence[int], *, copy: bool | None = None) -> Tensor:
    """The elements of x in another shape. One size may be -1. Without `copy`, the result is a view if the strides allow
    it."""
    y = x.reshape(shape)
    shared = y.shares_storage_with(x)
    if copy is False and not shared:
        raise ValueError("[reshape] the strides of x do not allow a view, but copy=False")
    return y.clone() if copy and shared else y


def can_cast(from_: dtype | Tensor, to: dtype, /) -> bool:
    """Whether a dtype, or the dtype of a tensor, is converted to `to` if a function takes both."""
    source = from_.dtype if isinstance(from_, Tensor) else from_
    return _c.promote_types(source, to) is to


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Views of all tensors with the shape to which they broadcast together."""
    return tuple(_c._broadcast_tensors(list(arrays)))


def isin(x1: Tensor | int, x2: Tensor | int, /, *, invert: bool = False) -> Tensor:
    """Whether each element of x1 is one of x2, as bool. One of the two may be a number."""
    return _order.isin(x1, x2, invert=invert)


def searchsorted(x1: Tensor, x2: Tensor | float, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """For each value of x2 the number (int64) of elements of the sorted x1 (n) below it, or with side="right" not above
    it."""
    return _order.searchsorted(x1, x2, side=side, sorter=sorter)


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Expands vectors of n_0, n_1, … elements to one grid. With "ij", the results are views of shape (n_0, n_1, …).
    "xy" exchanges the first two axes."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f'[meshgrid] indexing is {indexing!r}, allowed are "xy" and "ij"')
    if not arrays:
        return ()
    return tuple(_c._meshgrid(list(arrays), indexing == "xy"))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Views of the parts of x along an axis, as a tuple."""
    return tuple(_c._unstack(x, axis))


class UniqueAll(NamedTuple):
    """The result of unique_all()."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """The result of unique_counts()."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The result of unique_inverse()."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Tensor, /) -> UniqueAll:
    """The different values of x in order, the positions of their first elements, the position of each element's value,
    and the number of elements with each value. Waits for the device."""
    return UniqueAll(*_c.unique(x))


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """The different values of x in order, and the number of elements with each value. Waits for the device."""
    values, _, _, counts = _c.unique(x)
    return UniqueCounts(values, counts)


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """The different values of x in order, and the position of each element's value. Waits for the device."""
    values, _, inverse, _ = _c.unique(x)
    return UniqueInverse(values, inverse)


def unique_values(x: Tensor, /) -> Tensor:
    """The different values of x in order. Waits for the device."""
    return _c.unique(x)[0]
