"""Functions and methods that PyTorch has, made of others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import _crisol as _c
from .._autocast import autocasts
from .._crisol import Tensor
from .._method import _aliases, _method
from ._arrange import _numbers, chunk, split, swapaxes
from ._inplace import _moved
from ._results import Frexp
from ._sloped import sloped
from ._types import floats

__all__ = ["frexp", "gradient", "is_nonzero", "is_storage", "resolve_conj", "resolve_neg"]
__all__ += ["SymBool", "SymFloat", "SymInt", "are_deterministic_algorithms_enabled", "empty_strided", "fill"]
__all__ += ["fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine"]
__all__ += ["angle", "empty_permuted", "get_device_module", "unsafe_chunk", "unsafe_split", "while_loop"]


class SymInt:
    """The type of no value, because sizes are ints. It exists because programs compare types with it."""


class SymFloat:
    """The type of no value."""


class SymBool:
    """The type of no value."""


def get_device_module(device: Any = None) -> Any:
    """The module of GPU functions, crisol.cuda."""
    from .. import cuda

    return cuda


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any) -> Any:
    """Calls body_fn with its own results while cond_fn gives true. Waits for the device in each step."""
    carried = tuple(carried_inputs)
    while bool(cond_fn(*carried)):
        found = body_fn(*carried)
        carried = tuple(found) if isinstance(found, (tuple, list)) else (found,)
    return carried


def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like the input, with one value."""
    return input.clone().fill_(value)


