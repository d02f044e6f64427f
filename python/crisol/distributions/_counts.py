"""Distributions of counts, of powers of uniform numbers and of angles, and mixtures."""

from __future__ import annotations

import math
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._functions import multinomial, poisson
from ..autograd import no_grad
from ..nn import functional as F
from ..special import i0e, i1e
from ._base import Distribution, _tensors
from ._choices import Bernoulli, Categorical
from ._gamma import gamma_numbers

__all__ = ["Binomial", "MixtureSameFamily", "Multinomial", "NegativeBinomial", "Pareto", "VonMises", "Weibull"]


class _Repeated(Distribution):
    """Counts of ones among numbers that are 1 with probability probs."""

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        each = Bernoulli(probs, logits)
        self.total_count, self.probs, self.logits = _tensors(total_count, each.probs, each.logits)
        super().__init__(self.probs.shape)


class Binomial(_Repeated):
    """The number of ones among total_count numbers, each 1 with probability probs."""

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Counts."""
        most = int(_c.max(self.total_count).item())
        with no_grad():
            u = _c.rand((most, *self._shape(sample_shape)), device=self.probs.device)
            tries = _c.arange(most, device=self.probs.device).reshape((most, *(1 for _ in u.shape[1:])))
            hits = _c.logical_and(_c.lt(u, self.probs), _c.lt(tries.to(u.dtype), self.total_count))
            return _c.sum(hits.to(self.probs.dtype), 0)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a count."""
        n = self.total_count
        ways = _c.lgamma(n + 1) - _c.lgamma(value + 1) - _c.lgamma(n - value + 1)
        return ways + value * self.logits - n * F.softplus(self.logits)

    @property
    def mean(self) -> Tensor:
        """total_count · probs"""
        return self.total_count * self.probs

    @property
    def variance(self) -> Tensor:
        """total_count · probs · (1 - probs)"""
        return self.mean * (1 - self.probs)


class NegativeBinomial(_Repeated):
    """The number of ones before total_count zeros, where each number is 1 with probability probs."""

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Counts."""
        with no_grad():
            shape = self._shape(sample_shape)
            return poisson(gamma_numbers(self.total_count.expand(shape)) * _c.exp(self.logits))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a count."""
        n = self.total_count
        ways = _c.lgamma(n + value) - _c.lgamma(value + 1) - _c.lgamma(n)
        return ways - n * F.softplus(self.logits) - value * F.softplus(-self.logits)

    @property
    def mean(self) -> Tensor:
        """total_count · probs / (1 - probs)"""
        return self.total_count * _c.exp(self.logits)

    @property
    def variance(self) -> Tensor:
        """mean / (1 - probs)"""
        return self.mean / _c.sigmoid(-self.logits)


class Multinomial(Distribution):
    """How often each number appears among total_count numbers of a Categorical."""

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.total_count, self._numbers = total_count, Categorical(probs, logits)
        self.probs, self.logits = self._numbers.probs, self._numbers.logits
        super().__init__(self.probs.shape[:-1], self.probs.shape[-1:])

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Counts, along the last axis."""
        with no_grad():
            n = self.event_shape[0]
            rows = self.probs.expand(self._shape(sample_shape)).reshape((-1, n))
            drawn = multinomial(rows, self.total_count, True)
            return _c.sum(F.one_hot(drawn, n), 1).to(self.probs.dtype).reshape(self._shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of counts."""
        ways = _c.lgamma(_c.sum(value, -1) + 1) - _c.sum(_c.lgamma(value + 1), -1)
        return ways + _c.sum(_c.where(value == 0, 0.0, value * self.logits), -1)

    @property
    def mean(self) -> Tensor:
        """total_count · probs"""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """total_count · probs · (1 - probs)"""
        return self.mean * (1 - self.probs)


