"""Soft choices: distributions of numbers that are close to a choice, through which gradients go."""

from __future__ import annotations

import math
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from ..nn import functional as F
from ._base import Distribution
from ._choices import Bernoulli, Categorical

__all__ = ["RelaxedBernoulli", "RelaxedOneHotCategorical"]


class RelaxedBernoulli(Distribution):
    """Numbers between 0 and 1 that are close to a Bernoulli's for small temperatures. Gradients go through them."""

    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        each = Bernoulli(probs, logits)
        self.temperature, self.probs, self.logits = temperature, each.probs, each.logits
        super().__init__(self.probs.shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """sigmoid((logits + logistic noise) / temperature)"""
        u = self._uniform(sample_shape, self.probs.device, 2.0**-23, 1 - 2.0**-23)
        return _c.sigmoid((self.logits + _c.log(u) - _c.log1p(-u)) / self.temperature)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        t = self.temperature
        x = _c.log(value) - _c.log1p(-value)
        change = self.logits - x * t
        scale = _c.log(t) if isinstance(t, Tensor) else math.log(t)
        return scale + change - 2 * F.softplus(change) + F.softplus(-x) + F.softplus(x)


class RelaxedOneHotCategorical(Distribution):
    """Rows of sum 1 that are close to a OneHotCategorical's for small temperatures. Gradients go through them."""

    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        each = Categorical(probs, logits)
        self.temperature, self.probs, self.logits = temperature, each.probs, each.logits
        super().__init__(self.probs.shape[:-1], self.probs.shape[-1:])

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """softmax((logits + Gumbel's noise) / temperature)"""
        u = self._uniform(sample_shape, self.probs.device)
        return _c.softmax((self.logits - _c.log(-_c.log(u))) / self.temperature, -1)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        n, t = self.event_shape[0], self.temperature
        scale = _c.log(t) if isinstance(t, Tensor) else math.log(t)
        score = self.logits - _c.log(value) * t
        score = _c.sum(score - _c.logsumexp(score, -1, True) - _c.log(value), -1)
        return score + math.lgamma(n) + scale * (n - 1)
