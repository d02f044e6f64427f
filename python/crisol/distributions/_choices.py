"""Distributions that choose: among two numbers, and among several."""

from __future__ import annotations

import math
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._functions import multinomial, xlogy
from ..autograd import no_grad
from ..nn import functional as F
from ._base import Distribution, _tensors

__all__ = ["Bernoulli", "Categorical", "OneHotCategorical"]


def _one_of(probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise _c.InvalidArgumentError("[distribution] takes either probs or logits")


class Bernoulli(Distribution):
    """1 with probability probs, else 0. The logits are log(probs / (1 - probs))."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        _one_of(probs, logits)
        if logits is None:
            (self.probs,) = _tensors(probs)
            limited = _c._clip(self.probs, 2.0**-23, 1 - 2.0**-23)
            self.logits = _c.log(limited) - _c.log1p(-limited)
        else:
            (self.logits,) = _tensors(logits)
            self.probs = _c.sigmoid(self.logits)
        super().__init__(self.probs.shape)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """0 and 1."""
        with no_grad():
            return _c.lt(_c.rand(self._shape(sample_shape), device=self.probs.device), self.probs).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of 0 or 1."""
        logits, value = _c._broadcast_tensors([self.logits, value])
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        """-p log(p) - (1 - p) log(1 - p)"""
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    @property
    def mean(self) -> Tensor:
        """probs"""
        return self.probs

    @property
    def variance(self) -> Tensor:
        """probs · (1 - probs)"""
        return self.probs * (1 - self.probs)


class Categorical(Distribution):
    """The numbers 0, 1, … with probabilities that are the last axis of probs, or of the softmax of the logits."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        _one_of(probs, logits)
        if logits is None:
            self.probs = probs / _c.sum(probs, -1, True)
            self.logits = _c.log(_c._clip(self.probs, 2.0**-23, 1 - 2.0**-23))
        else:
            self.logits = _c.log_softmax(logits, -1)
            self.probs = _c.exp(self.logits)
        super().__init__(self.probs.shape[:-1])

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Numbers, as int64."""
        shape = self._shape(sample_shape)
        with no_grad():
            rows = self.probs.reshape((-1, self.probs.shape[-1]))
            drawn = multinomial(rows, max(math.prod(sample_shape), 1), True)
            return drawn.t().reshape(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a number."""
        shape = _c.broadcast_shapes(value.shape, self.batch_shape)
        logits = self.logits.expand((*shape, self.logits.shape[-1]))
        return _c.gather(logits, -1, value.to(_c.int64).expand(shape).unsqueeze(-1)).squeeze(-1)

    def entropy(self) -> Tensor:
        """The sum of -p log(p)."""
        return -_c.sum(xlogy(self.probs, self.probs), -1)

    @property
    def mean(self) -> Tensor:
        """NaN, because the numbers are names of classes."""
        return _c.full(self.batch_shape, math.nan, dtype=self.probs.dtype, device=self.probs.device)

    variance = mean


class OneHotCategorical(Distribution):
    """Categorical, with a 1 at the number in place of the number."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._numbers = Categorical(probs, logits)
        self.probs, self.logits = self._numbers.probs, self._numbers.logits
        super().__init__(self.probs.shape[:-1], self.probs.shape[-1:])

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """0 and a single 1 along the last axis."""
        return F.one_hot(self._numbers.sample(sample_shape), self.event_shape[0]).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of the place of the 1."""
        return self._numbers.log_prob(_c.argmax(value, -1))

    def entropy(self) -> Tensor:
        """The sum of -p log(p)."""
        return self._numbers.entropy()

    @property
    def mean(self) -> Tensor:
        """probs"""
        return self.probs

    @property
    def variance(self) -> Tensor:
        """probs · (1 - probs)"""
        return self.probs * (1 - self.probs)
