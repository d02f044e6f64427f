"""Functions that make tensors, with PyTorch's arguments. `layout`, `pin_memory` and `memory_format` have no effect."""

import builtins
import functools
import math
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor, dtype
from .._method import _method, into

__all__ = [
    "arange",
    "as_tensor",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "frombuffer",
    "from_numpy",
    "full",
    "full_like",
]
__all__ += [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
    "linspace",
    "logspace",
    "ones",
    "ones_like",
    "range",
    "scalar_tensor",
    "tensor",
    "zeros",
    "zeros_like",
]

Dtype = dtype | None


def _shape(sizes: tuple[Any, ...], size: Any, shape: Any = None) -> Any:
    """The sizes in a call f(2, 3), f((2, 3)), f(size=(2, 3)) or f(shape=(2, 3))."""
    if not sizes:
        return shape if size is None else size
    return sizes[0] if len(sizes) == 1 else sizes


def finished(made: Tensor, requires_grad: bool, out: Tensor | None = None) -> Tensor:
    """Makes the tensor a leaf that wants a gradient if this is requested, or writes it into `out`."""
    made = into(out, made)
    return made.requires_grad_() if requires_grad else made


def zeros(
    *sizes: Any, size: Any = None, shape: Any = None, out: Tensor | None = None, dtype: Dtype = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of zeros. The default dtype is taken unless one is given."""
    return finished(_c.zeros(_shape(sizes, size, shape), dtype=dtype, device=device), requires_grad, out)


def ones(
    *sizes: Any, size: Any = None, shape: Any = None, out: Tensor | None = None, dtype: Dtype = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of ones. The default dtype is taken unless one is given."""
    return finished(_c.ones(_shape(sizes, size, shape), dtype=dtype, device=device), requires_grad, out)


def empty(
    *sizes: Any, size: Any = None, shape: Any = None, out: Tensor | None = None, dtype: Dtype = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor with undefined contents. The default dtype is taken unless one is given."""
    made = _c.empty(_shape(sizes, size, shape), dtype=dtype, device=device) if out is None else out
    return finished(made, requires_grad)


def full(
    size: Any = None, fill_value: Any = None, *, shape: Any = None, out: Tensor | None = None, dtype: Dtype = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor with one value everywhere: bool, int64 or the default dtype, or the dtype that is given."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    made = _c.full(shape if size is None else size, value, dtype=dtype, device=device)
    return finished(made, requires_grad, out)


def zeros_like(
    input: Tensor, *, dtype: Dtype = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Zeros with the shape, dtype and device of a tensor."""
    return finished(_c.zeros_like(input, dtype=dtype, device=device), requires_grad)


def ones_like(
    input: Tensor, *, dtype: Dtype = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Ones with the shape, dtype and device of a tensor."""
    return finished(_c.ones_like(input, dtype=dtype, device=device), requires_grad)


def empty_like(
    input: Tensor, *, dtype: Dtype = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor with undefined contents, with the shape, dtype and device of a tensor."""
    return finished(_c.empty_like(input, dtype=dtype, device=device), requires_grad)


def full_like(
    input: Tensor, fill_value: Any, *, dtype: Dtype = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """One value everywhere, with the shape, dtype and device of a tensor."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return finished(_c.full_like(input, value, dtype=dtype, device=device), requires_grad)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


def arange(
    *numbers: Any, start: Any = None, end: Any = None, stop: Any = None, step: Any = None, out: Tensor | None = None,
    dtype: Dtype = None, layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The numbers start, start + step, … below end: ceil((end - start) / step) elements. arange(n) starts at 0. int64 if
    all arguments are whole, otherwise of the default dtype."""
    end = stop if end is None else end
    if len(numbers) > 3 or len(numbers) == 0 and end is None:
        raise TypeError("arange() takes an end, or a start, an end and a step")
    given: list[Any] = [_number(number) for number in numbers]
    if len(given) == 1 and end is None:
        first, last = 0 if start is None else start, given.pop(0)
    else:
        first = given.pop(0) if given else 0 if start is None else start
        last = given.pop(0) if given else end
    by = given[0] if given else 1 if step is None else step
    first, last, by = _number(first), _number(last), _number(by)
    if (last - first) * by < 0:
        raise _c.InvalidArgumentError(f"[arange] the step {by} does not lead from {first} to {last}")
    if _drops_fractions(dtype, first, by) and by:
        # As in PyTorch, the fractions count for the number of elements, but not for the elements.
        count = max(math.ceil((last - first) / by), 0)
        made = (_c.arange(count, device=device) * int(by) + int(first)).to(dtype)
    else:
        made = _c.arange(first, last, by, dtype=dtype, device=device)
    return finished(made, requires_grad, out)


def _drops_fractions(dtype: Any, *numbers: Any) -> bool:
    """Whether numbers with fractions are converted to whole ones."""
    return dtype is not None and _c.isdtype(dtype, "integral") and any(isinstance(n, float) for n in numbers)


def _computed(dtype: Dtype) -> Any:
    """The dtype in which elements of a dtype, or of the default dtype, are computed."""
    wanted = dtype or _c._default_dtype()
    return _c.promote_types(wanted, _c.float32) if _c.isdtype(wanted, "real floating") else _c.float64


def range(
    start: float = 0, end: float | None = None, step: float = 1, *, dtype: Dtype = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The numbers start, start + step, … up to end, which is included. arange() is preferable."""
    first, last = (0.0, start) if end is None else (start, end)
    count = int((last - first) / step) + 1
    steps = _c.arange(count, dtype=_computed(dtype), device=device)
    made = steps * step + first
    return finished(made.to(dtype or _c._default_dtype()), requires_grad)


def linspace(
    start: Any, end: Any = None, steps: int | None = None, *, stop: Any = None, num: int | None = None,
    endpoint: bool = True, out: Tensor | None = None, dtype: Dtype = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """`steps` numbers at equal distances from start to end. Without endpoint, `end` is the next number after them."""
    last, count = stop if end is None else end, num if steps is None else steps
    first, last = _number(start), _number(last)
    if _drops_fractions(dtype, first, last):
        first, last = int(first), int(last)
    made = _c.linspace(first, last, count, dtype=dtype, device=device, endpoint=endpoint)
    return finished(made, requires_grad, out)


def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Dtype = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """base to the power of `steps` numbers at equal distances from start to end."""
    first, last = _number(start), _number(end)
    if dtype is not None and not _c.isdtype(dtype, "real floating"):
        first, last = int(first), int(last)  # As in PyTorch, the bounds have the dtype too.
    made = _c.pow(float(base), _c.linspace(first, last, steps, dtype=_computed(dtype), device=device))
    return finished(made.to(dtype or _c._default_dtype()), requires_grad)


def eye(
    n: int, m: int | None = None, *, k: int = 0, out: Tensor | None = None, dtype: Dtype = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A matrix (n, m) with 1 on a diagonal and 0 elsewhere. k moves the diagonal to the right."""
    return finished(_c.eye(n, m, k=k, dtype=dtype, device=device), requires_grad, out)


def _window(n: int, periodic: bool, dtype: Dtype, device: Any, requires_grad: bool, function: Any) -> Tensor:
    """The values of a function at the positions 0 … 1 of a window with n elements."""
    if n < 2:
        return finished(_c.ones(n, dtype=dtype, device=device), requires_grad)
    places = _c.arange(n, dtype=_computed(dtype), device=device) / (n if periodic else n - 1)
    return finished(function(places).to(dtype or _c._default_dtype()), requires_grad)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Dtype = None,
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Hamming's window: alpha - beta cos(2πt)."""
    return _window(window_length, periodic, dtype, device, requires_grad,
                   lambda t: alpha - beta * _c.cos(t * (2 * math.pi)))  # fmt: skip


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Hann's window: (1 - cos(2πt)) / 2."""
    return hamming_window(window_length, periodic, 0.5, 0.5, dtype=dtype, device=device, requires_grad=requires_grad)


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Blackman's window: 0.42 - cos(2πt) / 2 + 0.08 cos(4πt)."""
    return _window(window_length, periodic, dtype, device, requires_grad,
                   lambda t: 0.42 - 0.5 * _c.cos(t * (2 * math.pi)) + 0.08 * _c.cos(t * (4 * math.pi)))  # fmt: skip


def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Bartlett's window: 1 - |2t - 1|."""
    return _window(window_length, periodic, dtype, device, requires_grad, lambda t: 1 - _c.abs(2 * t - 1))


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Dtype = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Kaiser's window: I0(beta sqrt(1 - (2t - 1)²)) / I0(beta)."""

    def bessel(x: Tensor) -> Tensor:
        """I0, by its series."""
        term = total = _c.ones_like(x)
        for k in builtins.range(1, 12 + int(2 * beta)):
            term = term * _c.square(x / (2 * k))
            total = total + term
        return total

    def window(t: Tensor) -> Tensor:
        most = bessel(_c.full((), float(beta), dtype=t.dtype, device=t.device))
        return bessel(beta * _c.sqrt(_c.maximum(1 - _c.square(2 * t - 1), 0.0))) / most

    return _window(window_length, periodic, dtype, device, requires_grad, window)


def _plain(data: Any) -> Any:
    """Replaces tensors in nested lists by their numbers."""
    if isinstance(data, (list, tuple)) and any(isinstance(part, (Tensor, list, tuple)) for part in data):
        return [part.tolist() if isinstance(part, Tensor) else _plain(part) for part in data]
    return data


_PYTHON = {bool: _c.bool, int: _c.int64, float: None}  # None: the default dtype.


def _dtypes_in(data: Any, found: set[Any]) -> None:
    """Adds the dtypes of the elements of nested sequences. Elements of Python have their type instead."""
    for kind in set(map(type, data)):
        if kind in _PYTHON:
            found.add(kind)
        elif issubclass(kind, (list, tuple)):
            for part in data:
                if type(part) is kind:
                    _dtypes_in(part, found)
        else:
            found.update(getattr(part, "dtype", None) for part in data if type(part) is kind)


def _known(kind: Any) -> Any:
    """The dtype of elements of a type of Python or of NumPy, or None."""
    if kind in _PYTHON:
        return _PYTHON[kind] or _c._default_dtype()
    return getattr(_c, getattr(kind, "name", ""), None)


def _dtype_of(data: Any, dtype: Dtype) -> Any:
    """The given dtype, or for sequences with elements of NumPy or with tensors the common dtype of all elements."""
    if dtype is not None or not isinstance(data, (list, tuple)):
        return dtype
    found: set[Any] = set()
    _dtypes_in(data, found)
    if found <= _PYTHON.keys():
        return None
    known = [_known(kind) for kind in found]
    return None if None in known else functools.reduce(_c.promote_types, known)


def tensor(
    data: Any, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new tensor of the elements of `data`, as asarray() reads them."""
    return _c.tensor(_plain(data), dtype=_dtype_of(data, dtype), device=device, requires_grad=requires_grad)


def asarray(
    obj: Any, *, dtype: Dtype = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of the elements of `obj`: a tensor, a number, nested sequences, or an object with a buffer, such as a
    NumPy array. Without a dtype, bool, whole and other numbers of Python become bool, int64 and the default dtype, and
    arrays and elements of NumPy keep their type. copy=False gives a tensor over the same memory, as from_dlpack() does,
    or raises ValueError. The result of a tensor that wants a gradient passes it on only with requires_grad."""
    made = _c.asarray(_plain(obj), dtype=_dtype_of(obj, dtype), device=device, copy=copy)
    if made.requires_grad:
        return made if requires_grad else made.detach()
    return finished(made, requires_grad)


def as_tensor(data: Any, dtype: Dtype = None, device: Any = None) -> Tensor:
    """A tensor of the elements of `data`. It is `data` itself if this is such a tensor."""
    if isinstance(data, Tensor) and dtype in (None, data.dtype) and device is None:
        return data
    return _c.asarray(_plain(data), dtype=_dtype_of(data, dtype), device=device)


def scalar_tensor(
    s: Any, *, dtype: Dtype = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor without axes. The default dtype is taken unless one is given."""
    return finished(_c.asarray(s, dtype=dtype or _c._default_dtype(), device=device), requires_grad)


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor of the elements of a NumPy array, on the default device. It is a copy: the device may read it later."""
    if not hasattr(ndarray, "__array__"):
        raise TypeError(f"from_numpy() takes a NumPy array, not a {type(ndarray).__name__}")
    return _c.asarray(ndarray)


def frombuffer(buffer: Any, *, dtype: dtype, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A tensor of the bytes of an object: `count` elements of a dtype, or all after the offset. It is a copy."""
    import numpy

    return finished(_c.asarray(numpy.frombuffer(buffer, dtype.name, count, offset)), requires_grad)


def _sized(
    self: Tensor, make: Any, sizes: tuple[Any, ...], size: Any, dtype: Dtype, device: Any, wanted: bool
) -> Tensor:
    made = make(_shape(sizes, size), dtype=self.dtype if dtype is None else dtype, device=device or self.device)
    return finished(made, wanted)


@_method(Tensor)
def new_zeros(
    self: Tensor, *sizes: Any, size: Any = None, dtype: Dtype = None, device: Any = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Zeros with the dtype and device of this tensor."""
    return _sized(self, _c.zeros, sizes, size, dtype, device, requires_grad)


@_method(Tensor)
def new_ones(
    self: Tensor, *sizes: Any, size: Any = None, dtype: Dtype = None, device: Any = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Ones with the dtype and device of this tensor."""
    return _sized(self, _c.ones, sizes, size, dtype, device, requires_grad)


@_method(Tensor)
def new_empty(
    self: Tensor, *sizes: Any, size: Any = None, dtype: Dtype = None, device: Any = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor with undefined contents, with the dtype and device of this tensor."""
    return _sized(self, _c.empty, sizes, size, dtype, device, requires_grad)


@_method(Tensor)
def new_full(
    self: Tensor, size: Any, fill_value: Any, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """One value everywhere, with the dtype and device of this tensor."""
    return full(size, fill_value, dtype=self.dtype if dtype is None else dtype, device=device or self.device,
                requires_grad=requires_grad)  # fmt: skip


@_method(Tensor)
def new_tensor(
    self: Tensor, data: Any, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A new tensor of the elements of `data`, with the dtype and device of this tensor."""
    return tensor(data, dtype=self.dtype if dtype is None else dtype, device=device or self.device,
                  requires_grad=requires_grad)  # fmt: skip


@_method(Tensor)
def new(self: Tensor, *data: Any) -> Tensor:
    """new_empty() for sizes, and new_tensor() for elements."""
    if len(data) == 1 and not isinstance(data[0], int):
        return new_tensor(self, data[0])
    return new_empty(self, *(data or (0,)))
