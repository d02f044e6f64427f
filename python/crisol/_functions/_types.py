"""The names of element types that PyTorch has, and their limits."""

import builtins
from dataclasses import dataclass
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor, dtype, float16, float32, int32, int64, uint8

__all__ = ["bfloat16", "double", "finfo", "float", "float64", "half", "iinfo", "int", "int16", "int8", "long", "short"]


class _MissingDtype:
    """An element type that no tensor has. Programs compare dtypes with it, so it has a name. No function takes it."""

    def __init__(self, name: str, itemsize: builtins.int) -> None:
        self.name = name
        self.itemsize = itemsize

    def __repr__(self) -> str:
        return f"crisol.{self.name}"

    def __reduce__(self) -> str:
        return self.name


def _missing(name: str, itemsize: builtins.int) -> Any:
    missing = _MissingDtype(name, itemsize)
    missing.__module__ = "crisol"  # Pickles name it by its module.
    return missing


float64: Any = _missing("float64", 8)
bfloat16: Any = _missing("bfloat16", 2)
int8: Any = _missing("int8", 1)
int16: Any = _missing("int16", 2)
double, short = float64, int16
float, half, long, int = float32, float16, int64, int32


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


@dataclass(frozen=True)
class _Iinfo:
    """The limits of an integer dtype."""

    bits: builtins.int
    max: builtins.int
    min: builtins.int
    dtype: dtype


_largest = (2 - 2.0**-23) * 2.0**127
_finfo = {
    float32: _Finfo(32, 2.0**-23, _largest, -_largest, 2.0**-126, float32, 1e-6),
    float16: _Finfo(16, 2.0**-10, 65504.0, -65504.0, 2.0**-14, float16, 1e-3),
}
_iinfo = {
    int32: _Iinfo(32, 2**31 - 1, -(2**31), int32),
    int64: _Iinfo(64, 2**63 - 1, -(2**63), int64),
    uint8: _Iinfo(8, 255, 0, uint8),
}


def _limits(table: dict[dtype, Any], kind: str, type: dtype | Tensor) -> Any:
    wanted = type.dtype if isinstance(type, Tensor) else type
    if wanted not in table:
        raise TypeError(f"{kind}info() takes {', '.join(map(repr, table))} or a tensor of these, not {type!r}")
    return table[wanted]


def finfo(type: dtype | Tensor = float32, /) -> _Finfo:
    """The limits of a floating-point dtype, or of the dtype of a tensor: bits, eps, max, min, smallest_normal, tiny and
    resolution."""
    return _limits(_finfo, "f", type)


def iinfo(type: dtype | Tensor, /) -> _Iinfo:
    """The limits of an integer dtype, or of the dtype of a tensor: bits, max and min."""
    return _limits(_iinfo, "i", type)


def _is_floating_point(self) -> builtins.bool:
    """Whether it has fractions."""
    return self in (float32, float16)


def _is_complex(self) -> builtins.bool:
    """False, because there are no complex dtypes."""
    return False


def _is_signed(self) -> builtins.bool:
    """Whether it has negative numbers."""
    return self not in (uint8, _c.bool)


dtype.is_floating_point = property(_is_floating_point)
dtype.is_complex = property(_is_complex)
dtype.is_signed = property(_is_signed)
