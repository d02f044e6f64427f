"""Members of Tensor that PyTorch has, and names of devices and layouts."""

import math
from collections.abc import Callable
from inspect import isclass
from typing import Any, SupportsIndex, overload

from .. import _crisol as _c
from .._crisol import Tensor, dtype
from .._method import _aliases, _method
from ._arrange import _numbers

__all__ = ["Size", "channels_last", "channels_last_3d", "contiguous_format", "layout", "memory_format"]
__all__ += ["preserve_format", "typename", "strided", "BoolTensor", "ByteTensor", "FloatTensor", "BFloat16Tensor"]
__all__ += ["DoubleTensor"]
__all__ += ["CharTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor"]


class Size(tuple[int, ...]):
    """The sizes of a tensor's axes: a tuple whose slices and sums have this type too."""

    __slots__ = ()

    def numel(self) -> int:
        """The product of the sizes."""
        return math.prod(self)

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...

    @overload
    def __getitem__(self, key: slice) -> "Size": ...

    def __getitem__(self, key: SupportsIndex | slice) -> "int | Size":
        found = tuple.__getitem__(self, key)
        return Size(found) if isinstance(found, tuple) else found

    def __add__(self, other: tuple[int, ...]) -> "Size":  # type: ignore[override]
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: tuple[int, ...]) -> "Size":
        return Size(other + tuple(self))

    def __mul__(self, times: SupportsIndex) -> "Size":
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"crisol.Size([{', '.join(map(str, self))}])"


class _Named:
    """A value that PyTorch has, and that is only a name here."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"crisol.{self._name}"


class layout(_Named):
    """How a tensor stores its elements: crisol.strided."""


class memory_format(_Named):
    """An order of the axes in memory. Functions accept it, and do not change the order of the axes."""


strided = layout("strided")
contiguous_format, preserve_format = memory_format("contiguous_format"), memory_format("preserve_format")
channels_last, channels_last_3d = memory_format("channels_last"), memory_format("channels_last_3d")


class ElementCount(int):
    """The number of elements of a tensor. It can be called to get sizes, as in PyTorch: x.size(), x.size(0)."""

    _shape: Size

    @overload
    def __call__(self) -> Size: ...

    @overload
    def __call__(self, dim: int) -> int: ...

    def __call__(self, dim: int | None = None) -> Size | int:
        """The shape, or the size of one axis."""
        if dim is None:
            return self._shape
        if not -len(self._shape) <= dim < len(self._shape):
            raise _c.OutOfRangeError(f"[size] there is no axis {dim} in a tensor of shape {tuple(self._shape)}")
        return self._shape[dim]

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)


def _size(self) -> ElementCount:
    """The number of elements. As in PyTorch, x.size() is the shape, and x.size(0) is the size of an axis."""
    count = ElementCount(self.numel())
    count._shape = self.shape
    return count


Tensor.size = property(_size)


def _data(self) -> Tensor:
    """The same elements, outside the graph. An assignment gives the tensor other elements. Views, and what `data` gave
    before, keep the old elements."""
    return self.detach()


def _set_data(self: Tensor, value: Tensor) -> None:
    if isinstance(self, _c._nn.Buffer):
        _c._nn._take_elements(self, value.detach().clone())
    elif value.shape == self.shape and value.dtype == self.dtype:
        _c._nn._replace_elements(self, value.to(self.device))
    elif isinstance(self, _c._nn.Parameter):
        _c._nn._assign(self, value.detach())
    else:
        own, other = (f"{x.dtype} {tuple(x.shape)}" for x in (self, value))
        raise _c.InvalidArgumentError(f"[data] the tensor is {own}, not {other}")


def _name(self) -> None:
    """None, as PyTorch's tensors have no name."""


Tensor.data = property(_data, _set_data)


