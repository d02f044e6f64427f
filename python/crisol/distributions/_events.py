"""Functions of whole events: of vectors and matrices, and of parts of a tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from ..linalg import cholesky
from ..nn import functional as F
from ._base import Distribution
from .transforms import SigmoidTransform, Transform, _summed

__all__ = ["CatTransform", "CorrCholeskyTransform", "CumulativeDistributionTransform", "IndependentTransform"]
__all__ += ["LowerCholeskyTransform", "PositiveDefiniteTransform", "ReshapeTransform", "SoftmaxTransform"]
__all__ += ["StackTransform", "StickBreakingTransform"]


class IndependentTransform(Transform):
    """A function whose last axes are one event: log_abs_det_jacobian() is their sum."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__()
        self.base_transform, self.reinterpreted_batch_ndims = base_transform, reinterpreted_batch_ndims
        self._event_axes = base_transform._event_axes + reinterpreted_batch_ndims

    def __call__(self, x: Tensor) -> Tensor:
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.base_transform._inverse(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _summed(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)


class ReshapeTransform(Transform):
    """Events of one shape as events of another one."""

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        super().__init__()
        if math.prod(in_shape) != math.prod(out_shape):
            raise ValueError(f"in_shape {tuple(in_shape)} and out_shape {tuple(out_shape)} differ in their elements")
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        self._event_axes = max(len(self.in_shape), len(self.out_shape))

    def __call__(self, x: Tensor) -> Tensor:
        return x.reshape((*x.shape[: x.ndim - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape((*y.shape[: y.ndim - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _c.zeros(x.shape[: x.ndim - len(self.in_shape)], dtype=x.dtype, device=x.device)


class SoftmaxTransform(Transform):
    """exp(x) / sum(exp(x)) along the last axis. The inverse is the logarithm."""

    def __init__(self, cache_size: int = 0) -> None:
        super().__init__()
        self._event_axes = 1

    def __call__(self, x: Tensor) -> Tensor:
        return _c.softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return _c.log(y)


def _ones_before(x: Tensor) -> Tensor:
    """x[:-1] behind a one, along the last axis."""
    return F.pad(x[..., :-1], [1, 0], value=1.0)


class StickBreakingTransform(Transform):
    """n numbers as n + 1 shares of 1: each takes a part of what is left."""

    def __init__(self, cache_size: int = 0) -> None:
        super().__init__()
        self._event_axes = 1

    def _offset(self, count: int, like: Tensor) -> Tensor:
        return _c.log(_c.arange(count, 0, -1, device=like.device).to(like.dtype))

    def __call__(self, x: Tensor) -> Tensor:
        z = SigmoidTransform()(x - self._offset(x.shape[-1], x))
        left = _cumprod(1 - z)
        return F.pad(z, [0, 1], value=1.0) * F.pad(left, [1, 0], value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        shares = y[..., :-1]
        left = _c.maximum(1 - _c.cumulative_sum(shares, axis=-1), 2.0**-126)
        return _c.log(shares) - _c.log(left) + self._offset(shares.shape[-1], y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._offset(x.shape[-1], x)
        return _c.sum(F.logsigmoid(x) - x + _c.log(y[..., :-1]), axis=-1)


def _cumprod(x: Tensor) -> Tensor:
    return _c.cumulative_prod(x, axis=-1)


class LowerCholeskyTransform(Transform):
    """A matrix as a lower triangle with a positive diagonal, which is the exponential of the diagonal."""

    def __init__(self, cache_size: int = 0) -> None:
        super().__init__()
        self._event_axes = 2

    def __call__(self, x: Tensor) -> Tensor:
        return _c.tril(x, k=-1) + _diagonal_of(_c.exp(x.diagonal(0, -2, -1)))

    def _inverse(self, y: Tensor) -> Tensor:
        return _c.tril(y, k=-1) + _diagonal_of(_c.log(y.diagonal(0, -2, -1)))


def _diagonal_of(x: Tensor) -> Tensor:
    """Matrices with these diagonals."""
    return x.unsqueeze(-1) * _c.eye(x.shape[-1], dtype=x.dtype, device=x.device)


class PositiveDefiniteTransform(LowerCholeskyTransform):
    """A matrix as a positive definite one, whose Cholesky factor LowerCholeskyTransform gives."""

    def __call__(self, x: Tensor) -> Tensor:
        factor = super().__call__(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return super()._inverse(cholesky(y))


def _triangle(x: Tensor) -> Tensor:
    """n (n - 1) / 2 numbers as the part below the diagonal of n × n matrices."""
    n = (1 + math.isqrt(1 + 8 * x.shape[-1])) // 2
    if n * (n - 1) // 2 != x.shape[-1]:
        raise ValueError(f"{x.shape[-1]} numbers fill no triangle below a diagonal")
    places = [[i * (i - 1) // 2 + j if j < i else x.shape[-1] for j in range(n)] for i in range(n)]
    line = F.pad(x, [0, 1])
    found = _c.take(line, _c.asarray(places, device=x.device).reshape(-1), axis=x.ndim - 1)
    return found.reshape((*x.shape[:-1], n, n))


class CorrCholeskyTransform(Transform):
    """n (n - 1) / 2 numbers as the Cholesky factor of a matrix of correlations."""

    def __init__(self, cache_size: int = 0) -> None:
        super().__init__()
        self._event_axes = 2

    def __call__(self, x: Tensor) -> Tensor:
        r = _triangle(_c._clip(_c.tanh(x), -1 + 2.0**-23, 1 - 2.0**-23))
        left = _cumprod(_c.sqrt(1 - _c.square(r)))
        return (r + _c.eye(r.shape[-1], dtype=r.dtype, device=r.device)) * _ones_before(left)

    def _inverse(self, y: Tensor) -> Tensor:
        left = F.pad((1 - _c.cumulative_sum(_c.square(y), axis=-1))[..., :-1], [1, 0], value=1.0)
        n = y.shape[-1]
        places = _c.asarray([i * n + j for i in range(n) for j in range(i)], dtype=_c.int64, device=y.device)
        t, rest = (_c.take(v.reshape((*v.shape[:-2], n * n)), places, axis=v.ndim - 2) for v in (y, left))
        t = t / _c.sqrt(rest)
        return (_c.log1p(t) - _c.log1p(-t)) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        left = 1 - _c.cumulative_sum(_c.square(y), axis=-1)
        n = y.shape[-1]
        places = _c.asarray([i * n + j for i in range(n) for j in range(i - 1)], dtype=_c.int64, device=y.device)
        below = _c.take(left.reshape((*left.shape[:-2], n * n)), places, axis=left.ndim - 2)
        return 0.5 * _c.sum(_c.log(below), axis=-1) - 2 * _c.sum(x + F.softplus(-2 * x) - math.log(2), axis=-1)


class CatTransform(Transform):
    """Functions of parts along an axis."""

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__()
        self.transforms, self.dim = list(tseq), dim
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        self._event_axes = max(part._event_axes for part in self.transforms)

    def _parts(self, x: Tensor) -> list[Tensor]:
        ends = [sum(self.lengths[: i + 1]) for i in range(len(self.lengths))]
        return [x.narrow(self.dim, end - size, size) for end, size in zip(ends, self.lengths)]

    def _together(self, parts: list[Tensor]) -> Tensor:
        return _c.concat(parts, axis=self.dim)

    def __call__(self, x: Tensor) -> Tensor:
        return self._together([f(part) for f, part in zip(self.transforms, self._parts(x), strict=True)])

    def _inverse(self, y: Tensor) -> Tensor:
        return self._together([f._inverse(part) for f, part in zip(self.transforms, self._parts(y), strict=True)])

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        each = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        found = [_summed(f.log_abs_det_jacobian(a, b), self._event_axes - f._event_axes) for f, a, b in each]
        axis = self.dim if self.dim < 0 else self.dim - x.ndim
        if axis + self._event_axes < 0:
            return _c.concat(found, axis=axis + self._event_axes)
        total = found[0]
        for part in found[1:]:
            total = total + part
        return total


class StackTransform(CatTransform):
    """Functions of entries along an axis."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim)

    def _parts(self, x: Tensor) -> list[Tensor]:
        return [x.select(self.dim, i) for i in range(len(self.transforms))]

    def _together(self, parts: list[Tensor]) -> Tensor:
        return _c.stack(parts, axis=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        each = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        return self._together([f.log_abs_det_jacobian(a, b) for f, a, b in each])


class CumulativeDistributionTransform(Transform):
    """The cdf() of a distribution."""

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__()
        self.distribution: Any = distribution

    def __call__(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
