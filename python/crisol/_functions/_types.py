"""The names of element types that PyTorch has, and their limits."""

import builtins
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor, dtype, float16, float32, float64, int16, int32, int64

__all__ = ["double", "finfo", "float", "float64", "half", "iinfo", "int", "long", "short"]

double, short = float64, int16
float, half, long, int = float32, float16, int64, int32


def floats(x: Tensor) -> Tensor:
    """The tensor with fractions: whole numbers and bool are converted to the default dtype."""
    return x if _c.isdtype(x.dtype, "real floating") else x.to(_c._default_dtype())


def both_floats(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Two operands as tensors with fractions, of which at most one is a number. A number and whole numbers get the dtype
    of the tensor with fractions."""
    tensors = [v for v in (a, b) if isinstance(v, Tensor)]
    fractions = [v.dtype for v in tensors if _c.isdtype(v.dtype, "real floating")]
    dtype, device = fractions[0] if fractions else _c._default_dtype(), tensors[0].device
    x, y = (
        (v if _c.isdtype(v.dtype, "real floating") else v.to(dtype))
        if isinstance(v, Tensor)
        else _c.asarray(v, dtype=dtype, device=device)
        for v in (a, b)
    )
    return x, y


@dataclass(frozen=True)
class _Finfo:
    """The limits of a floating-point dtype."""

    bits: builtins.int
    eps: builtins.float
    max: builtins.float
    min: builtins.float
    smallest_normal: builtins.float
    dtype: dtype
    resolution: builtins.float

    @property
    def tiny(self) -> builtins.float:
        """smallest_normal"""
        return self.smallest_normal

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in names)}, dtype={_name(self.dtype)})"


@dataclass(frozen=True)
class _Iinfo:
    """The limits of an integer dtype."""

    bits: builtins.int
    max: builtins.int
    min: builtins.int
    dtype: dtype

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={_name(self.dtype)})"


def _name(dtype: dtype) -> str:
    return repr(dtype).removeprefix("crisol.")


def _finfo_of(dtype: dtype) -> _Finfo:
    digits, exponent = _c._digits_and_exponent(dtype)
    eps = 2.0 ** (1 - digits)
    largest = (2 - eps) * 2.0 ** (exponent - 1)
    resolution = 10.0 ** -builtins.int(-math.log10(eps))
    return _Finfo(8 * dtype.itemsize, eps, largest, -largest, 2.0 ** (2 - exponent), dtype, resolution)


def _iinfo_of(dtype: dtype) -> _Iinfo:
    digits, _ = _c._digits_and_exponent(dtype)
    least = -(2**digits) if _c.isdtype(dtype, "signed integer") else 0
    return _Iinfo(8 * dtype.itemsize, 2**digits - 1, least, dtype)


_finfo = {dtype: _finfo_of(dtype) for dtype in _c._dtypes if _c.isdtype(dtype, "real floating")}
_iinfo = {dtype: _iinfo_of(dtype) for dtype in _c._dtypes if _c.isdtype(dtype, "integral")}


def _limits(table: dict[dtype, Any], kind: str, type: Any) -> Any:
    wanted = type.dtype if isinstance(type, Tensor) else type
    if wanted not in table:
        raise TypeError(f"{kind}info() takes {', '.join(map(repr, table))} or a tensor of these, not {type!r}")
    return table[wanted]


def finfo(type: dtype | Tensor | None = None, /) -> _Finfo:
    """The limits of a floating-point dtype, of the dtype of a tensor, or of the default dtype: bits, eps, max, min,
    smallest_normal, tiny and resolution."""
    return _limits(_finfo, "f", _c._default_dtype() if type is None else type)


def in_dtype(function: Callable[[Tensor, builtins.int], Tensor], x: Tensor, dim: builtins.int, dtype: Any) -> Tensor:
    """function(x, dim) in this dtype, or in the dtype of x. Under autocast the result has this dtype too."""
    return function(x, dim) if dtype is None else function(x.to(dtype), dim).to(dtype)


def iinfo(type: dtype | Tensor, /) -> _Iinfo:
    """The limits of an integer dtype, or of the dtype of a tensor: bits, max and min."""
    return _limits(_iinfo, "i", type)


def _is_floating_point(self) -> builtins.bool:
    """Whether it has fractions."""
    return _c.isdtype(self, "real floating")


def _is_complex(self) -> builtins.bool:
    """False, because there are no complex dtypes."""
    return False


def _is_signed(self) -> builtins.bool:
    """Whether it has negative numbers."""
    return _c.isdtype(self, ("signed integer", "real floating"))


dtype.is_floating_point = property(_is_floating_point)
dtype.is_complex = property(_is_complex)
dtype.is_signed = property(_is_signed)
