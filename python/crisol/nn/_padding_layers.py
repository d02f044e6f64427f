"""Layers that add elements at the ends of axes."""

from __future__ import annotations

from typing import Any

from .._crisol import Tensor
from . import functional as F
from ._function import _Function

__all__ = ["CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d"]
__all__ += ["ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d"]
__all__ += ["ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"]


class _Pad(_Function):
    _axes, _mode = 1, "constant"

    def __init__(self, padding: Any, value: float | None = None) -> None:
        super().__init__(padding=(padding,) * (2 * self._axes) if isinstance(padding, int) else tuple(padding))
        self.__dict__["value"] = value

    def forward(self, input: Tensor) -> Tensor:
        """The padded input."""
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        """The numbers of added elements, for printing."""
        return repr(self.padding) if self.value is None else f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_Pad):
    """Adds elements with one value at the ends of input (…, L)."""

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding, value)


class ConstantPad2d(ConstantPad1d):
    """Adds elements with one value at the ends of input (…, H, W)."""

    _axes = 2


class ConstantPad3d(ConstantPad1d):
    """Adds elements with one value at the ends of input (…, D, H, W)."""

    _axes = 3


class ZeroPad1d(_Pad):
    """Adds zeros at the ends of input (…, L)."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ZeroPad2d(ZeroPad1d):
    """Adds zeros at the ends of input (…, H, W)."""

    _axes = 2


class ZeroPad3d(ZeroPad1d):
    """Adds zeros at the ends of input (…, D, H, W)."""

    _axes = 3


class ReflectionPad1d(ZeroPad1d):
    """Adds reflected elements at the ends of input (…, L)."""

    _mode = "reflect"


class ReflectionPad2d(ReflectionPad1d):
    """Adds reflected elements at the ends of input (…, H, W)."""

    _axes = 2


class ReflectionPad3d(ReflectionPad1d):
    """Adds reflected elements at the ends of input (…, D, H, W)."""

    _axes = 3


class ReplicationPad1d(ZeroPad1d):
    """Repeats the elements at the ends of input (…, L)."""

    _mode = "replicate"


class ReplicationPad2d(ReplicationPad1d):
    """Repeats the elements at the ends of input (…, H, W)."""

    _axes = 2


class ReplicationPad3d(ReplicationPad1d):
    """Repeats the elements at the ends of input (…, D, H, W)."""

    _axes = 3


class CircularPad1d(ZeroPad1d):
    """Adds elements from the opposite end of input (…, L)."""

    _mode = "circular"


class CircularPad2d(CircularPad1d):
    """Adds elements from the opposite ends of input (…, H, W)."""

    _axes = 2


class CircularPad3d(CircularPad1d):
    """Adds elements from the opposite ends of input (…, D, H, W)."""

    _axes = 3