class GradFn:
    """The grad_fn of a tensor that a recorded function made."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def name(self) -> str:
        """The name of a recorded function."""
        return "Backward"


def _grad_fn(self) -> Any:
    """An object if a recorded function made the tensor, and None for a leaf."""
    return GradFn(self) if self.requires_grad and not self.is_leaf else None


def _is_cuda(self) -> bool:
    """Whether the tensor is on a GPU."""
    return self.device.type == "gpu"


def _is_cpu(self) -> bool:
    """Whether the tensor is on a CPU."""
    return self.device.type == "cpu"


def _false(self) -> bool:
    """False, because there are no such tensors."""
    return False


def _layout(self) -> layout:
    """crisol.strided, the only layout."""
    return strided


def _transposed(self) -> Tensor:
    """A view with the last two axes exchanged."""
    return self.mT


def _output_nr(self) -> int:
    """0"""
    return 0


Tensor.grad_fn = property(_grad_fn)
Tensor.name = property(_name)
Tensor.is_cuda = property(_is_cuda)
Tensor.is_cpu = property(_is_cpu)
Tensor.is_meta = property(_false)
Tensor.is_sparse = property(_false)
Tensor.is_quantized = property(_false)
Tensor.is_nested = property(_false)
Tensor.layout = property(_layout)
Tensor.H = property(_transposed)
Tensor.mH = property(_transposed)
Tensor.output_nr = property(_output_nr)


@_method(Tensor)
def cpu(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """This tensor on a CPU. It is the tensor itself if OpenCL has no CPU device. Reads such as numpy() work on any
    device."""
    if self.device.type == "cpu":
        return self
    found = next((device for device in _c.devices() if device.type == "cpu"), None)
    return self if found is None else self.to(found)


@_method(Tensor)
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """This tensor on a GPU."""
    return self.to("gpu" if device is None or isinstance(device, int) else device)


@_method(Tensor)
def double(self: Tensor, memory_format: Any = None) -> Tensor:
    """The elements as float64."""
    return self.to(_c.float64)


@_method(Tensor)
def bfloat16(self: Tensor, memory_format: Any = None) -> Tensor:
    """The elements as bfloat16."""
    return self.to(_c.bfloat16)


@_method(Tensor)
def char(self: Tensor, memory_format: Any = None) -> Tensor:
    """The elements as int8."""
    return self.to(_c.int8)


@_method(Tensor)
def short(self: Tensor, memory_format: Any = None) -> Tensor:
    """The elements as int16."""
    return self.to(_c.int16)


@_method(Tensor)
def byte(self: Tensor, memory_format: Any = None) -> Tensor:
    """The elements as uint8."""
    return self.to(_c.uint8)


_KINDS = {"Float": _c.float32, "Double": _c.float64, "Half": _c.float16, "BFloat16": _c.bfloat16, "Long": _c.int64}
_KINDS |= {"Int": _c.int32, "Short": _c.int16, "Char": _c.int8, "Byte": _c.uint8, "Bool": _c.bool}
_KINDS |= {"UInt16": _c.uint16, "UInt32": _c.uint32, "UInt64": _c.uint64}


@_method(Tensor)
def type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Converts the elements to another dtype. Without a dtype, returns the name of this tensor's type, such as
    "crisol.FloatTensor"."""
    if dtype is None:
        return next(f"crisol.{name}Tensor" for name, kind in _KINDS.items() if kind is self.dtype)
    if isinstance(dtype, str) and dtype.endswith("Tensor"):
        dtype = _KINDS[dtype.rpartition(".")[2].removesuffix("Tensor")]
    return self.to(getattr(dtype, "_dtype", dtype))


@_method(Tensor)
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The elements in the dtype of another tensor, on its device."""
    return self.to(other.device, other.dtype)


@_method(Tensor)
def stride(self: Tensor, dim: int | None = None) -> Any:
    """The distances between neighbours along each axis, or along one, in elements."""
    return self.strides if dim is None else self.strides[dim]


@_method(Tensor)
def element_size(self: Tensor) -> int:
    """The bytes of one element."""
    return self.itemsize


@_method(Tensor)
def data_ptr(self: Tensor) -> int:
    """A number that is the same for tensors that begin at the same place of the same memory. It is no address."""
    handle, offset = _c._nn._place(self)
    return handle + offset


@_method(Tensor)
def get_device(self: Tensor) -> int:
    """The position of the device in crisol.devices(), or -1 for a CPU."""
    return -1 if self.device.type == "cpu" else self.device.index


@_method(Tensor)
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """view() with the shape of another tensor."""
    return self.view(other.shape)


@_method(Tensor)
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """reshape() with the shape of another tensor."""
    return self.reshape(other.shape)


@_method(Tensor)
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """expand() with the shape of another tensor."""
    return self.expand(other.shape)


@_method(Tensor)
def sum_to_size(self: Tensor, *sizes: Any, size: Any = ()) -> Tensor:
    """The sums over the axes along which the tensor was broadcast from this shape."""
    shape = _numbers(sizes or (size,))
    if not shape:
        return _c.sum(self)
    extra = self.ndim - len(shape)
    axes = [i for i in range(self.ndim) if i < extra or (shape[i - extra] == 1 and self.shape[i] != 1)]
    return _c.sum(self, axes, True).reshape(shape) if axes else self


@_method(Tensor)
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of `size` elements at distances of `step` along an axis. The result is a copy, whose last axis runs
    along a window."""
    if self.ndim == 0:
        self = self.reshape(1)
        return unfold(self, dimension, size, step).squeeze(0)
    at = dimension % self.ndim
    count = (self.shape[at] - size) // step + 1
    starts = _c.arange(count, device=self.device).unsqueeze(1) * step
    places = (starts + _c.arange(size, device=self.device)).reshape(-1)
    windows = _c.index_select(self, at, places).reshape((*self.shape[:at], count, size, *self.shape[at + 1 :]))
    return _c.moveaxis(windows, at + 1, -1)


