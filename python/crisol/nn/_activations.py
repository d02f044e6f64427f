"""Activations and dropout."""

from __future__ import annotations

import math
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor, _functional
from .._crisol._functional import glu as glu, softshrink as softshrink, softsign as softsign, tanhshrink as tanhshrink
from .._functions._math import threshold as threshold
from .._functions._random import rand_like
from .._functions._types import in_dtype
from .._method import _method

__all__ = ["alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "elu_", "feature_alpha_dropout", "glu"]
__all__ += ["gumbel_softmax", "hardshrink", "leaky_relu_", "log_softmax", "relu_", "rrelu", "softmax", "softmin"]
__all__ += ["softshrink", "softsign", "tanhshrink", "threshold"]


def _implicit_axis(ndim: int) -> int:
    import warnings

    warnings.warn("the axis of softmax() is chosen from the rank: give dim", UserWarning, stacklevel=4)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis."""
    return in_dtype(_c.softmax, input, _implicit_axis(input.ndim) if dim is None else dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """x - log(sum(exp(x))) along an axis."""
    return in_dtype(_c.log_softmax, input, _implicit_axis(input.ndim) if dim is None else dim, dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax() of -x."""
    return softmax(-input, dim, dtype=dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """softmax() of the logits plus Gumbel noise, divided by tau. With `hard`, the result is 1 at the maximum and 0
    elsewhere, but has the gradient of softmax."""
    noise = -_c.log(-_c.log(_c.clamp(rand_like(logits), 1e-20, 1 - 2.0**-24)))
    soft = _c.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    largest = _c.argmax(soft, axis=dim, keepdims=True)
    one = _c.scatter(_c.zeros_like(soft), dim, largest, _c.ones_like(largest, dtype=soft.dtype))
    return one - soft.detach() + soft


@_method(Tensor)
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x, and 0 where |x| is at most lambd."""
    return _functional.hardshrink(input, lambd)


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """x. Negative x are multiplied by a random number in [lower, upper), and in evaluation by the mean of lower and
    upper."""
    if not training:
        return _c.where(_c.gt(input, 0), input, input * ((lower + upper) / 2))
    return _c.where(_c.gt(input, 0), input, input * (rand_like(input) * (upper - lower) + lower))


def relu_(input: Tensor) -> Tensor:
    """Replaces the elements by those of relu(). Returns the tensor."""
    return input.relu_()


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Replaces the elements by those of leaky_relu(). Returns the tensor."""
    return input.leaky_relu_(negative_slope)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Replaces the elements by those of elu(). Returns the tensor."""
    return input.elu_(alpha)


def _dropped_channels(input: Tensor, p: float, training: bool, axes: int) -> Tensor:
    if not 0 <= p <= 1:
        raise _c.InvalidArgumentError(f"[dropout] p is {p}, and it must be in [0, 1]")
    if not training or p == 0:
        return input
    lead = input.shape[: input.ndim - axes]
    ones = _c.ones((*lead, *[1] * axes), dtype=input.dtype, device=input.device)
    return input * _functional.dropout(ones, p, True)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout() of whole channels (N, C, L) or (C, L)."""
    return _dropped_channels(input, p, training, 1)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout() of whole channels (N, C, H, W) or (C, H, W)."""
    return _dropped_channels(input, p, training, max(input.ndim - 2, 0) if input.ndim < 4 else 2)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout() of whole channels (N, C, D, H, W) or (C, D, H, W)."""
    return _dropped_channels(input, p, training, 3)


def _alpha_dropped(input: Tensor, keep: Tensor, p: float) -> Tensor:
    low = -1.7580993408473766
    a = 1 / math.sqrt((1 - p) * (1 + p * low * low))
    return _c.where(keep, input, low) * a - a * p * low


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """dropout() for selu(): the dropped elements get its lowest value, and mean and variance stay."""
    if not training or p == 0:
        return input
    return _alpha_dropped(input, _c.ge(rand_like(input), p), p) if p < 1 else input * 0


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout() of whole channels (N, C, …)."""
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    drawn = _c.rand((*input.shape[:2], *[1] * (input.ndim - 2)), device=input.device)
    return _alpha_dropped(input, _c.ge(drawn, p), p)
