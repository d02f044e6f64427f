"""Parametrizations of weights: by their norms, by their largest singular value, and as orthogonal matrices."""

from __future__ import annotations

from typing import Any

from ... import _crisol as _c
from ... import linalg
from ..._crisol import Tensor
from ..._crisol._nn import Buffer, Module
from ...autograd import no_grad
from .. import functional as F
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def norm_except(v: Tensor, dim: int) -> Tensor:
    """The Euclidean norm over all axes but one. For dim = -1 it is the norm of all elements."""
    if dim == -1:
        return (v * v).sum().sqrt()
    axes = tuple(axis for axis in range(v.ndim) if axis != dim % v.ndim)
    return (v * v).sum(axes, keepdim=True).sqrt() if axes else v.abs()


def rows_of(weight: Tensor, dim: int) -> Tensor:
    """The weight as a matrix with one row for each index of an axis."""
    return weight.movedim(dim, 0).reshape(weight.shape[dim], -1)


def output_axis(module: Any) -> int:
    """The axis of a weight that belongs to the outputs."""
    names = [cls.__name__ for cls in type(module).__mro__]
    return int(any(name.startswith("ConvTranspose") for name in names))


class _WeightNorm(Module):
    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """weight_v with the norms weight_g."""
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """The norms and the weight."""
        return norm_except(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Salimans and Kingma 2016: the weight is g · v / |v|, with a norm for each index of an axis, or one for all if dim
    is None. The parameters are `parametrizations.weight.original0` (g) and `original1` (v)."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(f"[spectral_norm] there is no axis {dim} in a weight of shape {tuple(weight.shape)}")
        if n_power_iterations <= 0:
            raise ValueError(f"[spectral_norm] n_power_iterations is {n_power_iterations}, and it must be positive")
        self.dim, self.eps, self.n_power_iterations = dim % weight.ndim, eps, n_power_iterations
        if weight.ndim > 1:
            rows = rows_of(weight.detach(), self.dim)
            drawn = (_c.randn((size,), device=weight.device).to(weight.dtype) for size in rows.shape)
            self._u, self._v = (Buffer(F.normalize(x, dim=0, eps=eps)) for x in drawn)
            self._iterate(rows, 15)

    def _iterate(self, rows: Tensor, count: int) -> None:
        with no_grad():
            for _ in range(count):
                self._u = F.normalize(rows @ self._v, dim=0, eps=self.eps)
                self._v = F.normalize(rows.T @ self._u, dim=0, eps=self.eps)

    def forward(self, weight: Tensor) -> Tensor:
        """The weight, divided by its largest singular value."""
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        rows = rows_of(weight, self.dim)
        if self.training:
            self._iterate(rows.detach(), self.n_power_iterations)
        return weight / (self._u * (rows @ self._v)).sum()

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself."""
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Miyato et al. 2018: the weight is divided by an estimate of its largest singular value. In training, each use of
    the weight improves the estimate."""
    dim = output_axis(module) if dim is None else dim
    rule = _SpectralNorm(getattr(module, name), n_power_iterations, dim, eps)
    return register_parametrization(module, name, rule)


def _with_positive_diagonal(a: Tensor) -> Tensor:
    """Q of the decomposition whose R has a positive diagonal."""
    q, r = linalg.qr(a)
    return q * _c.sign(r.diagonal(0, -2, -1)).unsqueeze(-2)


def _reflected(x: Tensor) -> Tensor:
    """The product of Householder's reflections by the columns of x below its diagonal, with the signs of its
    diagonal."""
    rows, columns = x.shape[-2], x.shape[-1]
    unit = _c.eye(rows, columns, dtype=x.dtype, device=x.device)
    vectors = x.tril(-1) + unit
    q = unit.expand(*x.shape)
    for i in reversed(range(columns)):
        v = vectors[..., i : i + 1]
        q = q - v @ (2 / (v * v).sum(-2, keepdim=True) * (v.mT @ q))
    return q * x.diagonal(0, -2, -1).detach().trunc().unsqueeze(-2)


class _Orthogonal(Module):
    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        self.orthogonal_map, self.use_trivialization = orthogonal_map, use_trivialization
        if use_trivialization:
            rows = max(weight.shape[-2:])
            self.base = Buffer(_c.zeros((*weight.shape[:-2], rows, rows), dtype=weight.dtype, device=weight.device))

    def forward(self, x: Tensor) -> Tensor:
        """A matrix with orthonormal columns, or rows if it has fewer rows."""
        is_wide = x.shape[-2] < x.shape[-1]
        x = x.mT if is_wide else x
        q = _reflected(x) if self.orthogonal_map == "householder" else self._of_skew(x)
        if self.use_trivialization:
            q = self.base @ q
        return q.mT if is_wide else q

    def _of_skew(self, x: Tensor) -> Tensor:
        rows, columns = x.shape[-2], x.shape[-1]
        square = F.pad(x.tril(), (0, rows - columns))
        a = square - square.mT
        if self.orthogonal_map == "matrix_exp":
            return linalg.matrix_exp(a)[..., :columns]
        unit = _c.eye(rows, dtype=x.dtype, device=x.device)
        return _c.solve(unit - a / 2, unit + a / 2)[..., :columns]

    def right_inverse(self, q: Tensor) -> Tensor:
        """Makes an orthogonal matrix the base, and gives the matrix that the map takes to it."""
        if not self.use_trivialization:
            raise NotImplementedError(f"the map {self.orthogonal_map} is not inverted without use_trivialization")
        shape, is_wide = q.shape, q.shape[-2] < q.shape[-1]
        tall = q.mT if is_wide else q
        rows, columns = tall.shape[-2], tall.shape[-1]
        if rows > columns:
            more = _c.randn((*tall.shape[:-2], rows, rows - columns), device=q.device).to(q.dtype)
            tall = _c.concat([tall, more], axis=-1)
        self.base = _with_positive_diagonal(tall)
        return (-_c.eye(shape[-2], shape[-1], dtype=q.dtype, device=q.device)).expand(*shape).clone()


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """Keeps a weight orthogonal: a matrix, or several along the first axes. `orthogonal_map` is "matrix_exp", "cayley"
    or "householder"."""
    weight = getattr(module, name)
    if weight.ndim < 2:
        raise ValueError(f"[orthogonal] takes matrices, not a weight of shape {tuple(weight.shape)}")
    square = weight.shape[-2] == weight.shape[-1]
    chosen = orthogonal_map or ("matrix_exp" if square else "householder")
    if chosen not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(f'[orthogonal] orthogonal_map is "matrix_exp", "cayley" or "householder", not {chosen!r}')
    if chosen == "householder" and not use_trivialization:
        raise ValueError("[orthogonal] householder needs use_trivialization=True")
    rule = _Orthogonal(weight, chosen, use_trivialization)
    return register_parametrization(module, name, rule, unsafe=True)


def __dir__():
    return __all__