def empty_strided(
    size: Sequence[int], stride: Sequence[int], *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of any values with these strides."""
    count = 1 + sum((n - 1) * step for n, step in zip(size, stride)) if math.prod(size) else 0
    made = _c.empty(count, dtype=dtype, device=device).as_strided(tuple(size), tuple(stride))
    return made.requires_grad_() if requires_grad else made


def empty_permuted(
    size: Sequence[int], physical_layout: Sequence[int], *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of any values whose axes lie in memory in the order `physical_layout`, outermost axis first."""
    if sorted(physical_layout) != list(range(len(size))):
        text = f"physical_layout must name each of the {len(size)} axes once, it is {tuple(physical_layout)}"
        raise _c.InvalidArgumentError(f"[empty_permuted] {text}")
    made = _c.empty(tuple(size[axis] for axis in physical_layout), dtype=dtype, device=device)
    made = made.permute(tuple(list(physical_layout).index(axis) for axis in range(len(size))))
    return made.requires_grad_() if requires_grad else made


@_method(Tensor)
def new_empty_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """empty_strided() with the dtype and device of this tensor."""
    return empty_strided(
        size, stride, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad
    )


@_method(Tensor)
def angle(input: Tensor) -> Tensor:
    """Pi for numbers below 0, 0 for others, and NaN for NaN."""
    x = floats(input)
    return _c.where(_c.isnan(x), x, _c.where(_c.lt(x, 0), math.pi, _c.zeros_like(x)))


def fake_quantize_per_tensor_affine(
    input: Tensor, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> Tensor:
    """The numbers that codes of a quantised tensor have: scale (q - zero_point) with q = round(x / scale) + zero_point,
    limited to quant_min … quant_max. The gradient passes where q was not limited."""
    if quant_min > quant_max:
        text = f"quant_min is {quant_min}, and must not be above quant_max, which is {quant_max}"
        raise _c.InvalidArgumentError(f"[fake_quantize] {text}")

    def code(x: Tensor) -> Tensor:
        return _c.round(x * (1.0 / scale)) + zero_point

    def value(x: Tensor) -> Tensor:
        return ((code(x).clamp(quant_min, quant_max) - zero_point) * scale).to(x.dtype)

    def slope(x: Tensor) -> Tensor:
        q = code(x)
        return _c.logical_and(_c.ge(q, quant_min), _c.le(q, quant_max)).to(x.dtype)

    return sloped(input, value, slope)


def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """fake_quantize_per_tensor_affine() with a scale and a zero point for each index of an axis."""
    shape = tuple(n if i == axis % input.ndim else 1 for i, n in enumerate(input.shape))
    scales, zeros = scale.reshape(shape), zero_point.reshape(shape)
    return fake_quantize_per_tensor_affine(input, scales, zeros, quant_min, quant_max)


@_method(Tensor)
@autocasts
def frexp(input: Tensor) -> Frexp:
    """The mantissas m with 0.5 <= |m| < 1 and the exponents e (int32), so that x = m 2^e."""
    usual = _c.logical_and(_c.isfinite(input), input != 0)
    x = _c.where(usual, input, 1.0)
    exponent = _c.floor(_c.log2(_c.abs(x))) + 1
    half = _c.floor(exponent / 2)  # Two steps, because 2^e itself may be too large.
    mantissa = x * _c.exp2(-half) * _c.exp2(half - exponent)
    more = (_c.abs(mantissa) >= 1).to(input.dtype) - (_c.abs(mantissa) < 0.5).to(input.dtype)
    mantissa = mantissa * _c.exp2(-more)
    exponent = _c.where(usual, exponent + more, 0.0).to(_c.int32)
    return Frexp(_c.where(usual, mantissa, input), exponent)


def _slope(x: Tensor, places: Any, axis: int, edge_order: int) -> Tensor:
    """The derivative along the last axis. `places` are the coordinates, or the distance of neighbours."""
    n = x.shape[-1]
    if n < edge_order + 1:
        raise _c.InvalidArgumentError(f"[gradient] axis {axis} has {n} elements, and it takes {edge_order + 1} or more")
    if isinstance(places, Tensor):
        steps = places[1:] - places[:-1]
    else:
        steps = _c.full(n - 1, places, dtype=x.dtype, device=x.device)
    differences = (x[..., 1:] - x[..., :-1]) / steps
    left, right = steps[:-1], steps[1:]
    inner = (differences[..., :-1] * right + differences[..., 1:] * left) / (left + right)
    first, last = differences[..., :1], differences[..., -1:]
    if edge_order == 2:
        first = first + (first - differences[..., 1:2]) * steps[:1] / (steps[:1] + steps[1:2])
        last = last + (last - differences[..., -2:-1]) * steps[-1:] / (steps[-1:] + steps[-2:-1])
    return _c.cat([first, inner, last], -1)


def gradient(input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The derivatives along axes, from differences of neighbours: one tensor for each axis. spacing is the distance of
    neighbours, one for each axis, or a vector of coordinates for each axis."""
    axes = list(range(input.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    every = 1 if spacing is None else spacing
    given = list(every) if isinstance(every, (tuple, list)) else [every] * len(axes)
    if len(given) != len(axes) or edge_order not in (1, 2):
        raise _c.InvalidArgumentError(f"[gradient] {len(given)} spacings for {len(axes)} axes, edge_order {edge_order}")
    x = floats(input)
    moved = [(x.moveaxis(axis, -1), places, axis) for axis, places in zip(axes, given)]
    return tuple(_slope(y, places, axis, edge_order).moveaxis(-1, axis) for y, places, axis in moved)


@_method(Tensor)
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not 0. Waits."""
    return bool(input)


def is_storage(obj: Any) -> bool:
    """False, because there are no storages."""
    return False


def are_deterministic_algorithms_enabled() -> bool:
    """True: results have the same bits in every run."""
    return True


@_method(Tensor)
def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself, because there are no complex dtypes."""
    return input


@_method(Tensor)
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself."""
    return input


_aliases(Tensor, conj="resolve_conj", conj_physical="resolve_conj", unsafe_chunk="chunk", unsafe_split="split")
unsafe_chunk, unsafe_split = chunk, split


def _real(self) -> Tensor:
    """The tensor itself, because there are no complex dtypes."""
    return self


Tensor.real = property(_real)


@_method(Tensor)
def swapaxes_(self: Tensor, axis0: int, axis1: int) -> Tensor:
    """Makes this object refer to the view with two axes exchanged. Returns this object."""
    return _moved(self, swapaxes(self, axis0, axis1))


_aliases(Tensor, swapdims_="swapaxes_")


@_method(Tensor)
def resize_(self: Tensor, *sizes: Any, size: Any = (), memory_format: Any = None) -> Tensor:
    """Makes this object refer to a tensor of another shape: the first elements in memory, and zeros where there are
    none. Returns this object."""
    shape = _numbers(sizes or (size,))
    count, line = math.prod(shape), self.reshape(-1)
    if count > line.numel():
        line = _c.cat([line, _c.zeros(count - line.numel(), dtype=self.dtype, device=self.device)])
    return _moved(self, line[:count].reshape(shape))


@_method(Tensor)
def resize_as_(self: Tensor, the_template: Tensor, memory_format: Any = None) -> Tensor:
    """resize_() to the shape of a tensor."""
    return self.resize_(the_template.shape)


@_method(Tensor)
def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: Any = None) -> Tensor:
    """Makes this object refer to the view as_strided(). Returns this object."""
    return _moved(self, self.as_strided(size, stride, storage_offset))


@_method(Tensor)
def set_(self: Tensor, source: Tensor | None = None) -> Tensor:
    """Makes this object refer to another tensor. Returns this object."""
    return _moved(self, self[:0] if source is None else source)


@_method(Tensor)
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replaces each element by callable(element, element of the other tensor), on the host. Returns this tensor."""
    values = [callable(a, b) for a, b in zip(self.reshape(-1).tolist(), tensor.expand(self.shape).reshape(-1).tolist())]
    return self.copy_(_c.asarray(values, dtype=self.dtype, device=self.device).reshape(self.shape))


class Storage:
    """The memory of a tensor, as PyTorch's names describe it."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def nbytes(self) -> int:
        """The bytes of the tensor's elements."""
        return self._tensor.nbytes

    def size(self) -> int:
        """The number of elements."""
        return self._tensor.numel()

    __len__ = size

    def data_ptr(self) -> int:
        """The address of the tensor's first element."""
        return self._tensor.data_ptr()


@_method(Tensor)
def untyped_storage(self: Tensor) -> Storage:
    """The tensor's memory."""
    return Storage(self)


_aliases(Tensor, storage="untyped_storage", typed_storage="untyped_storage")


def broadcast_shapes(*shapes: Sequence[int]) -> Any:
    """The shape that tensors of these shapes have after they are broadcast."""
    from ._members import Size

    return Size(_c.broadcast_shapes(*shapes))


__all__ += ["broadcast_shapes"]