@_method(Tensor)
def detach_(self: Tensor) -> Tensor:
    """Takes a leaf out of the graph. Returns this tensor."""
    if self.is_leaf:
        return self.requires_grad_(False)
    raise _c.InvalidArgumentError("[detach_] the tensor is the result of a recorded function: use detach()")


@_method(Tensor)
def _itself(self: Tensor, *_: Any, **__: Any) -> Tensor:
    """This tensor."""
    return self


@_method(Tensor)
def _no(self: Tensor, *_: Any, **__: Any) -> bool:
    """False."""
    return False


_aliases(Tensor, pin_memory="_itself", share_memory_="_itself", resolve_neg="_itself", resolve_conj="_itself")
_aliases(
    Tensor, is_pinned="_no", is_shared="_no", is_inference="_no", is_conj="_no", is_neg="_no", is_distributed="_no"
)
_aliases(Tensor, is_coalesced="_no", to_dense="_itself")


@_method(Tensor)
def bitwise_not(self: Tensor) -> Tensor:
    """Each bit inverted; of bool: logical_not."""
    return _c.bitwise_invert(self)


@_method(Tensor)
def bitwise_and(self: Tensor, other: Any) -> Tensor:
    """The bits that are 1 in both; of bool: logical_and."""
    return _c.bitwise_and(self, other)


@_method(Tensor)
def bitwise_or(self: Tensor, other: Any) -> Tensor:
    """The bits that are 1 in one of both; of bool: logical_or."""
    return _c.bitwise_or(self, other)


@_method(Tensor)
def bitwise_xor(self: Tensor, other: Any) -> Tensor:
    """The bits that differ."""
    return _c.bitwise_xor(self, other)


@_method(Tensor)
def bitwise_left_shift(self: Tensor, other: Any) -> Tensor:
    """The bits moved to the left."""
    return _c.bitwise_left_shift(self, other)


@_method(Tensor)
def bitwise_right_shift(self: Tensor, other: Any) -> Tensor:
    """The bits moved to the right."""
    return _c.bitwise_right_shift(self, other)


@_method(Tensor)
def trace(self: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix."""
    return _c.matrix_trace(self)


@_method(Tensor)
def cholesky(self: Tensor, upper: bool = False) -> Tensor:
    """The lower triangular L with x = L Lᵀ."""
    return _c.cholesky(self, upper=upper)


@_method(Tensor)
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replaces each element by the result of a Python function. Waits for the device."""

    def each(value: Any) -> Any:
        return [each(part) for part in value] if isinstance(value, list) else callable(value)

    return self.copy_(_c.asarray(each(self.tolist()), dtype=self.dtype, device=self.device).reshape(self.shape))


def typename(obj: Any, /) -> str:
    """The name of a tensor's class as PyTorch has it, such as "torch.FloatTensor", or the name of a class, or of
    another object's class."""
    if not isinstance(obj, Tensor):
        kind = obj if isclass(obj) else obj.__class__
        return f"{kind.__module__}.{kind.__qualname__}"
    return f"torch.{next(name for name, kind in _KINDS.items() if kind is obj.dtype)}Tensor"


@_method(Tensor)
def __array_namespace__(self: Tensor, *, api_version: str | None = None) -> Any:
    """The module crisol.array_api, which has the functions of the Array API standard."""
    from .. import array_api

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ValueError(f"crisol has the Array API standard 2025.12, not {api_version}")
    return array_api


class _Typed:
    """PyTorch's old tensor classes: FloatTensor(2, 3) and FloatTensor([1, 2]). isinstance() compares the dtype."""

    def __init__(self, name: str, dtype: dtype) -> None:
        self.__name__, self._dtype = name, dtype

    def __call__(self, *data: Any) -> Tensor:
        if all(isinstance(value, int) for value in data):
            return _c.empty(data or (0,), dtype=self._dtype)
        return _c.asarray(data[0], dtype=self._dtype)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, Tensor) and value.dtype is self._dtype

    def __repr__(self) -> str:
        return f"<class 'crisol.{self.__name__}'>"


FloatTensor, HalfTensor = _Typed("FloatTensor", _c.float32), _Typed("HalfTensor", _c.float16)
DoubleTensor, BFloat16Tensor = _Typed("DoubleTensor", _c.float64), _Typed("BFloat16Tensor", _c.bfloat16)
LongTensor, IntTensor = _Typed("LongTensor", _c.int64), _Typed("IntTensor", _c.int32)
CharTensor, ShortTensor = _Typed("CharTensor", _c.int8), _Typed("ShortTensor", _c.int16)
ByteTensor, BoolTensor = _Typed("ByteTensor", _c.uint8), _Typed("BoolTensor", _c.bool)
