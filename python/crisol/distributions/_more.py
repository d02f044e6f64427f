"""Distributions that are made of gamma and normal numbers."""

from __future__ import annotations

import math
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._functions import digamma, poisson, xlogy
from ..autograd import no_grad
from ._base import Distribution, Normal, _LocScale, _tensors
from ._gamma import gamma_numbers

__all__ = ["Beta", "Cauchy", "Chi2", "Dirichlet", "Gamma", "Geometric", "Gumbel", "HalfNormal", "LogNormal"]
__all__ += ["Poisson", "StudentT"]


class Gamma(Distribution):
    """The gamma distribution."""

    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = _tensors(concentration, rate)
        super().__init__(self.rate.shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Positive numbers."""
        return gamma_numbers(self.concentration.expand(self._shape(sample_shape))) / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        a = self.concentration
        return xlogy(a, self.rate) + xlogy(a - 1, value) - self.rate * value - _c.lgamma(a)

    def entropy(self) -> Tensor:
        """a - log(rate) + lgamma(a) + (1 - a) digamma(a)"""
        a = self.concentration
        return a - _c.log(self.rate) + _c.lgamma(a) + (1 - a) * digamma(a)

    @property
    def mean(self) -> Tensor:
        """concentration / rate"""
        return self.concentration / self.rate

    @property
    def variance(self) -> Tensor:
        """concentration / rate²"""
        return self.concentration / _c.square(self.rate)


class Chi2(Gamma):
    """The sum of the squares of df normal numbers."""

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (self.df,) = _tensors(df)
        super().__init__(0.5 * self.df, 0.5)


class Dirichlet(Distribution):
    """Dirichlet's distribution of numbers along the last axis, whose sum is 1."""

    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:])

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Gamma numbers, divided by their sum."""
        drawn = gamma_numbers(self.concentration.expand(self._shape(sample_shape)))
        return drawn / _c.sum(drawn, -1, True)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        a = self.concentration
        return _c.sum(xlogy(a - 1, value), -1) + _c.lgamma(_c.sum(a, -1)) - _c.sum(_c.lgamma(a), -1)

    def entropy(self) -> Tensor:
        """The mean of -log_prob()."""
        a, k = self.concentration, self.event_shape[0]
        total = _c.sum(a, -1)
        first = _c.sum(_c.lgamma(a), -1) - _c.lgamma(total) - (k - total) * digamma(total)
        return first - _c.sum((a - 1) * digamma(a), -1)

    @property
    def mean(self) -> Tensor:
        """concentration / its sum"""
        return self.concentration / _c.sum(self.concentration, -1, True)

    @property
    def variance(self) -> Tensor:
        """The variance of each number."""
        total = _c.sum(self.concentration, -1, True)
        return self.concentration * (total - self.concentration) / (_c.square(total) * (total + 1))


class Beta(Distribution):
    """The beta distribution of numbers in [0, 1]."""

    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = _tensors(concentration1, concentration0)
        super().__init__(self.concentration1.shape)

    def pair(self) -> Dirichlet:
        """The distribution of a number and 1 minus the number."""
        return Dirichlet(_c.stack([self.concentration1, self.concentration0], -1))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """The first number of pair()."""
        return self.pair().rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        return self.pair().log_prob(_c.stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        """The mean of -log_prob()."""
        return self.pair().entropy()

    @property
    def mean(self) -> Tensor:
        """concentration1 / (concentration1 + concentration0)"""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (_c.square(total) * (total + 1))


class Poisson(Distribution):
    """How many events happen if `rate` happen in the mean."""

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = _tensors(rate)
        super().__init__(self.rate.shape)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Whole numbers, as float32."""
        with no_grad():
            return poisson(self.rate.expand(self._shape(sample_shape)).contiguous())

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability."""
        return xlogy(value, self.rate) - self.rate - _c.lgamma(value + 1)

    @property
    def mean(self) -> Tensor:
        """rate"""
        return self.rate

    @property
    def variance(self) -> Tensor:
        """rate"""
        return self.rate


class Geometric(Distribution):
    """The number of failures before the first success."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Geometric takes probs or logits, and not both")
        (given,) = _tensors(logits if probs is None else probs)
        self.probs = _c.sigmoid(given) if probs is None else given
        super().__init__(self.probs.shape)

    @property
    def logits(self) -> Tensor:
        """log(probs / (1 - probs))"""
        return _c.log(self.probs) - _c.log1p(-self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Whole numbers, as float32."""
        with no_grad():
            drawn = 1 - _c.rand(self._shape(sample_shape), device=self.probs.device)
            return _c.floor(_c.log(drawn) / _c.log1p(-self.probs))

    def log_prob(self, value: Tensor) -> Tensor:
        """value · log(1 - probs) + log(probs)"""
        return xlogy(value, 1 - self.probs) + _c.log(self.probs)

    def entropy(self) -> Tensor:
        """The mean of -log_prob()."""
        return -(xlogy(self.probs, self.probs) + xlogy(1 - self.probs, 1 - self.probs)) / self.probs

    @property
    def mean(self) -> Tensor:
        """1 / probs - 1"""
        return 1 / self.probs - 1

    @property
    def variance(self) -> Tensor:
        """(1 / probs - 1) / probs"""
        return (1 / self.probs - 1) / self.probs


class LogNormal(_LocScale):
    """The exponential of normal numbers."""

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """exp(loc + scale · noise)"""
        return _c.exp(Normal(self.loc, self.scale).rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        return Normal(self.loc, self.scale).log_prob(_c.log(value)) - _c.log(value)

    def entropy(self) -> Tensor:
        """The mean of -log_prob()."""
        return Normal(self.loc, self.scale).entropy() + self.loc

    @property
    def mean(self) -> Tensor:
        """exp(loc + scale² / 2)"""
        return _c.exp(self.loc + _c.square(self.scale) / 2)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return _c.expm1(_c.square(self.scale)) * _c.exp(2 * self.loc + _c.square(self.scale))


class HalfNormal(Distribution):
    """The magnitude of normal numbers."""

    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = _tensors(scale)
        super().__init__(self.scale.shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """|noise| · scale"""
        return _c.abs(_c.randn(self._shape(sample_shape), device=self.scale.device)) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        density = Normal(_c.zeros_like(self.scale), self.scale).log_prob(value) + math.log(2)
        return _c.where(_c.ge(value, 0), density, -math.inf)

    def entropy(self) -> Tensor:
        """The mean of -log_prob()."""
        return Normal(_c.zeros_like(self.scale), self.scale).entropy() - math.log(2)

    @property
    def mean(self) -> Tensor:
        """scale · sqrt(2 / π)"""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        """scale² (1 - 2 / π)"""
        return _c.square(self.scale) * (1 - 2 / math.pi)


class Cauchy(_LocScale):
    """Cauchy's distribution. It has no mean."""

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """loc + scale · tan(π (noise - 1/2))"""
        drawn = _c.rand(self._shape(sample_shape), device=self.loc.device)
        return self.loc + self.scale * _c.tan(math.pi * (drawn - 0.5))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        return -math.log(math.pi) - _c.log(self.scale) - _c.log1p(_c.square((value - self.loc) / self.scale))

    def entropy(self) -> Tensor:
        """log(4π scale)"""
        return math.log(4 * math.pi) + _c.log(self.scale)

    @property
    def mean(self) -> Tensor:
        """NaN"""
        return self.loc * math.nan

    @property
    def variance(self) -> Tensor:
        """Infinity"""
        return _c.full_like(self.loc, math.inf)


class Gumbel(_LocScale):
    """Gumbel's distribution."""

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """loc - scale · log(-log(noise))"""
        drawn = self._uniform(sample_shape, self.loc.device, 2.0**-25)
        return self.loc - self.scale * _c.log(-_c.log(drawn))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        y = (self.loc - value) / self.scale
        return y - _c.exp(y) - _c.log(self.scale)

    def entropy(self) -> Tensor:
        """log(scale) + 1 + Euler's constant"""
        return _c.log(self.scale) + (1 + 0.57721566490153286)

    @property
    def mean(self) -> Tensor:
        """loc + scale · Euler's constant"""
        return self.loc + self.scale * 0.57721566490153286

    @property
    def variance(self) -> Tensor:
        """π² scale² / 6"""
        return _c.square(self.scale) * (math.pi**2 / 6)


class StudentT(Distribution):
    """Student's t distribution."""

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = _tensors(df, loc, scale)
        super().__init__(self.df.shape)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Numbers without gradients."""
        with no_grad():
            noise = _c.randn(self._shape(sample_shape), device=self.loc.device)
            return self.loc + self.scale * noise * _c.rsqrt(Chi2(self.df).sample(sample_shape) / self.df)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        y, df = (value - self.loc) / self.scale, self.df
        scale = _c.log(self.scale) + 0.5 * _c.log(df) + 0.5 * math.log(math.pi)
        scale = scale + _c.lgamma(0.5 * df) - _c.lgamma(0.5 * (df + 1))
        return -0.5 * (df + 1) * _c.log1p(_c.square(y) / df) - scale

    def entropy(self) -> Tensor:
        """The mean of -log_prob()."""
        half, more = self.df / 2, (self.df + 1) / 2
        log_beta = 0.5 * math.log(math.pi) + _c.lgamma(half) - _c.lgamma(more)
        return _c.log(self.scale) + more * (digamma(more) - digamma(half)) + 0.5 * _c.log(self.df) + log_beta

    @property
    def mean(self) -> Tensor:
        """loc, or NaN if df is at most 1."""
        return _c.where(_c.gt(self.df, 1), self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        """scale² df / (df - 2), or infinity if df is at most 2, or NaN if it is at most 1."""
        finite = _c.square(self.scale) * self.df / _c.where(_c.gt(self.df, 2), self.df - 2, 1.0)
        return _c.where(_c.gt(self.df, 2), finite, _c.where(_c.gt(self.df, 1), math.inf, math.nan))
