"""The values of distributions in tables: the most probable one, the probability of a smaller one and its inverse, the set
of all values, and the sets of the parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from ..special import gammainc
from . import _base as b
from . import _choices as h
from . import _counts as n
from . import _matrices as x
from . import _more as m
from . import _powers as p
from . import _relaxed as r
from . import constraints as c

__all__: list[str] = []


def _standard(d: Any, value: Tensor) -> Tensor:
    return (value - d.loc) / d.scale


def _laplace_icdf(d: Any, value: Tensor) -> Tensor:
    term = value - 0.5
    return d.loc - d.scale * _c.sign(term) * _c.log1p(-2 * _c.abs(term))


def _laplace_cdf(d: Any, value: Tensor) -> Tensor:
    y = value - d.loc
    return 0.5 - 0.5 * _c.sign(y) * _c.expm1(-_c.abs(y) / d.scale)


_PROBABILITIES: dict[Any, tuple[Callable[[Any, Tensor], Tensor], Callable[[Any, Tensor], Tensor] | None]] = {
    b.Normal: (
        lambda d, v: 0.5 * (1 + _c.erf(_standard(d, v) / math.sqrt(2))),
        lambda d, v: d.loc + d.scale * (2 * v - 1).erfinv() * math.sqrt(2),
    ),
    b.Laplace: (_laplace_cdf, _laplace_icdf),
    b.Uniform: (
        lambda d, v: _c._clip((v - d.low) / (d.high - d.low), 0.0, 1.0),
        lambda d, v: d.low + (d.high - d.low) * v,
    ),
    b.Exponential: (lambda d, v: 1 - _c.exp(-d.rate * v), lambda d, v: -_c.log1p(-v) / d.rate),
    m.Cauchy: (
        lambda d, v: _c.atan(_standard(d, v)) / math.pi + 0.5,
        lambda d, v: _c.tan(math.pi * (v - 0.5)) * d.scale + d.loc,
    ),
    m.Gumbel: (
        lambda d, v: _c.exp(-_c.exp(-_standard(d, v))),
        lambda d, v: d.loc - d.scale * _c.log(-_c.log(v)),
    ),
    m.LogNormal: (
        lambda d, v: b.Normal(d.loc, d.scale).cdf(_c.log(v)),
        lambda d, v: _c.exp(b.Normal(d.loc, d.scale).icdf(v)),
    ),
    m.HalfNormal: (
        lambda d, v: _c.erf(v / (d.scale * math.sqrt(2))),
        lambda d, v: d.scale * v.erfinv() * math.sqrt(2),
    ),
    m.Gamma: (lambda d, v: gammainc(d.concentration, d.rate * v), None),
    n.Weibull: (
        lambda d, v: -_c.expm1(-_c.pow(v / d.scale, d.concentration)),
        lambda d, v: d.scale * _c.pow(-_c.log1p(-v), 1 / d.concentration),
    ),
    n.Pareto: (
        lambda d, v: 1 - _c.pow(d.scale / v, d.alpha),
        lambda d, v: d.scale * _c.pow(1 - v, -1 / d.alpha),
    ),
    n.MixtureSameFamily: (
        lambda d, v: _c.sum(d.mixture_distribution.probs * d.component_distribution.cdf(v.unsqueeze(-1)), axis=-1),
        None,
    ),
}


def _beta_mode(d: Any) -> Tensor:
    return _dirichlet_mode(d.pair()).select(-1, 0)


def _dirichlet_mode(d: Any) -> Tensor:
    a = _c.maximum(d.concentration - 1, 0.0)
    found = a / _c.sum(a, axis=-1, keepdims=True)
    flat = _c.all(_c.lt(d.concentration, 1), axis=-1, keepdims=True)
    largest = _c.eq(_c.arange(a.shape[-1], device=a.device), _c.argmax(d.concentration, -1).unsqueeze(-1))
    return _c.where(flat, largest.to(a.dtype), found)


def _best(d: Any) -> Tensor:
    best = _c.eq(_c.arange(d.probs.shape[-1], device=d.probs.device), _c.argmax(d.probs, -1).unsqueeze(-1))
    return best.to(d.probs.dtype)


def _wishart_mode(d: Any) -> Tensor:
    factor = d.df - d.event_shape[-1] - 1
    return _c.where(_c.le(factor, 0), math.nan, factor).reshape((*factor.shape, 1, 1)) * d.covariance_matrix


_MODES: dict[Any, Callable[[Any], Tensor]] = {
    h.Bernoulli: lambda d: _c.where(d.probs == 0.5, math.nan, _c.ge(d.probs, 0.5).to(d.probs.dtype)),
    h.Categorical: lambda d: _c.argmax(d.probs, -1),
    h.OneHotCategorical: _best,
    b.Exponential: lambda d: _c.zeros_like(d.rate),
    b.Uniform: lambda d: d.high * math.nan,
    b.Independent: lambda d: d.base_dist.mode,
    m.Gamma: lambda d: _c.maximum((d.concentration - 1) / d.rate, 0.0),
    m.Beta: _beta_mode,
    m.Dirichlet: _dirichlet_mode,
    m.Poisson: lambda d: _c.floor(d.rate),
    m.Geometric: lambda d: _c.zeros_like(d.probs),
    m.LogNormal: lambda d: _c.exp(d.loc - _c.square(d.scale)),
    n.Binomial: lambda d: _c.minimum(_c.floor((d.total_count + 1) * d.probs), d.total_count),
    n.NegativeBinomial: lambda d: _c.maximum(_c.floor((d.total_count - 1) * _c.exp(d.logits)), 0.0),
    n.Weibull: lambda d: d.scale * _c.pow(_c.maximum((d.concentration - 1) / d.concentration, 0.0), 1 / d.concentration),
    n.Pareto: lambda d: d.scale,
    p.FisherSnedecor: lambda d: _c.where(
        _c.gt(d.df1, 2), (d.df1 - 2) / d.df1 * d.df2 / (d.df2 + 2), math.nan
    ),
    p.InverseGamma: lambda d: d.rate / (d.concentration + 1),
    p.GeneralizedPareto: lambda d: d.loc,
    p.Kumaraswamy: lambda d: _kumaraswamy_mode(d.concentration1, d.concentration0),
    x.Wishart: _wishart_mode,
}
for _class in (b.Normal, b.Laplace, m.Cauchy, m.Gumbel, m.StudentT, x.MultivariateNormal, n.VonMises):
    _MODES[_class] = lambda d: d.loc
_MODES[x.LowRankMultivariateNormal] = lambda d: d.loc
for _class in (m.HalfNormal, p.HalfCauchy):
    _MODES[_class] = lambda d: _c.zeros_like(d.scale)


def _kumaraswamy_mode(a: Tensor, s: Tensor) -> Tensor:
    found = _c.pow((a - 1) / (a * s - 1), 1 / a)
    inside = _c.logical_and(_c.ge(a, 1), _c.logical_and(_c.ge(s, 1), _c.gt(a * s, 1)))
    return _c.where(inside, found, math.nan)


def _all_of(d: Any, count: int, expand: bool) -> Tensor:
    """0, 1, … for each distribution of the batch."""
    values = _c.arange(count, device=d.probs.device).reshape((count, *(1 for _ in d.batch_shape)))
    return values.expand((count, *d.batch_shape)) if expand else values


def _one_hots(d: Any, expand: bool) -> Tensor:
    count = d.event_shape[0]
    values = _c.eye(count, dtype=d.probs.dtype, device=d.probs.device)
    values = values.reshape((count, *(1 for _ in d.batch_shape), count))
    return values.expand((count, *d.batch_shape, count)) if expand else values


_EVERY: dict[Any, Callable[[Any, bool], Tensor]] = {
    h.Bernoulli: lambda d, expand: _all_of(d, 2, expand).to(d.probs.dtype),
    h.Categorical: lambda d, expand: _all_of(d, d.probs.shape[-1], expand),
    h.OneHotCategorical: _one_hots,
    n.Binomial: lambda d, expand: _all_of(d, int(_c.max(d.total_count).item()) + 1, expand).to(d.probs.dtype),
}

_LOC_SCALE = {"loc": c.real, "scale": c.positive}
_GAMMA = {"concentration": c.positive, "rate": c.positive}
_PROBS = {"probs": c.unit_interval, "logits": c.real}
_SHARES = {"probs": c.simplex, "logits": c.real_vector}
_COUNT = {"total_count": c.nonnegative_integer}
_VECTOR = {"loc": c.real_vector}
_SETS: dict[Any, tuple[Any, dict[str, Any]]] = {
    b.Normal: (c.real, _LOC_SCALE),
    b.Laplace: (c.real, _LOC_SCALE),
    b.Uniform: (lambda d: c.interval(d.low, d.high), {"low": c.real, "high": c.real}),
    b.Exponential: (c.nonnegative, {"rate": c.positive}),
    h.Bernoulli: (c.boolean, _PROBS),
    h.Categorical: (lambda d: c.integer_interval(0, d.probs.shape[-1] - 1), _SHARES),
    h.OneHotCategorical: (c.one_hot, _SHARES),
    b.Independent: (lambda d: c.independent(d.base_dist.support, d._axes), {}),
    m.Gamma: (c.nonnegative, _GAMMA),
    m.Chi2: (c.nonnegative, {"df": c.positive}),
    m.Beta: (c.unit_interval, {"concentration1": c.positive, "concentration0": c.positive}),
    m.Dirichlet: (c.simplex, {"concentration": c.independent(c.positive, 1)}),
    m.Poisson: (c.nonnegative_integer, {"rate": c.nonnegative}),
    m.Geometric: (c.nonnegative_integer, _PROBS),
    m.LogNormal: (c.positive, _LOC_SCALE),
    m.HalfNormal: (c.nonnegative, {"scale": c.positive}),
    m.Cauchy: (c.real, _LOC_SCALE),
    m.Gumbel: (c.real, _LOC_SCALE),
    m.StudentT: (c.real, {"df": c.positive, **_LOC_SCALE}),
    x.MultivariateNormal: (c.real_vector, {**_VECTOR, "scale_tril": c.lower_cholesky}),
    n.Binomial: (lambda d: c.integer_interval(0, d.total_count), {**_COUNT, **_PROBS}),
    n.NegativeBinomial: (c.nonnegative_integer, {"total_count": c.nonnegative, **_PROBS}),
    n.Multinomial: (lambda d: c.multinomial(d.total_count), _SHARES),
    n.Weibull: (c.positive, {"scale": c.positive, "concentration": c.positive}),
    n.Pareto: (lambda d: c.greater_than_eq(d.scale), {"alpha": c.positive, "scale": c.positive}),
    n.VonMises: (c.real, {"loc": c.real, "concentration": c.positive}),
    n.MixtureSameFamily: (lambda d: d.component_distribution.support, {}),
    r.RelaxedBernoulli: (c.unit_interval, _PROBS),
    r.RelaxedOneHotCategorical: (c.simplex, _SHARES),
    p.HalfCauchy: (c.nonnegative, {"scale": c.positive}),
    p.InverseGamma: (c.positive, _GAMMA),
    p.Kumaraswamy: (c.unit_interval, {"concentration1": c.positive, "concentration0": c.positive}),
    p.FisherSnedecor: (c.positive, {"df1": c.positive, "df2": c.positive}),
    p.GeneralizedPareto: (lambda d: c.interval(d.loc, d._end()), {**_LOC_SCALE, "concentration": c.real}),
    p.ContinuousBernoulli: (c.unit_interval, _PROBS),
    p.LogisticNormal: (c.simplex, _LOC_SCALE),
    x.LowRankMultivariateNormal: (c.real_vector, {**_VECTOR, "cov_diag": c.independent(c.positive, 1)}),
    x.Wishart: (c.positive_definite, {"scale_tril": c.lower_cholesky, "df": c.greater_than(0)}),
    x.LKJCholesky: (c.corr_cholesky, {"concentration": c.positive}),
}


def _add(cls: Any, name: str, function: Any, text: str, as_property: bool = False) -> None:
    def member(self: Any, *args: Any, **named: Any) -> Any:
        return function(self, *args, **named)

    member.__name__, member.__doc__ = name, text
    setattr(cls, name, property(member) if as_property else member)


for _class, (_cdf, _icdf) in _PROBABILITIES.items():
    _add(_class, "cdf", _cdf, "The probability of a smaller number.")
    if _icdf is not None:
        _add(_class, "icdf", _icdf, "The inverse of cdf().")
for _class, _mode in _MODES.items():
    _add(_class, "mode", _mode, "The most probable value.", True)
for _class, _every in _EVERY.items():
    _add(_class, "enumerate_support", lambda d, expand=True, every=_every: every(d, expand), "All values.")
    _class.has_enumerate_support = True
for _class, (_support, _parameters) in _SETS.items():
    if isinstance(_support, c.Constraint):
        _class.support = _support
    else:
        _add(_class, "support", _support, "The set of all values.", True)
    _class.arg_constraints = _parameters
b.Distribution.arg_constraints = {}  # type: ignore[attr-defined]
