"""Divergences of two distributions of one kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._functions import digamma
from ..nn import functional as F
from ._base import Distribution, Exponential, Independent, Normal, Uniform
from ._choices import Bernoulli, Categorical, OneHotCategorical
from ._matrices import MultivariateNormal, inside
from ._more import Beta, Dirichlet, Gamma, Poisson

__all__ = ["kl_divergence", "register_kl"]


def _normals(p: Any, q: Any) -> Tensor:
    ratio = _c.square(p.scale / q.scale)
    return 0.5 * (ratio + _c.square((p.loc - q.loc) / q.scale) - 1 - _c.log(ratio))


def _categories(p: Any, q: Any) -> Tensor:
    return _c.sum(p.probs * (p.logits - q.logits), -1)


def _bernoullis(p: Any, q: Any) -> Tensor:
    return F.softplus(q.logits) - F.softplus(p.logits) + p.probs * (p.logits - q.logits)


def _exponentials(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - _c.log(ratio)


def _uniforms(p: Any, q: Any) -> Tensor:
    outside = _c.logical_or(_c.lt(p.low, q.low), _c.gt(p.high, q.high))
    return _c.where(outside, math.inf, _c.log((q.high - q.low) / (p.high - p.low)))


def _gammas(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    first = b * _c.log(p.rate / q.rate) + _c.lgamma(b) - _c.lgamma(a)
    return first + (a - b) * digamma(a) + (q.rate - p.rate) * (a / p.rate)


def _dirichlets(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    total = _c.sum(a, -1)
    first = _c.lgamma(total) - _c.lgamma(_c.sum(b, -1)) - _c.sum(_c.lgamma(a) - _c.lgamma(b), -1)
    return first + _c.sum((a - b) * (digamma(a) - digamma(total).unsqueeze(-1)), -1)


def _betas(p: Any, q: Any) -> Tensor:
    return _dirichlets(p.pair(), q.pair())


def _poissons(p: Any, q: Any) -> Tensor:
    return p.rate * (_c.log(p.rate) - _c.log(q.rate)) - (p.rate - q.rate)


def _multivariate(p: Any, q: Any) -> Tensor:
    scaled = inside(q.scale_tril, p.scale_tril)
    moved = inside(q.scale_tril, (q.loc - p.loc).unsqueeze(-1))
    trace = _c.sum(_c.square(scaled), [-2, -1]) + _c.sum(_c.square(moved), [-2, -1])
    return q.half_log_det() - p.half_log_det() + 0.5 * (trace - p.event_shape[0])


_DIVERGENCES: dict[type, Callable[[Any, Any], Tensor]] = {
    Normal: _normals,
    Categorical: _categories,
    Uniform: _uniforms,
}
_DIVERGENCES |= {Gamma: _gammas, Beta: _betas, Dirichlet: _dirichlets, Poisson: _poissons}
_DIVERGENCES |= {MultivariateNormal: _multivariate}
_DIVERGENCES |= {OneHotCategorical: _categories, Bernoulli: _bernoullis, Exponential: _exponentials}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """A decorator for a function that gives the divergence of distributions of two classes. The last one counts."""

    def store(function: Any) -> Any:
        _REGISTERED.insert(0, (type_p, type_q, function))
        return function

    return store


_REGISTERED: list[tuple[type, type, Callable[[Any, Any], Tensor]]] = []


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The mean of p.log_prob() - q.log_prob() under p, for two distributions of one kind."""
    if isinstance(p, Independent) and isinstance(q, Independent) and p._axes == q._axes:
        return p._summed(kl_divergence(p.base_dist, q.base_dist))
    for of_p, of_q, function in _REGISTERED:
        if isinstance(p, of_p) and isinstance(q, of_q):
            return function(p, q)
    for kind, function in _DIVERGENCES.items():
        if isinstance(p, kind) and isinstance(q, kind):
            return function(p, q)
    raise NotImplementedError(f"[kl_divergence] there is no formula for {type(p).__name__} and {type(q).__name__}")
