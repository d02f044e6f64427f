"""Distributions of positive numbers and of shares, made of others."""

from __future__ import annotations

import math
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._functions import digamma
from ..autograd import no_grad
from ..nn import functional as F
from ._base import Distribution, Normal, _tensors
from ._choices import Bernoulli, OneHotCategorical
from ._events import StickBreakingTransform
from ._gamma import gamma_numbers
from ._more import Cauchy, Gamma
from .transforms import TransformedDistribution

__all__ = ["ContinuousBernoulli", "ExponentialFamily", "FisherSnedecor", "GeneralizedPareto", "HalfCauchy"]
__all__ += ["InverseGamma", "Kumaraswamy", "LogisticNormal", "OneHotCategoricalStraightThrough"]

_EULER = 0.5772156649015329


class ExponentialFamily(Distribution):
    """A base for distributions of the exponential family."""


class HalfCauchy(Distribution):
    """The magnitude of Cauchy numbers around 0."""

    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = _tensors(scale)
        self._whole = Cauchy(_c.zeros_like(self.scale), self.scale)
        super().__init__(self.scale.shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """|noise| · scale"""
        return _c.abs(self._whole.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        return _c.where(_c.ge(value, 0), self._whole.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a smaller number."""
        return 2 * self._whole.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of cdf()."""
        return self._whole.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        """log(2π scale)"""
        return self._whole.entropy() - math.log(2)

    @property
    def mean(self) -> Tensor:
        """Infinity"""
        return _c.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        """Infinity"""
        return self._whole.variance


class InverseGamma(Distribution):
    """1 / x for gamma numbers x."""

    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = _tensors(concentration, rate)
        self.base_dist = Gamma(self.concentration, self.rate)
        super().__init__(self.rate.shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Positive numbers."""
        return 1 / self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        return self.base_dist.log_prob(1 / value) - 2 * _c.log(value)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a smaller number."""
        return 1 - self.base_dist.cdf(1 / value)

    def entropy(self) -> Tensor:
        """a + log(rate) + lgamma(a) - (1 + a) digamma(a)"""
        a = self.concentration
        return a + _c.log(self.rate) + _c.lgamma(a) - (1 + a) * digamma(a)

    @property
    def mean(self) -> Tensor:
        """rate / (a - 1), and infinity for a <= 1."""
        return _c.where(_c.gt(self.concentration, 1), self.rate / (self.concentration - 1), math.inf)

    @property
    def variance(self) -> Tensor:
        """rate² / ((a - 1)² (a - 2)), and infinity for a <= 2."""
        a = self.concentration
        return _c.where(_c.gt(a, 2), _c.square(self.rate / (a - 1)) / (a - 2), math.inf)


class Kumaraswamy(Distribution):
    """(1 - u^(1 / b))^(1 / a) for uniform u."""

    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = _tensors(concentration1, concentration0)
        super().__init__(self.concentration1.shape)

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of cdf()."""
        below = _c.expm1(_c.log1p(-value) / self.concentration0)
        return _c.pow(-below, 1 / self.concentration1)

    def cdf(self, value: Tensor) -> Tensor:
        """1 - (1 - value^a)^b"""
        return 1 - _c.pow(1 - _c.pow(value, self.concentration1), self.concentration0)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Numbers between 0 and 1."""
        return self.icdf(self._uniform(sample_shape, self.concentration1.device))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        a, b = self.concentration1, self.concentration0
        return _c.log(a * b) + (a - 1) * _c.log(value) + (b - 1) * _c.log1p(-_c.pow(value, a))

    def entropy(self) -> Tensor:
        """The mean of -log_prob()."""
        a, b = self.concentration1, self.concentration0
        return (1 - 1 / b) + (1 - 1 / a) * (digamma(b + 1) + _EULER) - _c.log(a * b)

    def _moment(self, n: float) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return _c.exp(_c.log(b) + _c.lgamma(1 + n / a) + _c.lgamma(b) - _c.lgamma(1 + n / a + b))

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self._moment(1)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self._moment(2) - _c.square(self._moment(1))


class FisherSnedecor(Distribution):
    """The ratio of two chi-square numbers, each divided by its degrees of freedom."""

    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = _tensors(df1, df2)
        super().__init__(self.df1.shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Positive numbers."""
        shape = self._shape(sample_shape)
        first, second = (gamma_numbers((df / 2).expand(shape)) / df for df in (self.df1, self.df2))
        return first / _c.maximum(second, 2.0**-126)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        a, b = self.df1 / 2, self.df2 / 2
        ratio = self.df1 / self.df2
        scale = _c.lgamma(a + b) - _c.lgamma(a) - _c.lgamma(b)
        return scale + a * _c.log(ratio) + (a - 1) * _c.log(value) - (a + b) * _c.log1p(ratio * value)

    @property
    def mean(self) -> Tensor:
        """df2 / (df2 - 2), and NaN for df2 <= 2."""
        return _c.where(_c.gt(self.df2, 2), self.df2 / (self.df2 - 2), math.nan)

    @property
    def variance(self) -> Tensor:
        """The variance, and NaN for df2 <= 4."""
        a, b = self.df1, _c.where(_c.gt(self.df2, 4), self.df2, math.nan)
        return 2 * _c.square(b) * (a + b - 2) / (a * _c.square(b - 2) * (b - 4))


class GeneralizedPareto(Distribution):
    """Numbers above loc with a tail like x^(-1 / concentration)."""

    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = _tensors(loc, scale, concentration)
        super().__init__(self.loc.shape)

    def _split(self) -> tuple[Tensor, Tensor]:
        """Whether the concentration is 0, and a concentration that is not."""
        zero = _c.lt(_c.abs(self.concentration), 1e-6)
        return zero, _c.where(zero, 1.0, self.concentration)

    def _end(self) -> Tensor:
        """The largest number, which is finite for a concentration below 0."""
        k = self.concentration
        return _c.where(_c.lt(k, 0), self.loc - self.scale / k, math.inf)

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of cdf()."""
        zero, k = self._split()
        log_rest = _c.log1p(-value)
        return self.loc + self.scale * _c.where(zero, -log_rest, _c.expm1(-k * log_rest) / k)

    def _rate(self, value: Tensor) -> Tensor:
        """log(1 + k z) / k, which is z for k = 0."""
        zero, k = self._split()
        z = (value - self.loc) / self.scale
        return _c.where(zero, z, _c.log1p(_c.where(zero, 0.0, k * z)) / k)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a smaller number."""
        return -_c.expm1(-self._rate(value))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Numbers above loc."""
        return self.icdf(_c.rand(self._shape(sample_shape), device=self.loc.device))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        return -_c.log(self.scale) - (1 + self.concentration) * self._rate(value)

    def entropy(self) -> Tensor:
        """log(scale) + concentration + 1"""
        return _c.log(self.scale) + self.concentration + 1

    @property
    def mean(self) -> Tensor:
        """loc + scale / (1 - k), and infinity for k >= 1."""
        k = self.concentration
        return _c.where(_c.lt(k, 1), self.loc + self.scale / (1 - k), math.inf)

    @property
    def variance(self) -> Tensor:
        """scale² / ((1 - k)² (1 - 2k)), and infinity for k >= 1/2."""
        k = self.concentration
        return _c.where(_c.lt(k, 0.5), _c.square(self.scale / (1 - k)) / (1 - 2 * k), math.inf)


class ContinuousBernoulli(Distribution):
    """Numbers between 0 and 1 with a density like probs^x (1 - probs)^(1 - x)."""

    has_rsample = True

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        each = Bernoulli(probs, logits)
        self.probs, self.logits, self._lims = each.probs, each.logits, lims
        super().__init__(self.probs.shape)

    def _cut(self) -> tuple[Tensor, Tensor]:
        """Where probs is so close to 1/2 that series are used, and a probability outside of that."""
        near = _c.logical_and(_c.gt(self.probs, self._lims[0]), _c.le(self.probs, self._lims[1]))
        limited = _c._clip(self.probs, 2.0**-23, 1 - 2.0**-23)
        return near, _c.where(near, self._lims[0], limited)

    def _log_constant(self) -> Tensor:
        near, p = self._cut()
        outside = _c.log(_c.abs(_c.log1p(-p) - _c.log(p))) - _c.log(_c.abs(1 - 2 * p))
        x = _c.square(self.probs - 0.5)
        return _c.where(near, math.log(2) + (4 / 3 + 104 / 45 * x) * x, outside)

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of cdf()."""
        near, p = self._cut()
        over = _c.log1p(-p + value * (2 * p - 1)) - _c.log1p(-p)
        return _c.where(near, value, over / (_c.log(p) - _c.log1p(-p)))

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a smaller number."""
        near, p = self._cut()
        inside = (_c.pow(p, value) * _c.pow(1 - p, 1 - value) + p - 1) / (2 * p - 1)
        return _c._clip(_c.where(near, value, inside), 0.0, 1.0)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Numbers between 0 and 1."""
        return self.icdf(_c.rand(self._shape(sample_shape), device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        logits, value = _c._broadcast_tensors([self.logits, value])
        return self._log_constant() - F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        """The mean of -log_prob()."""
        limited = _c._clip(self.probs, 2.0**-23, 1 - 2.0**-23)
        log_rest = _c.log1p(-limited)
        return self.mean * (log_rest - _c.log(limited)) - self._log_constant() - log_rest

    @property
    def mean(self) -> Tensor:
        """The mean."""
        near, p = self._cut()
        x = self.probs - 0.5
        outside = p / (2 * p - 1) + 1 / (_c.log1p(-p) - _c.log(p))
        return _c.where(near, 0.5 + (1 / 3 + 16 / 45 * _c.square(x)) * x, outside)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        near, p = self._cut()
        x = _c.square(self.probs - 0.5)
        outside = p * (p - 1) / _c.square(1 - 2 * p) + 1 / _c.square(_c.log1p(-p) - _c.log(p))
        return _c.where(near, 1 / 12 - (1 / 15 - 128 / 945 * x) * x, outside)


class LogisticNormal(TransformedDistribution):
    """Shares of 1 that StickBreakingTransform makes of normal numbers."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale)
        super().__init__(base if base.batch_shape else Normal(base.loc.reshape(1), base.scale.reshape(1)),
                         StickBreakingTransform())  # fmt: skip
        self.event_shape = type(self.event_shape)([self.event_shape[-1] + 1])

    @property
    def loc(self) -> Tensor:
        """That of the normal numbers."""
        return self.base_dist.loc  # type: ignore[attr-defined,no-any-return]

    @property
    def scale(self) -> Tensor:
        """That of the normal numbers."""
        return self.base_dist.scale  # type: ignore[attr-defined,no-any-return]


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical. Gradients go through rsample() as if it gave the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """The sample, with the gradient of probs."""
        with no_grad():
            drawn = self.sample(sample_shape)
        return drawn + (self.probs - self.probs.detach())
