"""Pools as layers."""

from __future__ import annotations

from typing import Any

from ..._crisol import Tensor
from .. import functional as F
from .._function import _Function

__all__ = ["AdaptiveAvgPool1d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d"]
__all__ += ["FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d"]
__all__ += ["MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]


def _one(size: Any) -> tuple[int]:
    """A size of a sequence, as PyTorch keeps it."""
    return (size,) if isinstance(size, int) else tuple(size)


class MaxPool1d(_Function):
    """functional.max_pool1d()"""

    _printed = (
        "kernel_size={kernel_size}, stride={stride}, padding={padding}, dilation={dilation}, ceil_mode={ceil_mode}"
    )

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(kernel_size=kernel_size, stride=kernel_size if stride is None else stride, padding=padding,
                         dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)  # fmt: skip

    def forward(self, input: Tensor) -> Any:
        """functional.max_pool1d()"""
        return F.max_pool1d(input, **self._given())


class AvgPool1d(_Function):
    """functional.avg_pool1d()"""

    _printed = "kernel_size={kernel_size}, stride={stride}, padding={padding}"

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(kernel_size=_one(kernel_size), stride=_one(kernel_size if stride is None else stride),
                         padding=_one(padding), ceil_mode=ceil_mode, count_include_pad=count_include_pad)  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """functional.avg_pool1d()"""
        return F.avg_pool1d(input, **self._given())


class LPPool1d(_Function):
    """functional.lp_pool1d()"""

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__(norm_type=norm_type, kernel_size=kernel_size, stride=stride, ceil_mode=ceil_mode)

    def forward(self, input: Tensor) -> Tensor:
        """functional.lp_pool1d()"""
        return F.lp_pool1d(input, **self._given())


class LPPool2d(LPPool1d):
    """functional.lp_pool2d()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.lp_pool2d()"""
        return F.lp_pool2d(input, **self._given())


class LPPool3d(LPPool1d):
    """functional.lp_pool3d()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.lp_pool3d()"""
        return F.lp_pool3d(input, **self._given())


class FractionalMaxPool2d(_Function):
    """functional.fractional_max_pool2d()"""

    _printed = ""

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:  # fmt: skip
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"[{type(self).__name__}] takes output_size or output_ratio")
        super().__init__(kernel_size=kernel_size, output_size=output_size, output_ratio=output_ratio,
                         return_indices=return_indices)  # fmt: skip
        self.register_buffer("_random_samples", _random_samples)

    def forward(self, input: Tensor) -> Any:
        """functional.fractional_max_pool2d()"""
        return F.fractional_max_pool2d(input, **self._given(), _random_samples=self._random_samples)


class FractionalMaxPool3d(FractionalMaxPool2d):
    """functional.fractional_max_pool3d()"""

    def forward(self, input: Tensor) -> Any:
        """functional.fractional_max_pool3d()"""
        return F.fractional_max_pool3d(input, **self._given(), _random_samples=self._random_samples)


class MaxUnpool1d(_Function):
    """functional.max_unpool1d()"""

    _axes = 1

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        sizes = {"kernel_size": kernel_size, "stride": kernel_size if stride is None else stride, "padding": padding}
        super().__init__(**{n: (v,) * self._axes if isinstance(v, int) else tuple(v) for n, v in sizes.items()})

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """functional.max_unpool1d()"""
        return F.max_unpool1d(input, indices, **self._given(), output_size=output_size)


class MaxUnpool2d(MaxUnpool1d):
    """functional.max_unpool2d()"""

    _axes = 2

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """functional.max_unpool2d()"""
        return F.max_unpool2d(input, indices, **self._given(), output_size=output_size)


class MaxUnpool3d(MaxUnpool1d):
    """functional.max_unpool3d()"""

    _axes = 3

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """functional.max_unpool3d()"""
        return F.max_unpool3d(input, indices, **self._given(), output_size=output_size)


class AdaptiveAvgPool1d(_Function):
    """functional.adaptive_avg_pool1d()"""

    def __init__(self, output_size: Any) -> None:
        super().__init__(output_size=output_size)

    def forward(self, input: Tensor) -> Tensor:
        """functional.adaptive_avg_pool1d()"""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveMaxPool1d(_Function):
    """functional.adaptive_max_pool1d()"""

    _printed = "output_size={output_size}"

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size=output_size, return_indices=return_indices)

    def forward(self, input: Tensor) -> Any:
        """functional.adaptive_max_pool1d()"""
        return F.adaptive_max_pool1d(input, **self._given())


class AdaptiveMaxPool2d(AdaptiveMaxPool1d):
    """functional.adaptive_max_pool2d()"""

    def forward(self, input: Tensor) -> Any:
        """functional.adaptive_max_pool2d()"""
        return F.adaptive_max_pool2d(input, **self._given())


class AdaptiveMaxPool3d(AdaptiveMaxPool1d):
    """functional.adaptive_max_pool3d()"""

    def forward(self, input: Tensor) -> Any:
        """functional.adaptive_max_pool3d()"""
        return F.adaptive_max_pool3d(input, **self._given())
