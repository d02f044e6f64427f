"""Bessel functions, and Airy's function. Each is a polynomial near 0 and another one far away, with an error of about
1e-7. Most are of Abramowitz and Stegun, chapter 9; those of Airy's function are Chebyshev interpolations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .. import _crisol as _c
from .._crisol import Tensor
from .._functions._sloped import sloped
from .._functions._types import floats
from .._method import _method

__all__ = ["airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "i0", "i0e", "i1", "i1e"]
__all__ += ["modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1"]
__all__ += ["scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0"]


def _series(t: Tensor, factors: Sequence[float]) -> Tensor:
    result = _c.full_like(t, factors[-1])
    for factor in factors[-2::-1]:
        result = result * t + factor
    return result


# Abramowitz and Stegun 9.8.1 to 9.8.4: polynomials of (x / 3.75)^2, and of 3.75 / x.
_I0 = (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813)
_I0_FAR = (
    0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377,
)  # fmt: skip
_I1 = (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411)
_I1_FAR = (
    0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654, -0.00420059,
)  # fmt: skip


def _bessel(input: Tensor, near: Sequence[float], far: Sequence[float], odd: bool, scaled: bool) -> Tensor:
    x = floats(input)
    magnitude, small = _c.abs(x), _c.lt(_c.abs(x), 3.75)
    inner, outer = _c.where(small, magnitude, 3.75), _c.where(small, 3.75, magnitude)
    result = _series(_c.square(inner / 3.75), near) * (inner if odd else 1.0)
    large = _series(3.75 / outer, far) / _c.sqrt(outer)
    small_part, large_part = (result * _c.exp(-inner), large) if scaled else (result, large * _c.exp(outer))
    found = _c.where(small, small_part, large_part)
    return found * _c.sign(x) if odd else found


def _by(y: Tensor, x: Tensor) -> Tensor:
    """i1(x) / x, which is 1/2 at 0."""
    zero = _c.eq(x, 0)
    return _c.where(zero, 0.5, y / _c.where(zero, 1.0, x))


@_method(Tensor)
def i0(input: Tensor) -> Tensor:
    """The modified Bessel function of order 0."""
    return sloped(floats(input), lambda x: _bessel(x, _I0, _I0_FAR, False, False), i1)


def i0e(input: Tensor) -> Tensor:
    """i0(x) exp(-|x|)"""
    return _bessel(input, _I0, _I0_FAR, False, True)


def i1(input: Tensor) -> Tensor:
    """The modified Bessel function of order 1."""
    return sloped(floats(input), lambda x: _bessel(x, _I1, _I1_FAR, True, False), lambda x: i0(x) - _by(i1(x), x))


def i1e(input: Tensor) -> Tensor:
    """i1(x) exp(-|x|)"""
    return sloped(
        floats(input),
        lambda x: _bessel(x, _I1, _I1_FAR, True, True),
        lambda x: i0e(x) - _c.sign(x) * i1e(x) - _by(i1e(x), x),
    )


modified_bessel_i0, modified_bessel_i1 = i0, i1

# 9.8.5 to 9.8.8: polynomials of (x / 2)^2, and of 2 / x.
_K0 = (-0.57721566, 0.42278420, 0.23069756, 0.03488590, 0.00262698, 0.00010750, 0.00000740)
_K0_FAR = (1.25331414, -0.07832358, 0.02189568, -0.01062446, 0.00587872, -0.00251540, 0.00053208)
_K1 = (1.0, 0.15443144, -0.67278579, -0.18156897, -0.01919402, -0.00110404, -0.00004686)
_K1_FAR = (1.25331414, 0.23498619, -0.03655620, 0.01504268, -0.00780353, 0.00325614, -0.00068245)


def _of_positive(
    input: Tensor, at_zero: float, limit: float, near: Callable[..., Tensor], far: Callable[..., Tensor]
) -> Tensor:
    """A function with a pole at 0, and NaN below: near(x) up to a limit, and far(x) above."""
    x = floats(input)
    positive, beyond = _c.gt(x, 0), _c.gt(x, limit)
    inner, outer = _c.where(_c.logical_and(positive, _c.le(x, limit)), x, limit), _c.where(beyond, x, limit)
    return _c.where(positive, _c.where(beyond, far(outer), near(inner)), _c.where(x == 0, at_zero, math.nan))


def _k(input: Tensor, odd: bool, scaled: bool) -> Tensor:
    def near(x: Tensor) -> Tensor:
        half, logarithm = _c.square(x / 2), _c.log(x / 2)
        found = logarithm * i1(x) + _series(half, _K1) / x if odd else _series(half, _K0) - logarithm * i0(x)
        return found * _c.exp(x) if scaled else found

    def far(x: Tensor) -> Tensor:
        found = _series(2 / x, _K1_FAR if odd else _K0_FAR) / _c.sqrt(x)
        return found if scaled else found * _c.exp(-x)

    return _of_positive(input, math.inf, 2.0, near, far)


def modified_bessel_k0(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind, of order 0."""
    return _k(input, False, False)


