"""Functions around the gamma function and the error function."""

from __future__ import annotations

import math
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._functions import digamma
from .._functions._sloped import rounded_once, sloped
from .._functions._types import both_floats, finfo, floats

__all__ = ["erfcx", "gammainc", "gammaincc", "polygamma", "zeta"]


def zeta(input: Any, other: Any) -> Tensor:
    """The sum of (q + k)^-x over k = 0, 1, …: Hurwitz' function for x > 1. It is a sum of the terms with q + k < 9, and
    the series of Euler and Maclaurin for the rest. Waits for the device, which tells the least q."""
    of_type = [v.dtype for v in (input, other) if isinstance(v, Tensor) and _c.isdtype(v.dtype, "real floating")]
    of_type.append(_c._default_dtype())
    made = [v if isinstance(v, Tensor) else _c.asarray(float(v)) for v in (input, other)]
    x, q = _c._broadcast_tensors([v if v.dtype in of_type[:-1] and v.ndim else v.to(of_type[0]) for v in made])
    if x.dtype.itemsize == 2 or q.dtype.itemsize == 2:  # Two bytes are too few for the terms of a sum.
        return zeta(x.float(), q.float()).to(_c.promote_types(x.dtype, q.dtype))
    least = float(_c.min(_c.where(_c.isfinite(q), q.detach(), 0.0))) if q.numel() else 0.0
    count = 9 + min(math.ceil(max(-least, 0.0)), 10000)
    head = _c.pow(q, -x)
    for k in range(1, count):
        head = head + _c.pow(q + k, -x)
    end = q + count
    power = _c.pow(end, -x)
    rest, factor = power * end / (x - 1) + 0.5 * power, x * power / end
    for k, number in enumerate((12.0, -720.0, 30240.0, -1209600.0, 47900160.0)):
        rest = rest + factor / number
        factor = factor * (x + (2 * k + 1)) * (x + (2 * k + 2)) / _c.square(end)
    result = _c.where(x == 1, math.inf, _c.where(_c.lt(x, 1), math.nan, head + _c.where(x == math.inf, 0.0, rest)))
    below = _c.le(q, 0)
    undefined = _c.logical_and(below, _c.logical_and(x != _c.floor(x), q != _c.floor(q)))
    pole = _c.logical_and(_c.logical_and(below, q == _c.floor(q)), _c.gt(x, 1))
    return _c.where(pole, math.inf, _c.where(undefined, math.nan, result))


def polygamma(n: int, input: Tensor) -> Tensor:
    """The derivative of digamma(), n times."""
    if n == 0:
        return digamma(input)
    return (-1.0) ** (n + 1) * math.factorial(n) * zeta(float(n + 1), input)


def _polygamma(self: Tensor, n: int) -> Tensor:
    """special.polygamma()"""
    return polygamma(n, self)


Tensor.polygamma = _polygamma


