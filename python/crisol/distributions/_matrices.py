"""Distributions of vectors with covariances, and of matrices."""

from __future__ import annotations

import math
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._functions import digamma
from ..linalg import cholesky, solve_triangular
from ..nn import functional as F
from ..special import multigammaln
from ._base import Distribution, _tensors
from ._gamma import gamma_numbers
from ._more import Beta

__all__ = ["LKJCholesky", "LowRankMultivariateNormal", "MultivariateNormal", "Wishart"]


def inside(triangle: Tensor, x: Tensor) -> Tensor:
    """The solution of triangle · y = x."""
    shape = _c.broadcast_shapes(triangle.shape[:-2], x.shape[:-2])
    return solve_triangular(
        triangle.expand((*shape, *triangle.shape[-2:])), x.expand((*shape, *x.shape[-2:])), upper=False
    )


class _WithCovariances(Distribution):
    """A distribution with a covariance matrix, which is kept as its Cholesky factor."""

    has_rsample = True
    scale_tril: Tensor

    def _factor_of(
        self, covariance_matrix: Tensor | None, precision_matrix: Tensor | None, scale_tril: Tensor | None
    ) -> Tensor:
        """The Cholesky factor, from the one of the three that is given."""
        if sum(m is not None for m in (covariance_matrix, precision_matrix, scale_tril)) != 1:
            raise _c.InvalidArgumentError(
                f"[{type(self).__name__}] takes one of covariance_matrix, precision_matrix and scale_tril"
            )
        if precision_matrix is not None:
            covariance_matrix = _c.inv(precision_matrix)
        factor = scale_tril if covariance_matrix is None else cholesky(covariance_matrix)
        assert factor is not None
        return factor

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariances."""
        return self.scale_tril @ self.scale_tril.mT

    @property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariances."""
        return _c.inv(self.covariance_matrix)