class Weibull(Distribution):
    """scale · (-log u)^(1 / concentration) for uniform u."""

    has_rsample = True

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = _tensors(scale, concentration)
        super().__init__(self.scale.shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Positive numbers."""
        u = self._uniform(sample_shape, self.scale.device)
        return self.scale * _c.pow(-_c.log(u), 1 / self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        k, x = self.concentration, value / self.scale
        return _c.log(k / self.scale) + (k - 1) * _c.log(x) - _c.pow(x, k)

    def entropy(self) -> Tensor:
        """γ (1 - 1 / k) + log(scale / k) + 1"""
        k = self.concentration
        return 0.5772156649015329 * (1 - 1 / k) + _c.log(self.scale / k) + 1

    def _moment(self, n: float) -> Tensor:
        return _c.exp(_c.lgamma(1 + n / self.concentration))

    @property
    def mean(self) -> Tensor:
        """scale · Γ(1 + 1 / k)"""
        return self.scale * self._moment(1)

    @property
    def variance(self) -> Tensor:
        """scale² (Γ(1 + 2 / k) - Γ(1 + 1 / k)²)"""
        return _c.square(self.scale) * (self._moment(2) - _c.square(self._moment(1)))


class Pareto(Distribution):
    """scale · u^(-1 / alpha) for uniform u."""

    has_rsample = True

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = _tensors(scale, alpha)
        super().__init__(self.scale.shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Numbers above scale."""
        u = 1 - _c.rand(self._shape(sample_shape), device=self.scale.device)
        return self.scale * _c.pow(u, -1 / self.alpha)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        found = _c.log(self.alpha / value) + self.alpha * (_c.log(self.scale) - _c.log(value))
        return _c.where(_c.lt(value, self.scale), -math.inf, found)

    def entropy(self) -> Tensor:
        """log(scale / alpha) + 1 + 1 / alpha"""
        return _c.log(self.scale / self.alpha) + 1 + 1 / self.alpha

    @property
    def mean(self) -> Tensor:
        """alpha · scale / (alpha - 1), and infinity for alpha <= 1."""
        a = _c.maximum(self.alpha, 1.0)
        return a * self.scale / (a - 1)

    @property
    def variance(self) -> Tensor:
        """scale² alpha / ((alpha - 1)² (alpha - 2)), and infinity for alpha <= 2."""
        a = _c.maximum(self.alpha, 2.0)
        return _c.square(self.scale) * a / (_c.square(a - 1) * (a - 2))


class VonMises(Distribution):
    """The normal distribution of angles, around loc."""

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = _tensors(loc, concentration)
        super().__init__(self.loc.shape)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Angles from -π to π: normal numbers where they are close enough, tried again elsewhere (Best and Fisher)."""
        with no_grad():
            k = self.concentration.expand(self._shape(sample_shape))
            tau = 1 + _c.sqrt(1 + 4 * _c.square(k))
            rho = (tau - _c.sqrt(2 * tau)) / (2 * k)
            r = (1 + _c.square(rho)) / (2 * rho)
            angle, done = _c.zeros_like(k), _c.zeros_like(k, dtype=_c.bool)
            while not bool(_c.all(done)):
                u = _c.rand((3, *k.shape), device=k.device)
                z = _c.cos(math.pi * u[0])
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                good = _c.logical_or(_c.gt(c * (2 - c) - u[1], 0), _c.ge(_c.log(c / u[1]) + 1 - c, 0))
                new = _c.sign(u[2] - 0.5) * _c.acos(_c._clip(f, -1.0, 1.0))
                angle, done = _c.where(done, angle, new), _c.logical_or(done, good)
            return _c.remainder(angle + math.pi + self.loc, 2 * math.pi) - math.pi

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        k = self.concentration
        return k * (_c.cos(value - self.loc) - 1) - math.log(2 * math.pi) - _c.log(i0e(k))

    @property
    def mean(self) -> Tensor:
        """loc"""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The circular variance."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)


class MixtureSameFamily(Distribution):
    """Numbers of one of several distributions. A Categorical chooses among them, along the last axis of the batch."""

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None = None
    ) -> None:
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        super().__init__(component_distribution.batch_shape[:-1], component_distribution.event_shape)

    def _weights(self) -> Tensor:
        probs = self.mixture_distribution.probs
        return probs.reshape((*probs.shape, *(1 for _ in self.event_shape)))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Numbers of the chosen distributions."""
        with no_grad():
            chosen, n = self.mixture_distribution.sample(sample_shape), self.component_distribution.batch_shape[-1]
            values = self.component_distribution.sample(sample_shape)
            axis = len(sample_shape) + len(self.batch_shape)
            mask = F.one_hot(chosen, n).to(_c.bool)
            mask = mask.expand((*sample_shape, *self.batch_shape, n))
            mask = mask.reshape((*mask.shape, *(1 for _ in self.event_shape)))
            return _c.sum(_c.where(mask, values, 0.0), axis)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the weighted sum of the densities."""
        each = self.component_distribution.log_prob(value.unsqueeze(value.ndim - len(self.event_shape)))
        return _c.logsumexp(each + _c.log_softmax(self.mixture_distribution.logits, -1), -1)

    @property
    def mean(self) -> Tensor:
        """The weighted sum of the means."""
        return _c.sum(self._weights() * self.component_distribution.mean, -1 - len(self.event_shape))

    @property
    def variance(self) -> Tensor:
        """The mean of the variances and the variance of the means."""
        axis, weights = -1 - len(self.event_shape), self._weights()
        of_means = _c.square(self.component_distribution.mean - self.mean.unsqueeze(axis))
        return _c.sum(weights * (self.component_distribution.variance + of_means), axis)
