"""Special functions, with PyTorch's names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import _crisol as _c
from ._crisol import Tensor, erf, erfc, exp2, expm1, log1p
from ._functions import digamma, erfinv, expit, logit, round, sinc, xlog1py, xlogy
from ._method import _numpy_names

__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "log1p",
    "log_ndtr",
    "log_softmax",
]
__all__ += [
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
]
__all__ += ["i0", "i0e", "i1", "i1e", "polygamma", "zeta"]

gammaln, psi = _c.lgamma, digamma


def entr(input: Tensor) -> Tensor:
    """-x log(x), 0 at 0, and -inf below."""
    below = _c.lt(input, 0)
    return _c.where(below, -math.inf, -xlogy(input, _c.where(below, 1.0, input)))


def ndtr(input: Tensor) -> Tensor:
    """The part of a normal distribution below x."""
    return _c.erfc(input * -math.sqrt(0.5)) * 0.5


def log_ndtr(input: Tensor) -> Tensor:
    """The logarithm of ndtr(), also far below 0."""
    x = _c.minimum(input, -5.0)
    # The asymptotic series of the error function.
    inverse = 1 / _c.square(x)
    series = 1 - inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse)))
    far = -0.5 * _c.square(x) - _c.log(-x) - 0.5 * math.log(2 * math.pi) + _c.log(series)
    return _c.where(_c.lt(input, -5), far, _c.log(ndtr(_c.maximum(input, -5.0))))


def ndtri(input: Tensor) -> Tensor:
    """The inverse of ndtr()."""
    x = input if _c.isdtype(input.dtype, "real floating") else input.to(_c.float32)
    return math.sqrt(2) * erfinv(2 * x - 1)


def multigammaln(input: Tensor, p: int) -> Tensor:
    """The logarithm of the gamma function of p variables."""
    if not _c.isdtype(input.dtype, "real floating"):
        input = input.to(_c.float32)
    result = _c.full_like(input, p * (p - 1) / 4 * math.log(math.pi))
    for j in range(p):
        result = result + _c.lgamma(input - j / 2)
    return result


Tensor.mvlgamma = multigammaln


def zeta(input: Any, other: Any) -> Tensor:
    """The sum of (q + k)^-x over k = 0, 1, …: Hurwitz' function for x > 1. It is a sum of the terms with q + k < 9, and
    the series of Euler and Maclaurin for the rest. Waits for the device, which tells the least q."""
    of_type = [v.dtype for v in (input, other) if isinstance(v, Tensor) and _c.isdtype(v.dtype, "real floating")]
    of_type.append(_c.float32)
    made = [v if isinstance(v, Tensor) else _c.asarray(float(v)) for v in (input, other)]
    x, q = _c._broadcast_tensors([v if v.dtype in of_type[:-1] and v.ndim else v.to(of_type[0]) for v in made])
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
    x = input if _c.isdtype(input.dtype, "real floating") else input.to(_c.float32)
    magnitude, small = _c.abs(x), _c.lt(_c.abs(x), 3.75)
    inner = _c.minimum(magnitude, 3.75)
    result = _series(_c.square(inner / 3.75), near) * (inner if odd else 1.0)
    outer = _c.maximum(magnitude, 3.75)
    large = _series(3.75 / outer, far) / _c.sqrt(outer)
    small_part, large_part = (result * _c.exp(-inner), large) if scaled else (result, large * _c.exp(outer))
    found = _c.where(small, small_part, large_part)
    return found * _c.sign(x) if odd else found


def i0(input: Tensor) -> Tensor:
    """The modified Bessel function of order 0."""
    return _bessel(input, _I0, _I0_FAR, False, False)


def i0e(input: Tensor) -> Tensor:
    """i0(x) exp(-|x|)"""
    return _bessel(input, _I0, _I0_FAR, False, True)


def i1(input: Tensor) -> Tensor:
    """The modified Bessel function of order 1."""
    return _bessel(input, _I1, _I1_FAR, True, False)


def i1e(input: Tensor) -> Tensor:
    """i1(x) exp(-|x|)"""
    return _bessel(input, _I1, _I1_FAR, True, True)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis."""
    return _c.softmax(input if dtype is None else input.to(dtype), dim)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """x - log(sum(exp(x))) along an axis."""
    return _c.log_softmax(input if dtype is None else input.to(dtype), dim)


@_numpy_names
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """log(sum(exp(x))) along axes, without overflow."""
    return _c.logsumexp(input, dim, keepdim)


def __dir__():
    return __all__
