"""Functions of each element whose derivative is given, and functions of halves that compute in float32."""

import functools
from collections.abc import Callable
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor


@functools.cache
def _function() -> Any:
    from ..autograd import Function

    class Sloped(Function):
        @staticmethod
        def forward(ctx: Any, input: Tensor, value: Any, slope: Any) -> Tensor:
            ctx.save_for_backward(input)
            ctx.slope = slope
            return value(input)

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
            return gradient * ctx.slope(*ctx.saved_tensors), None, None

    return Sloped


def sloped(input: Tensor, value: Callable[[Tensor], Tensor], slope: Callable[[Tensor], Tensor]) -> Tensor:
    """value(input), whose derivative is slope(input)."""
    return _function().apply(input, value, slope) if input.requires_grad else value(input)


def rounded_once(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The function with halves computed in float32, so that only its result is rounded to two bytes."""

    @functools.wraps(function)
    def call(input: Tensor) -> Tensor:
        if input.dtype.itemsize == 2 and _c.isdtype(input.dtype, "real floating"):
            return function(input.float()).to(input.dtype)
        return function(input)

    return call
