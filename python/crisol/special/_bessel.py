"""Bessel functions, and Airy's function. Each is one Chebyshev series near 0, and another one far away."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from .. import _crisol as _c
from .._crisol import Tensor
from .._functions._sloped import rounded_once, sloped
from .._functions._types import floats
from .._method import _method
from . import _bessel_tables as _tables

__all__ = ["airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "i0", "i0e", "i1", "i1e"]
__all__ += ["modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1"]
__all__ += ["scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0"]


@functools.cache
def _powers(name: str, error: float) -> list[float]:
    """The factors of the powers of t in a Chebyshev series, without the terms that are smaller than the error."""
    series = getattr(_tables, name)
    while abs(series[-1]) < error:
        series = series[:-1]
    before, polynomial = [1.0], [0.0, 1.0]
    powers = [0.0] * len(series)
    for factor in series:
        for k, value in enumerate(before):
            powers[k] += factor * value
        following = [0.0, *(2 * value for value in polynomial)]
        for k, value in enumerate(before):
            following[k] -= value
        before, polynomial = polynomial, following
    return powers


def _series(name: str, t: Tensor) -> Tensor:
    """A Chebyshev series of t, which is from -1 to 1."""
    powers = _powers(name, 0.0 if t.dtype == _c.float64 else 1e-9)
    result = _c.full_like(t, powers[-1])
    for factor in powers[-2::-1]:
        result = result * t + factor
    return result


def _parts(x: Tensor, limit: float) -> tuple[Tensor, Tensor, Tensor]:
    """Which x are up to a limit, and x there and beyond."""
    near = _c.le(x, limit)
    return near, _c.where(near, x, limit), _c.where(near, limit, x)


def _i(x: Tensor, name: str) -> Tensor:
    """exp(-|x|) i0(x), and exp(-|x|) i1(|x|)."""
    near, inner, outer = _parts(_c.abs(x), 8.0)
    of_near = _series(name, inner / 4 - 1) * (inner if name == "I1" else 1.0)
    return _c.where(near, of_near, _series(f"{name}_FAR", 16 / outer - 1) / _c.sqrt(outer))


def _by(y: Tensor, x: Tensor) -> Tensor:
    """i1(x) / x, which is 1/2 at 0."""
    zero = _c.eq(x, 0)
    return _c.where(zero, 0.5, y / _c.where(zero, 1.0, x))


@_method(Tensor)
@rounded_once
def i0(input: Tensor) -> Tensor:
    """The modified Bessel function of order 0."""
    return sloped(floats(input), lambda x: _i(x, "I0") * _c.exp(_c.abs(x)), i1)


@rounded_once
def i0e(input: Tensor) -> Tensor:
    """i0(x) exp(-|x|)"""
    return sloped(floats(input), lambda x: _i(x, "I0"), lambda x: i1e(x) - _c.sign(x) * i0e(x))


@rounded_once
def i1(input: Tensor) -> Tensor:
    """The modified Bessel function of order 1."""
    return sloped(
        floats(input),
        lambda x: _i(x, "I1") * _c.exp(_c.abs(x)) * _c.sign(x),
        lambda x: i0(x) - _by(i1(x), x),
    )


@rounded_once
def i1e(input: Tensor) -> Tensor:
    """i1(x) exp(-|x|)"""
    return sloped(
        floats(input),
        lambda x: _i(x, "I1") * _c.sign(x),
        lambda x: i0e(x) - _c.sign(x) * i1e(x) - _by(i1e(x), x),
    )


modified_bessel_i0, modified_bessel_i1 = i0, i1


def _of_positive(
    input: Tensor, at_zero: float, limit: float, near: Callable[..., Tensor], far: Callable[..., Tensor]
) -> Tensor:
    """A function with a pole at 0, and NaN below: near(x) up to a limit, and far(x) above."""
    x = floats(input)
    positive, beyond = _c.gt(x, 0), _c.gt(x, limit)
    inner, outer = _c.where(_c.logical_and(positive, _c.le(x, limit)), x, limit), _c.where(beyond, x, limit)
    return _c.where(positive, _c.where(beyond, far(outer), near(inner)), _c.where(x == 0, at_zero, math.nan))


def _k(input: Tensor, odd: bool, scaled: bool) -> Tensor:
    name = "K1" if odd else "K0"

    def near(x: Tensor) -> Tensor:
        rest, logarithm = _series(name, _c.square(x) / 2 - 1), _c.log(x / 2)
        found = logarithm * i1(x) + rest / x if odd else rest - logarithm * i0(x)
        return found * _c.exp(x) if scaled else found

    def far(x: Tensor) -> Tensor:
        found = _series(f"{name}_FAR", 4 / x - 1) / _c.sqrt(x)
        return found if scaled else found * _c.exp(-x)

    return _of_positive(input, math.inf, 2.0, near, far)


@rounded_once
def modified_bessel_k0(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind, of order 0."""
    return _k(input, False, False)


