"""Activations and dropout as layers."""

from __future__ import annotations

from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._crisol._nn import Module, Parameter
from . import functional as F
from ._function import _Function

__all__ = ["AlphaDropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout", "GLU", "Hardshrink"]
__all__ += ["Hardtanh", "PReLU", "RReLU", "Softmax2d", "Softmin", "Softshrink", "Softsign", "Tanhshrink", "Threshold"]


class PReLU(Module):
    """x, or weight · x where x is negative. The weight is trained: one number, or one for each channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.__dict__["num_parameters"] = num_parameters
        self.weight = Parameter(_c.full((num_parameters,), float(init), dtype=dtype, device=device))

    def forward(self, input: Tensor) -> Tensor:
        """functional.prelu()"""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The number of weights, for printing."""
        return f"num_parameters={self.num_parameters}"


class GLU(_Function):
    """functional.glu()"""

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim=dim)

    def forward(self, input: Tensor) -> Tensor:
        """functional.glu()"""
        return F.glu(input, self.dim)


class Hardtanh(_Function):
    """functional.hardtanh()"""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(min_val=min_val, max_val=max_val)

    def forward(self, input: Tensor) -> Tensor:
        """functional.hardtanh()"""
        return F.hardtanh(input, self.min_val, self.max_val)


class Hardshrink(_Function):
    """functional.hardshrink()"""

    _printed = "{lambd}"

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)

    def forward(self, input: Tensor) -> Tensor:
        """functional.hardshrink()"""
        return F.hardshrink(input, self.lambd)


class Softshrink(_Function):
    """functional.softshrink()"""

    _printed = "{lambd}"

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)

    def forward(self, input: Tensor) -> Tensor:
        """functional.softshrink()"""
        return F.softshrink(input, self.lambd)


class Threshold(_Function):
    """functional.threshold()"""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(threshold=threshold, value=value)

    def forward(self, input: Tensor) -> Tensor:
        """functional.threshold()"""
        return F.threshold(input, self.threshold, self.value)


class RReLU(_Function):
    """functional.rrelu()"""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__(lower=lower, upper=upper)

    def forward(self, input: Tensor) -> Tensor:
        """functional.rrelu()"""
        return F.rrelu(input, self.lower, self.upper, self.training)


class Softsign(Module):
    """functional.softsign()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.softsign()"""
        return F.softsign(input)


class Tanhshrink(Module):
    """functional.tanhshrink()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.tanhshrink()"""
        return F.tanhshrink(input)


class Softmin(_Function):
    """functional.softmin()"""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__(dim=dim)

    def forward(self, input: Tensor) -> Tensor:
        """functional.softmin()"""
        return F.softmin(input, self.dim)


class Softmax2d(Module):
    """functional.softmax() over the channels of input (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """functional.softmax()"""
        return F.softmax(input, -3)


class _Drop(_Function):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= p <= 1:
            raise _c.InvalidArgumentError(f"[dropout] p is {p}, and it must be in [0, 1]")
        super().__init__(p=p, inplace=inplace)


class Dropout1d(_Drop):
    """functional.dropout1d()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.dropout1d()"""
        return F.dropout1d(input, self.p, self.training)


class Dropout2d(_Drop):
    """functional.dropout2d()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.dropout2d()"""
        return F.dropout2d(input, self.p, self.training)


class Dropout3d(_Drop):
    """functional.dropout3d()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.dropout3d()"""
        return F.dropout3d(input, self.p, self.training)


class AlphaDropout(_Drop):
    """functional.alpha_dropout()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.alpha_dropout()"""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_Drop):
    """functional.feature_alpha_dropout()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.feature_alpha_dropout()"""
        return F.feature_alpha_dropout(input, self.p, self.training)
