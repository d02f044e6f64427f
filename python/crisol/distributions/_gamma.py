"""Numbers of the gamma distribution with rate 1, and their gradients."""

from __future__ import annotations

from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._functions import digamma
from ..autograd import Function, no_grad


def gamma_numbers(shape: Tensor) -> Tensor:
    """Draws numbers by Marsaglia and Tsang 2000. Waits for the device. The gradient says how the number changes with
    the shape, if its quantile stays."""
    return _Drawn.apply(shape)


class _Drawn(Function):
    @staticmethod
    def forward(ctx: Any, shape: Tensor) -> Tensor:
        drawn = _draw(shape)
        ctx.save_for_backward(shape, drawn)
        return drawn

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        shape, drawn = ctx.saved_tensors
        with no_grad():
            return gradient * slope(shape.detach(), drawn.detach())


def _draw(shape: Tensor) -> Tensor:
    small = _c.lt(shape, 1)
    d = _c.where(small, shape + 1, shape) - 1 / 3
    c = 1 / _c.sqrt(9 * d)
    result, done = _c.zeros_like(shape), _c.zeros_like(shape, dtype=_c.bool)
    while not _c.all(done).item():
        x, u = _c.randn(shape.shape, device=shape.device), _c.rand(shape.shape, device=shape.device)
        v = _c.pow(1 + c * x, 3)
        bound = 0.5 * _c.square(x) + d - d * v + d * _c.log(_c.maximum(v, 1e-30))
        taken = _c.logical_and(_c.gt(v, 0), _c.lt(_c.log(u), bound))
        result = _c.where(_c.logical_and(taken, _c.logical_not(done)), d * v, result)
        done = _c.logical_or(done, taken)
    power = _c.pow(1 - _c.rand(shape.shape, device=shape.device), 1 / shape)
    return _c.where(small, result * power, result)


def slope(a: Tensor, x: Tensor) -> Tensor:
    """-(dF/da) / (dF/dx) for the distribution function F(x, a), by the three approximations that PyTorch uses."""
    near_zero, wide = _c.lt(x, 0.8), _c.gt(a, 8)
    found = _c.where(near_zero, _by_series(a, x), _c.where(wide, _by_saddle_point(a, x), _by_ratio(a, x)))
    return _c.where(_c.isfinite(found), found, 0.0)


def _by_series(a: Tensor, x: Tensor) -> Tensor:
    factor: Any = 1.0
    first, second = 1 / a, 1 / _c.square(a)
    for i in range(1, 6):
        factor = factor * (-x / i)
        first, second = first + factor / (a + i), second + factor / _c.square(a + i)
    power = _c.pow(x, a)
    density = _c.pow(x, a - 1) * _c.exp(-x)
    return -((_c.log(x) - digamma(a)) * power * first - power * second) / density


def _by_saddle_point(a: Tensor, x: Tensor) -> Tensor:
    near = _c.logical_and(_c.le(0.9 * a, x), _c.le(x, 1.1 * a))
    first = 1 + 24 * a * (1 + 12 * a)
    second = 1440 * a * a + 6 * x * (53 - 120 * x) - 65 * x * x / a + a * (107 + 3600 * x)
    beside_mean = first * second / (1244160 * a * a * a * a)
    gap = _c.where(near, a, a - x)
    root = _c.sqrt(8 * a)
    deviance = _c.pow(_c.where(near, 1.0, x - a - a * _c.log(x / a)), -1.5)
    both = root / gap + _c.where(_c.lt(x, a), -deviance, deviance)
    term = _c.log(x / a) * both - _c.sqrt(2 / a) * (a + x) / _c.square(gap)
    stirling = 1 + 1 / (12 * a) * (1 + 1 / (24 * a))
    return _c.where(near, beside_mean, -stirling * x * term / root)


# fmt: off
_RATIO = (
    (0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1.0, 0.32668115, 0.10406089, 0.0014179084),
    (0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465, 0.020070113, -0.0035938915, -0.00058392623),
    (0.040121004, -0.0065914022, -0.0026286047, -0.0013441777, 0.017050642, -0.0021309326, 0.00085092367,
     -1.5247877e-07),
)
# fmt: on


def _by_ratio(a: Tensor, x: Tensor) -> Tensor:
    u, v = _c.log(x / a), _c.log(a)
    c = [c0 + u * (c1 + u * c2) for c0, c1, c2 in zip(*_RATIO)]
    over = c[0] + v * (c[1] + v * (c[2] + v * c[3]))
    return _c.exp(over / (c[4] + v * (c[5] + v * (c[6] + v * c[7]))))
