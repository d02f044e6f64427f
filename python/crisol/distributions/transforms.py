"""Invertible functions of random numbers, and distributions of their results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from ..nn import functional as F
from ._base import Distribution

__all__ = ["AbsTransform", "AffineTransform", "ComposeTransform", "ExpTransform", "PowerTransform", "SigmoidTransform"]
__all__ += ["SoftplusTransform", "TanhTransform", "Transform", "TransformedDistribution", "identity_transform"]


class Transform:
    """An invertible function y = f(x) of each element."""

    def __init__(self, cache_size: int = 0) -> None:
        self._event_axes = 0

    def __call__(self, x: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no __call__()")

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy / dx|"""
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian()")

    @property
    def inv(self) -> Transform:
        """The inverse function."""
        return _Inverse(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, other: Transform) -> None:
        super().__init__()
        self._other = other

    def __call__(self, x: Tensor) -> Tensor:
        return self._other._inverse(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._other(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._other.log_abs_det_jacobian(y, x)


class AffineTransform(Transform):
    """loc + scale x"""

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__()
        self.loc, self.scale, self._event_axes = loc, scale, event_dim

    def __call__(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            found = _c.log(_c.abs(self.scale)).expand(_c.broadcast_shapes(x.shape, self.scale.shape))
        else:
            found = _c.full_like(x, math.log(abs(self.scale)))
        return _summed(found, self._event_axes)


class ExpTransform(Transform):
    """exp(x)"""

    def __call__(self, x: Tensor) -> Tensor:
        return _c.exp(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return _c.log(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """x^exponent for positive x."""

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__()
        self.exponent = exponent

    def __call__(self, x: Tensor) -> Tensor:
        return _c.pow(x, self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return _c.pow(y, 1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _c.log(_c.abs(self.exponent * y / x))


class SigmoidTransform(Transform):
    """1 / (1 + exp(-x))"""

    def __call__(self, x: Tensor) -> Tensor:
        return _c._clip(_c.sigmoid(x), 2.0**-126, 1 - 2.0**-23)

    def _inverse(self, y: Tensor) -> Tensor:
        limited = _c._clip(y, 2.0**-126, 1 - 2.0**-23)
        return _c.log(limited) - _c.log1p(-limited)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -F.softplus(-x) - F.softplus(x)


class TanhTransform(Transform):
    """tanh(x)"""

    def __call__(self, x: Tensor) -> Tensor:
        return _c.tanh(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return _c.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2 * (math.log(2) - x - F.softplus(-2 * x))


class SoftplusTransform(Transform):
    """log(1 + exp(x))"""

    def __call__(self, x: Tensor) -> Tensor:
        return F.softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return _c.log(-_c.expm1(-y)) + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -F.softplus(-x)


class AbsTransform(Transform):
    """|x|"""

    def __call__(self, x: Tensor) -> Tensor:
        return _c.abs(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class ComposeTransform(Transform):
    """Several functions, one after another."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__()
        self.parts = list(parts)
        self._event_axes = max([part._event_axes for part in self.parts], default=0)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part._inverse(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        total = None
        for part in self.parts:
            after = part(x)
            found = _summed(part.log_abs_det_jacobian(x, after), self._event_axes - part._event_axes)
            total, x = found if total is None else total + found, after
        return _c.zeros_like(x) if total is None else total


identity_transform = ComposeTransform([])


def _summed(x: Tensor, axes: int) -> Tensor:
    return _c.sum(x, list(range(x.ndim - axes, x.ndim))) if axes else x


class TransformedDistribution(Distribution):
    """The distribution of f(x), where x is of a base distribution."""

    def __init__(
        self, base_distribution: Distribution, transforms: Any, validate_args: bool | None = None
    ) -> None:
        given = [transforms] if isinstance(transforms, Transform) else list(transforms)
        self.base_dist, self.transforms = base_distribution, given
        self._function = ComposeTransform(given)
        axes = max(len(base_distribution.event_shape), self._function._event_axes)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        super().__init__(shape[: len(shape) - axes], shape[len(shape) - axes :])
        self.has_rsample = base_distribution.has_rsample

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """The function of the base distribution's numbers."""
        return self._function(self.base_dist.rsample(sample_shape))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """The function of the base distribution's numbers."""
        return self._function(self.base_dist.sample(sample_shape)).detach()

    def log_prob(self, value: Tensor) -> Tensor:
        """The base distribution's, less log |dy / dx|."""
        x, axes = self._function._inverse(value), len(self.event_shape)
        base = _summed(self.base_dist.log_prob(x), axes - len(self.base_dist.event_shape))
        change = self._function.log_abs_det_jacobian(x, value)
        return base - _summed(change, axes - self._function._event_axes)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a smaller number, for functions that grow."""
        return self.base_dist.cdf(self._function._inverse(value))  # type: ignore[attr-defined,no-any-return]


def __dir__():
    return __all__
