"""Special functions, with PyTorch's names."""

from __future__ import annotations

import math
from typing import Any

from .. import _crisol as _c
from .._autocast import autocasts
from .._crisol import Tensor, erf, erfc, exp2, expm1, log1p
from .._functions import digamma, erfinv, expit, logit, logsumexp, round, sinc, xlog1py, xlogy
from .._functions._sloped import rounded_once, sloped
from .._functions._types import floats, in_dtype
from .._method import _in_place
from . import _bessel, _gamma, _polynomials
from ._bessel import *  # noqa: F403
from ._gamma import *  # noqa: F403
from ._gamma import erfcx
from ._polynomials import *  # noqa: F403

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
__all__ += [*_bessel.__all__, *_gamma.__all__, *_polynomials.__all__]

gammaln, psi = _c.lgamma, digamma


@autocasts
def entr(input: Tensor) -> Tensor:
    """-x log(x), 0 at 0, and -inf below."""
    below = _c.lt(input, 0)
    return _c.where(below, -math.inf, -xlogy(input, _c.where(below, 1.0, input)))


def ndtr(input: Tensor) -> Tensor:
    """The part of a normal distribution below x."""
    return _c.erfc(input * -math.sqrt(0.5)) * 0.5


@rounded_once
def log_ndtr(input: Tensor) -> Tensor:
    """The logarithm of ndtr(), also far below 0."""
    return sloped(floats(input), _log_ndtr, lambda x: math.sqrt(2 / math.pi) / erfcx(x * -math.sqrt(0.5)))


def _log_ndtr(x: Tensor) -> Tensor:
    below = _c.lt(x, -1)
    far, near = _c.where(below, x, -1.0), _c.where(below, -1.0, x)
    of_far = _c.log(erfcx(far * -math.sqrt(0.5)) / 2) - _c.square(far) / 2
    return _c.where(below, of_far, _c.log1p(_c.erfc(near * math.sqrt(0.5)) / -2))


@rounded_once
def ndtri(input: Tensor) -> Tensor:
    """The inverse of ndtr()."""
    x = floats(input)
    return math.sqrt(2) * erfinv(2 * x - 1)


def multigammaln(input: Tensor, p: int) -> Tensor:
    """The logarithm of the gamma function of p variables."""
    input = floats(input)
    result = _c.full_like(input, p * (p - 1) / 4 * math.log(math.pi))
    for j in range(p):
        result = result + _c.lgamma(input - j / 2)
    return result


Tensor.mvlgamma = multigammaln
_in_place(Tensor, "i0", "mvlgamma", "polygamma")


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis."""
    return in_dtype(_c.softmax, input, dim, dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """x - log(sum(exp(x))) along an axis."""
    return in_dtype(_c.log_softmax, input, dim, dtype)


def __dir__():
    return __all__
