"""Orthogonal polynomials, by their recurrences. The degree is a number, or a tensor of degrees: then the call waits for
the device, which tells the largest degree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._functions._types import floats

__all__ = ["chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w"]
__all__ += ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]
__all__ += ["shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v"]
__all__ += ["shifted_chebyshev_polynomial_w"]

_First = Callable[[Tensor], Tensor]
_Next = Callable[[Tensor, int, Tensor, Tensor], Tensor]


def _polynomial(input: Any, n: Any, first: _First, following: _Next) -> Tensor:
    """The polynomial of degree n, where degree 0 is 1, degree 1 is first(x), and following() gives degree k + 1 from k
    and the polynomials of degree k and k - 1. A degree below 0 gives 0."""
    x = floats(input) if isinstance(input, Tensor) else _c.asarray(float(input))
    degrees, most = None, 0
    if isinstance(n, Tensor):
        x, degrees = _c._broadcast_tensors([x, _c.trunc(floats(n))])
        most = int(_c.max(degrees).item()) if x.numel() else 0
    else:
        most = int(n)
    before, now = _c.ones_like(x), first(x)
    if degrees is None and most < 1:
        return before if most == 0 else _c.zeros_like(x)
    result = None if degrees is None else _c.where(degrees == 0, before, _c.where(_c.lt(degrees, 0), 0.0, now))
    for k in range(1, most):
        before, now = now, following(x, k, now, before)
        result = None if degrees is None else _c.where(degrees == k + 1, now, result)
    return now if result is None else result


def _shifted(input: Any) -> Any:
    return 2 * (floats(input) if isinstance(input, Tensor) else input) - 1


def _twice(x: Tensor, k: int, p: Tensor, q: Tensor) -> Tensor:
    return 2 * x * p - q


def chebyshev_polynomial_t(input: Any, n: Any) -> Tensor:
    """The Chebyshev polynomial of the first kind of degree n."""
    return _polynomial(input, n, lambda x: x, _twice)


def chebyshev_polynomial_u(input: Any, n: Any) -> Tensor:
    """The Chebyshev polynomial of the second kind of degree n."""
    return _polynomial(input, n, lambda x: 2 * x, _twice)


def chebyshev_polynomial_v(input: Any, n: Any) -> Tensor:
    """The Chebyshev polynomial of the third kind of degree n."""
    return _polynomial(input, n, lambda x: 2 * x - 1, _twice)


def chebyshev_polynomial_w(input: Any, n: Any) -> Tensor:
    """The Chebyshev polynomial of the fourth kind of degree n."""
    return _polynomial(input, n, lambda x: 2 * x + 1, _twice)


def hermite_polynomial_h(input: Any, n: Any) -> Tensor:
    """The physicist's Hermite polynomial of degree n."""
    return _polynomial(input, n, lambda x: 2 * x, lambda x, k, p, q: 2 * x * p - 2 * k * q)


def hermite_polynomial_he(input: Any, n: Any) -> Tensor:
    """The probabilist's Hermite polynomial of degree n."""
    return _polynomial(input, n, lambda x: x, lambda x, k, p, q: x * p - k * q)


def laguerre_polynomial_l(input: Any, n: Any) -> Tensor:
    """The Laguerre polynomial of degree n."""
    return _polynomial(input, n, lambda x: 1 - x, lambda x, k, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1))


def legendre_polynomial_p(input: Any, n: Any) -> Tensor:
    """The Legendre polynomial of degree n."""
    return _polynomial(input, n, lambda x: x, lambda x, k, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1))


def shifted_chebyshev_polynomial_t(input: Any, n: Any) -> Tensor:
    """chebyshev_polynomial_t() of 2x - 1."""
    return chebyshev_polynomial_t(_shifted(input), n)


def shifted_chebyshev_polynomial_u(input: Any, n: Any) -> Tensor:
    """chebyshev_polynomial_u() of 2x - 1."""
    return chebyshev_polynomial_u(_shifted(input), n)


def shifted_chebyshev_polynomial_v(input: Any, n: Any) -> Tensor:
    """chebyshev_polynomial_v() of 2x - 1."""
    return chebyshev_polynomial_v(_shifted(input), n)


def shifted_chebyshev_polynomial_w(input: Any, n: Any) -> Tensor:
    """chebyshev_polynomial_w() of 2x - 1."""
    return chebyshev_polynomial_w(_shifted(input), n)
