"""The base of the distributions, and those that are transformed noise."""

from __future__ import annotations

import copy
import inspect
import math
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._functions import Size
from .._functions._types import floats
from ..autograd import no_grad

__all__ = ["Distribution", "Exponential", "Independent", "Laplace", "Normal", "Uniform"]


def _tensors(*values: Any) -> list[Tensor]:
    """Numbers and tensors as tensors of one shape."""
    first = next((v for v in values if isinstance(v, Tensor)), None)
    dtype, device = (None, None) if first is None else (floats(first).dtype, first.device)
    made = [v if isinstance(v, Tensor) else _c.asarray(float(v), dtype=dtype, device=device) for v in values]
    return _c._broadcast_tensors(made)


class Distribution:
    """A batch of distributions: batch_shape distributions of elements of event_shape."""

    has_rsample = has_enumerate_support = False

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self.batch_shape, self.event_shape = Size(batch_shape), Size(event_shape)

    def _shape(self, sample_shape: Any) -> tuple[int, ...]:
        return (*sample_shape, *self.batch_shape, *self.event_shape)

    def _uniform(self, sample_shape: Any, device: Any, least: float = 2.0**-126, most: float = 1 - 2.0**-24) -> Tensor:
        """Uniform numbers between 0 and 1 whose logarithms are finite."""
        return _c._clip(_c.rand(self._shape(sample_shape), device=device), least, most)

    def __repr__(self) -> str:
        names = [name for name in inspect.signature(type(self).__init__).parameters if name in self.__dict__]
        shown = [(name, self.__dict__[name]) for name in names if name != "logits" or "probs" not in names]
        texts = [f"{n}: {v if not isinstance(v, Tensor) else v.item() if v.numel() == 1 else v.shape}" for n, v in shown]
        return f"{type(self).__name__}({', '.join(texts)})"

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for each entry of a larger batch."""
        made, before = copy.copy(self), len(self.batch_shape)
        made.batch_shape = Size(batch_shape)
        for name, value in vars(self).items():
            if isinstance(value, Tensor) and value.ndim >= before:
                setattr(made, name, value.expand((*batch_shape, *value.shape[before:])))
            elif isinstance(value, Distribution):
                setattr(made, name, value.expand((*batch_shape, *value.batch_shape[before:])))
        return made

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a smaller number."""
        raise NotImplementedError(f"{type(self).__name__} has no cdf()")

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of cdf()."""
        raise NotImplementedError(f"{type(self).__name__} has no icdf()")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a new first axis."""
        raise NotImplementedError(f"{type(self).__name__} has no enumerate_support()")

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        raise NotImplementedError(f"{type(self).__name__} has no mode")

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Has no effect: parameters are not checked, because that would wait for the device."""

    def sample_n(self, n: int) -> Tensor:
        """n numbers for each distribution."""
        return self.sample((n,))

    def perplexity(self) -> Tensor:
        """exp(entropy())"""
        return _c.exp(self.entropy())

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Numbers through which gradients of the parameters go."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample()")

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Numbers without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or probability at a value."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob()")

    def entropy(self) -> Tensor:
        """The mean of -log_prob()."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy()")

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__} has no mean")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError(f"{type(self).__name__} has no variance")

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return _c.sqrt(self.variance)


class _LocScale(Distribution):
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = _tensors(loc, scale)
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Tensor:
        """loc"""
        return self.loc


class Normal(_LocScale):
    """The normal distribution with mean loc and standard deviation scale."""

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """loc + scale · noise"""
        return self.loc + self.scale * _c.randn(self._shape(sample_shape), device=self.loc.device)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        return -0.5 * _c.square((value - self.loc) / self.scale) - _c.log(self.scale) - 0.5 * math.log(2 * math.pi)

    def entropy(self) -> Tensor:
        """log(scale) + log(2πe) / 2"""
        return _c.log(self.scale) + 0.5 * math.log(2 * math.pi * math.e)

    @property
    def variance(self) -> Tensor:
        """scale²"""
        return _c.square(self.scale)


class Laplace(_LocScale):
    """Laplace's distribution around loc."""

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """loc + scale · noise"""
        drawn = 0.5 - _c.rand(self._shape(sample_shape), device=self.loc.device)  # In (-1/2, 1/2].
        noise = _c.sign(drawn) * _c.log(_c.maximum(1 - 2 * _c.abs(drawn), 2.0**-25))
        return self.loc - self.scale * noise

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        return -_c.log(2 * self.scale) - _c.abs(value - self.loc) / self.scale

    def entropy(self) -> Tensor:
        """1 + log(2 scale)"""
        return 1 + _c.log(2 * self.scale)

    @property
    def variance(self) -> Tensor:
        """2 scale²"""
        return 2 * _c.square(self.scale)


class Uniform(Distribution):
    """The uniform distribution of [low, high)."""

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = _tensors(low, high)
        super().__init__(self.low.shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """low + (high - low) · noise"""
        return self.low + (self.high - self.low) * _c.rand(self._shape(sample_shape), device=self.low.device)

    def log_prob(self, value: Tensor) -> Tensor:
        """-log(high - low) inside, and -inf outside."""
        within = _c.logical_and(_c.ge(value, self.low), _c.lt(value, self.high))
        return _c.where(within, -_c.log(self.high - self.low), -math.inf)

    def entropy(self) -> Tensor:
        """log(high - low)"""
        return _c.log(self.high - self.low)

    @property
    def mean(self) -> Tensor:
        """(low + high) / 2"""
        return (self.low + self.high) / 2

    @property
    def variance(self) -> Tensor:
        """(high - low)² / 12"""
        return _c.square(self.high - self.low) / 12


class Exponential(Distribution):
    """The exponential distribution."""

    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = _tensors(rate)
        super().__init__(self.rate.shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """-log(noise) / rate"""
        return -_c.log(1 - _c.rand(self._shape(sample_shape), device=self.rate.device)) / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        """log(rate) - rate · value"""
        return _c.log(self.rate) - self.rate * value

    def entropy(self) -> Tensor:
        """1 - log(rate)"""
        return 1 - _c.log(self.rate)

    @property
    def mean(self) -> Tensor:
        """1 / rate"""
        return 1 / self.rate

    @property
    def variance(self) -> Tensor:
        """1 / rate²"""
        return 1 / _c.square(self.rate)


class Independent(Distribution):
    """The last axes of a batch of distributions as one event: log_prob() is their sum."""

    def __init__(self, base: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None) -> None:
        self.base_dist, self._axes = base, reinterpreted_batch_ndims
        kept = len(base.batch_shape) - reinterpreted_batch_ndims
        super().__init__(base.batch_shape[:kept], (*base.batch_shape[kept:], *base.event_shape))
        self.has_rsample = base.has_rsample

    def _summed(self, x: Tensor) -> Tensor:
        return _c.sum(x, list(range(x.ndim - self._axes, x.ndim))) if self._axes else x

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Those of the distributions."""
        return self.base_dist.rsample(sample_shape)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Those of the distributions."""
        return self.base_dist.sample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """The sum over the event."""
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        """The sum over the event."""
        return self._summed(self.base_dist.entropy())

    @property
    def mean(self) -> Tensor:
        """That of the distributions."""
        return self.base_dist.mean

    @property
    def variance(self) -> Tensor:
        """That of the distributions."""
        return self.base_dist.variance