@rounded_once
def modified_bessel_k1(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind, of order 1."""
    return _k(input, True, False)


@rounded_once
def scaled_modified_bessel_k0(x: Tensor) -> Tensor:
    """modified_bessel_k0(x) exp(x)"""
    return _k(x, False, True)


@rounded_once
def scaled_modified_bessel_k1(x: Tensor) -> Tensor:
    """modified_bessel_k1(x) exp(x)"""
    return _k(x, True, True)


def _wave(x: Tensor, order: int, second_kind: bool) -> Tensor:
    """The function for x > 5: a series times the cosine of x - (2 order + 1) π / 4, and another one times its sine."""
    t = 50 / _c.square(x) - 1
    even, odd = _series(f"P{order}", t), _series(f"Q{order}", t) / x
    sine, cosine = _c.sin(x), _c.cos(x)
    # Both times the square root of 2.
    of_cosine, of_sine = (sine - cosine, -sine - cosine) if order else (cosine + sine, sine - cosine)
    found = even * of_sine + odd * of_cosine if second_kind else even * of_cosine - odd * of_sine
    return found / (math.sqrt(math.pi) * _c.sqrt(x))


def _j(x: Tensor, order: int) -> Tensor:
    near, inner, outer = _parts(_c.abs(x), 5.0)
    of_near = _series(f"J{order}", _c.square(inner) / 12.5 - 1) * (inner if order else 1.0)
    found = _c.where(near, of_near, _wave(outer, order, False))
    return found * _c.sign(x) if order else found


@rounded_once
def bessel_j0(input: Tensor) -> Tensor:
    """The Bessel function of the first kind, of order 0."""
    return _j(floats(input), 0)


@rounded_once
def bessel_j1(input: Tensor) -> Tensor:
    """The Bessel function of the first kind, of order 1."""
    return _j(floats(input), 1)


def _y(input: Tensor, order: int) -> Tensor:
    def near(x: Tensor) -> Tensor:
        rest = _series(f"Y{order}", _c.square(x) / 12.5 - 1)
        return 2 / math.pi * _c.log(x / 2) * _j(x, order) + (rest / x if order else rest)

    return _of_positive(input, -math.inf, 5.0, near, lambda x: _wave(x, order, True))


@rounded_once
def bessel_y0(input: Tensor) -> Tensor:
    """The Bessel function of the second kind, of order 0."""
    return _y(input, 0)


@rounded_once
def bessel_y1(input: Tensor) -> Tensor:
    """The Bessel function of the second kind, of order 1."""
    return _y(input, 1)


@rounded_once
def spherical_bessel_j0(input: Tensor) -> Tensor:
    """sin(x) / x, and 1 at 0."""
    x = floats(input)
    zero = x == 0
    return _c.where(zero, 1.0, _c.where(_c.isfinite(x), _c.sin(x) / _c.where(zero, 1.0, x), 0.0 * _c.sign(x)))


@rounded_once
def airy_ai(input: Tensor) -> Tensor:
    """Airy's function Ai. Outside of -2.5 to 1.5, its series are of 1 / z, where z = 2/3 |x|^(3/2)."""
    x = floats(input)
    at_right, at_left = _c.gt(x, 1.5), _c.lt(x, -2.5)
    near = _series("AIRY", (_c.where(_c.logical_or(at_right, at_left), 0.0, x) + 0.5) / 2)
    right, left = _c.where(at_right, x, 1.5), _c.where(at_left, -x, 2.5)
    z, angle = (2 / 3 * v * _c.sqrt(v) for v in (right, left))
    falling = _c.exp(-z) * _series("AIRY_RIGHT", 4 / 3 * 1.5**1.5 / z - 1)
    falling = falling / (2 * math.sqrt(math.pi) * _c.sqrt(_c.sqrt(right)))
    turned, t = angle - math.pi / 4, 8 / 9 * 2.5**3 / _c.square(angle) - 1
    wave = _c.cos(turned) * _series("AIRY_COS", t) + _c.sin(turned) * _series("AIRY_SIN", t) / angle
    wave = wave / (math.sqrt(math.pi) * _c.sqrt(_c.sqrt(left)))
    return _c.where(at_right, _c.where(x == math.inf, 0.0, falling), _c.where(at_left, wave, near))