def modified_bessel_k1(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind, of order 1."""
    return _k(input, True, False)


def scaled_modified_bessel_k0(x: Tensor) -> Tensor:
    """modified_bessel_k0(x) exp(x)"""
    return _k(x, False, True)


def scaled_modified_bessel_k1(x: Tensor) -> Tensor:
    """modified_bessel_k1(x) exp(x)"""
    return _k(x, True, True)


# 9.4.1 to 9.4.6: polynomials of (x / 3)^2; of 3 / x, for the amplitude and for the angle.
_J0 = (1.0, -2.2499997, 1.2656208, -0.3163866, 0.0444479, -0.0039444, 0.0002100)
_Y0 = (0.36746691, 0.60559366, -0.74350384, 0.25300117, -0.04261214, 0.00427916, -0.00024846)
_SIZE0 = (0.79788456, -0.00000077, -0.00552740, -0.00009512, 0.00137237, -0.00072805, 0.00014476)
_ANGLE0 = (-0.78539816, -0.04166397, -0.00003954, 0.00262573, -0.00054125, -0.00029333, 0.00013558)
_J1 = (0.5, -0.56249985, 0.21093573, -0.03954289, 0.00443319, -0.00031761, 0.00001109)
_Y1 = (-0.6366198, 0.2212091, 2.1682709, -1.3164827, 0.3123951, -0.0400976, 0.0027873)
_SIZE1 = (0.79788456, 0.00000156, 0.01659667, 0.00017105, -0.00249511, 0.00113653, -0.00020033)
_ANGLE1 = (-2.35619449, 0.12499612, 0.00005650, -0.00637879, 0.00074348, 0.00079824, -0.00029166)


def _wave(x: Tensor, odd: bool, function: Callable[[Tensor], Tensor]) -> Tensor:
    """The amplitude times the cosine or sine of the angle, for x > 3."""
    size, angle = (_series(3 / x, table) for table in ((_SIZE1, _ANGLE1) if odd else (_SIZE0, _ANGLE0)))
    return size / _c.sqrt(x) * function(x + angle)


def _j(x: Tensor, odd: bool) -> Tensor:
    magnitude = _c.abs(x)
    small = _c.le(magnitude, 3.0)
    inner, outer = _c.where(small, magnitude, 3.0), _c.where(small, 3.0, magnitude)
    near = _series(_c.square(inner / 3), _J1 if odd else _J0) * (inner if odd else 1.0)
    found = _c.where(small, near, _wave(outer, odd, _c.cos))
    return found * _c.sign(x) if odd else found


def bessel_j0(input: Tensor) -> Tensor:
    """The Bessel function of the first kind, of order 0."""
    return _j(floats(input), False)


def bessel_j1(input: Tensor) -> Tensor:
    """The Bessel function of the first kind, of order 1."""
    return _j(floats(input), True)


def _y(input: Tensor, odd: bool) -> Tensor:
    def near(x: Tensor) -> Tensor:
        rest = _series(_c.square(x / 3), _Y1 if odd else _Y0)
        return 2 / math.pi * _c.log(x / 2) * _j(x, odd) + (rest / x if odd else rest)

    return _of_positive(input, -math.inf, 3.0, near, lambda x: _wave(x, odd, _c.sin))


def bessel_y0(input: Tensor) -> Tensor:
    """The Bessel function of the second kind, of order 0."""
    return _y(input, False)


def bessel_y1(input: Tensor) -> Tensor:
    """The Bessel function of the second kind, of order 1."""
    return _y(input, True)


def spherical_bessel_j0(input: Tensor) -> Tensor:
    """sin(x) / x, and 1 at 0."""
    x = floats(input)
    zero = x == 0
    return _c.where(zero, 1.0, _c.where(_c.isfinite(x), _c.sin(x) / _c.where(zero, 1.0, x), 0.0 * _c.sign(x)))


# A polynomial of (x + 1/2) / 2 from -2.5 to 1.5, and polynomials of 1 / z outside, where z = 2/3 |x|^(3/2).
# fmt: off
_AIRY = (
    0.475728091, -0.408163308, -0.475728067, 0.770357318, -0.192821387, -0.267313373, 0.218287669, -0.0240646872,
    -0.0460006949, 0.0250888175, -0.00108006354, -0.00402963936, 0.00149313482, 0.000162151669, -0.000166468183,
)
_AIRY_RIGHT = (
    0.999999997, -0.0694435495, 0.0370931322, -0.0372584053, 0.0504106258, -0.0705399307, 0.0821437999, -0.067732504,
    0.0337208636, -0.00749960087,
)
_AIRY_COS = (
    1.0, -6.0600582e-08, -0.037128963, -0.000126181407, 0.0591531273, -0.00418129422, -0.376653609, 1.01362963,
    -1.23321459, 0.61102778,
)
_AIRY_SIN = (
    -2.63672497e-10, 0.0694445544, -9.57767603e-06, -0.0376533373, -0.00624816597, 0.182332138, -0.412646778,
    0.449539318, -0.205914087, -0.000281789213,
)
# fmt: on


def airy_ai(input: Tensor) -> Tensor:
    """Airy's function Ai."""
    x = floats(input)
    at_right, at_left = _c.gt(x, 1.5), _c.lt(x, -2.5)
    near = _series((_c.where(_c.logical_or(at_right, at_left), 0.0, x) + 0.5) / 2, _AIRY)
    right, left = _c.where(at_right, x, 1.5), _c.where(at_left, -x, 2.5)
    z, angle = (2 / 3 * v * _c.sqrt(v) for v in (right, left))
    falling = _c.exp(-z) * _series(1 / z, _AIRY_RIGHT) / (2 * math.sqrt(math.pi) * _c.sqrt(_c.sqrt(right)))
    turned = angle - math.pi / 4
    wave = _c.cos(turned) * _series(1 / angle, _AIRY_COS) + _c.sin(turned) * _series(1 / angle, _AIRY_SIN)
    wave = wave / (math.sqrt(math.pi) * _c.sqrt(_c.sqrt(left)))
    return _c.where(at_right, _c.where(x == math.inf, 0.0, falling), _c.where(at_left, wave, near))