def _density(a: Tensor, x: Tensor) -> Tensor:
    """x^a exp(-x) / gamma(a). For large a, it is Stirling's series times the power of x / a, so that large logarithms
    do not cancel."""
    is_wide = _c.gt(a, 10)
    wide, small = _c.where(is_wide, a, 10.0), _c.where(is_wide, 10.0, a)
    gap = _c.maximum((x - wide) / wide, -1.0 + finfo(x.dtype).eps / 2)
    small_square = 1 / _c.square(wide)
    stirling = _c.full_like(wide, -691 / 360360)
    for factor in (1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        stirling = stirling * small_square + factor
    of_wide = _c.sqrt(wide / (2 * math.pi)) * _c.exp(wide * (_c.log1p(gap) - gap) - stirling / wide)
    return _c.where(is_wide, of_wide, _c.exp(small * _c.log(x) - x - _c.lgamma(small)))


def _incomplete(input: Any, other: Any, upper: bool) -> Tensor:
    a, x = both_floats(input, other)
    dtype = _c.result_type(a, x)
    is_double = dtype == _c.float64
    a, x = _c._broadcast_tensors([v if is_double else v.to(_c.float32) for v in (a.to(dtype), x.to(dtype))])
    regular = _c.logical_and(_c.logical_and(_c.gt(a, 0), _c.gt(x, 0)), _c.logical_and(a < math.inf, x < math.inf))
    a0, x0 = _c.where(regular, a, 1.0), _c.where(regular, x, 1.0)
    by_series = _c.lt(x0, a0 + 1)
    most = float(_c.max(a0.detach())) if a.numel() else 1.0
    # The fraction needs the most steps for small x, and the series for large a.
    steps = (100 if is_double else 20) + int((9 if is_double else 6) * math.sqrt(2 * min(most, 1e6)))
    y = _c.where(by_series, x0, 1.0)
    term = 1 / a0
    total = term
    for i in range(1, steps):
        term = term * y / (a0 + i)
        total = total + term
    # The continued fraction, from its end.
    y = _c.where(by_series, a0 + 2, x0)
    below = y + (2 * steps + 1) - a0
    for i in range(steps, 0, -1):
        below = y + (2 * i - 1) - a0 - i * (i - a0) / below
    density = _density(a0, x0)
    lower_part = _c.where(by_series, density * total, 1 - density / below)
    upper_part = _c.where(by_series, 1 - density * total, density / below)
    found = _c._clip(upper_part if upper else lower_part, 0.0, 1.0)
    at_end = _c.where(_c.logical_or(x == math.inf, a == 0), 0.0 if upper else 1.0, 1.0 if upper else 0.0)
    undefined = _c.logical_or(_c.logical_or(_c.lt(a, 0), _c.lt(x, 0)), _c.logical_or(_c.isnan(a), _c.isnan(x)))
    undefined = _c.logical_or(undefined, _c.logical_and(a == x, _c.logical_or(a == 0, a == math.inf)))
    return _c.where(regular, found, _c.where(undefined, math.nan, at_end)).to(dtype)


def gammainc(input: Any, other: Any) -> Tensor:
    """The share of the gamma function's integral with exponent `input` that lies below `other`. Waits for the
    device."""
    return _incomplete(input, other, False)


def gammaincc(input: Any, other: Any) -> Tensor:
    """1 - gammainc(), also where that is small."""
    return _incomplete(input, other, True)


def _erfcx_of_double(x: Tensor) -> Tensor:
    """By the error function up to 5, where the square's rounding error is small, and by a continued fraction above."""
    far = _c.gt(x, 5.0)
    near, outer = _c.where(far, 5.0, x), _c.where(far, x, 5.0)
    fraction = outer
    for k in range(20, 0, -1):
        fraction = outer + k / 2 / fraction
    return _c.where(far, 1 / (math.sqrt(math.pi) * fraction), _c.exp(_c.square(near)) * _c.erfc(near))


# A Chebyshev approximation with a relative error of 1.2e-7 (Numerical Recipes, 6.2).
_ERFCX = (-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587)
_ERFCX += (-0.82215223, 0.17087277)


def _erfcx_of_single(x: Tensor) -> Tensor:
    t = 1 / (1 + x / 2)
    power = _c.full_like(t, _ERFCX[-1])
    for factor in _ERFCX[-2::-1]:
        power = power * t + factor
    return t * _c.exp(power)


@rounded_once
def erfcx(input: Tensor) -> Tensor:
    """exp(x²) erfc(x)"""
    return sloped(floats(input), _erfcx, lambda x: 2 * x * erfcx(x) - 2 / math.sqrt(math.pi))


def _erfcx(x: Tensor) -> Tensor:
    found = (_erfcx_of_double if x.dtype == _c.float64 else _erfcx_of_single)(_c.abs(x))
    below = _c.lt(x, 0)
    return _c.where(below, 2 * _c.exp(_c.square(_c.where(below, x, 0.0))) - found, found)