class MultivariateNormal(_WithCovariances):
    """The normal distribution of vectors, with a covariance matrix, its inverse, or its Cholesky factor."""

    def __init__(
        self, loc: Tensor, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        factor = self._factor_of(covariance_matrix, precision_matrix, scale_tril)
        batch = _c.broadcast_shapes(loc.shape[:-1], factor.shape[:-2])
        self.loc = loc.expand((*batch, loc.shape[-1]))
        self.scale_tril = factor.expand((*batch, *factor.shape[-2:]))
        super().__init__(batch, loc.shape[-1:])

    def half_log_det(self) -> Tensor:
        """Half the logarithm of the determinant of the covariances."""
        return _c.sum(_c.log(self.scale_tril.diagonal(0, -2, -1)), -1)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """loc + scale_tril · noise"""
        noise = _c.randn(self._shape(sample_shape), device=self.loc.device)
        return self.loc + (self.scale_tril @ noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        moved = inside(self.scale_tril, (value - self.loc).unsqueeze(-1)).squeeze(-1)
        constant = 0.5 * self.event_shape[0] * math.log(2 * math.pi)
        return -0.5 * _c.sum(_c.square(moved), -1) - self.half_log_det() - constant

    def entropy(self) -> Tensor:
        """The mean of -log_prob()."""
        return self.half_log_det() + 0.5 * self.event_shape[0] * (1 + math.log(2 * math.pi))

    @property
    def mean(self) -> Tensor:
        """loc"""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariances."""
        return _c.sum(_c.square(self.scale_tril), -1)


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors with the covariances cov_factor · cov_factorᵀ + diag(cov_diag)."""

    has_rsample = True

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        n = loc.shape[-1]
        if tuple(cov_factor.shape[-2:-1]) != (n,) or tuple(cov_diag.shape[-1:]) != (n,):
            raise ValueError(
                f"cov_factor {tuple(cov_factor.shape)} and cov_diag {tuple(cov_diag.shape)} do not fit {n} elements of loc"
            )
        batch = _c.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc, self.cov_diag = loc.expand((*batch, n)), cov_diag.expand((*batch, n))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        super().__init__(batch, (n,))

    def _capacitance(self) -> tuple[Tensor, Tensor]:
        """The factor divided by the diagonal, transposed, and the Cholesky factor of 1 + Wᵀ D⁻¹ W."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        inner = scaled @ self.cov_factor
        return scaled, cholesky(inner + _c.eye(inner.shape[-1], dtype=inner.dtype, device=inner.device))

    def _log_det(self, factor: Tensor) -> Tensor:
        return 2 * _c.sum(_c.log(factor.diagonal(0, -2, -1)), axis=-1) + _c.sum(_c.log(self.cov_diag), axis=-1)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """loc + cov_factor · noise + sqrt(cov_diag) · noise"""
        shape, device = self._shape(sample_shape), self.loc.device
        low = _c.randn((*shape[:-1], self.cov_factor.shape[-1], 1), device=device)
        own = _c.sqrt(self.cov_diag) * _c.randn(shape, device=device)
        return self.loc + (self.cov_factor @ low).squeeze(-1) + own

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        difference = value - self.loc
        scaled, factor = self._capacitance()
        moved = inside(factor, scaled @ difference.unsqueeze(-1)).squeeze(-1)
        distance = _c.sum(_c.square(difference) / self.cov_diag, axis=-1) - _c.sum(_c.square(moved), axis=-1)
        return -0.5 * (self.event_shape[0] * math.log(2 * math.pi) + self._log_det(factor) + distance)

    def entropy(self) -> Tensor:
        """The mean of -log_prob()."""
        return 0.5 * (self.event_shape[0] * (1 + math.log(2 * math.pi)) + self._log_det(self._capacitance()[1]))

    @property
    def mean(self) -> Tensor:
        """loc"""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariances."""
        return _c.sum(_c.square(self.cov_factor), axis=-1) + self.cov_diag

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariances."""
        n = self.event_shape[0]
        diagonal = self.cov_diag.unsqueeze(-1) * _c.eye(n, dtype=self.loc.dtype, device=self.loc.device)
        return self.cov_factor @ self.cov_factor.mT + diagonal

    @property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariances."""
        return _c.inv(self.covariance_matrix)

    @property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariances."""
        return cholesky(self.covariance_matrix)


class Wishart(_WithCovariances):
    """The sum of df products x xᵀ of normal vectors."""

    def __init__(
        self, df: Any, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        factor = self._factor_of(covariance_matrix, precision_matrix, scale_tril)
        (df,) = _tensors(df)
        batch = _c.broadcast_shapes(df.shape, factor.shape[:-2])
        self.df, self.scale_tril = df.expand(batch), factor.expand((*batch, *factor.shape[-2:]))
        super().__init__(batch, factor.shape[-2:])

    def _half_log_det(self, triangle: Tensor) -> Tensor:
        return _c.sum(_c.log(triangle.diagonal(0, -2, -1)), axis=-1)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Positive definite matrices, by Bartlett's decomposition."""
        shape, n = self._shape(sample_shape), self.event_shape[-1]
        device = self.scale_tril.device
        freedoms = (self.df.unsqueeze(-1) - _c.arange(n, device=device).to(self.df.dtype)) / 2
        roots = _c.sqrt(2 * gamma_numbers(freedoms.expand(shape[:-1])))
        noise = _c.tril(_c.randn(shape, device=device), k=-1)
        noise = noise + roots.unsqueeze(-1) * _c.eye(n, dtype=noise.dtype, device=device)
        factor = self.scale_tril @ noise
        return factor @ factor.mT

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        n, df = self.event_shape[-1], self.df
        scaled = inside(self.scale_tril, inside(self.scale_tril, value).mT)
        trace = _c.sum(scaled.diagonal(0, -2, -1), axis=-1)
        scale = df * n / 2 * math.log(2) + df * self._half_log_det(self.scale_tril) + multigammaln(df / 2, n)
        return (df - n - 1) * self._half_log_det(cholesky(value)) - trace / 2 - scale

    def entropy(self) -> Tensor:
        """The mean of -log_prob()."""
        n, df = self.event_shape[-1], self.df
        halves = df.unsqueeze(-1) / 2 - _c.arange(n, device=df.device).to(df.dtype) / 2
        digammas = _c.sum(digamma(halves), axis=-1)
        first = (n + 1) * (self._half_log_det(self.scale_tril) + n * math.log(2) / 2)
        return first + multigammaln(df / 2, n) - (df - n - 1) / 2 * digammas + df * n / 2

    @property
    def mean(self) -> Tensor:
        """df · the covariances"""
        return self.df.reshape((*self.df.shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        """The variance of each element."""
        v = self.covariance_matrix
        diagonal = v.diagonal(0, -2, -1)
        both = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.reshape((*self.df.shape, 1, 1)) * (_c.square(v) + both)


class LKJCholesky(Distribution):
    """Cholesky factors of matrices of correlations, with a density like det^(concentration - 1) of the matrix."""

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = _tensors(concentration)
        super().__init__(self.concentration.shape, (dim, dim))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Lower triangles whose rows have length 1, by the onion method."""
        n, device = self.dim, self.concentration.device
        offset = _c.arange(n - 1, device=device).to(self.concentration.dtype)
        later = Beta(offset + 0.5, self.concentration.unsqueeze(-1) + 0.5 * (n - 2) - 0.5 * offset)
        y = later.sample(sample_shape).unsqueeze(-1)
        noise = _c.tril(_c.randn((*self._shape(sample_shape)[:-2], n - 1, n - 1), device=device))
        sphere = noise / _c.norm(noise, p=2, dim=-1, keepdim=True)
        rows = _c.sqrt(y) * sphere
        rows = F.pad(rows, [0, 1, 1, 0])
        left = _c.sqrt(_c.maximum(1 - _c.sum(_c.square(rows), axis=-1), 2.0**-126))
        return rows + left.unsqueeze(-1) * _c.eye(n, dtype=rows.dtype, device=device)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        n, a = self.dim, self.concentration
        orders = _c.arange(2, n + 1, device=value.device).to(a.dtype)
        powers = 2 * (a - 1).unsqueeze(-1) + n - orders
        density = _c.sum(powers * _c.log(value.diagonal(0, -2, -1)[..., 1:]), axis=-1)
        alpha = a + 0.5 * (n - 1)
        scale = 0.5 * (n - 1) * math.log(math.pi) + multigammaln(alpha - 0.5, n - 1) - _c.lgamma(alpha) * (n - 1)
        return density - scale
