"""Sets of values: what parameters may be, and what distributions give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor

__all__ = ["Constraint", "boolean", "cat", "corr_cholesky", "greater_than", "greater_than_eq", "half_open_interval"]
__all__ += ["independent", "integer_interval", "interval", "less_than", "lower_cholesky", "lower_triangular"]
__all__ += ["multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_definite"]
__all__ += ["positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square", "stack"]
__all__ += ["symmetric", "unit_interval"]


class Constraint:
    """A set of values. check() tells for each event whether it is in the set."""

    def __init__(
        self, check: Callable[[Tensor], Any], name: str, event_dim: int = 0, discrete: bool = False, **values: Any
    ) -> None:
        self._check, self._name = check, name
        self.event_dim, self.is_discrete = event_dim, discrete
        self.__dict__.update(values)

    def check(self, value: Tensor) -> Tensor:
        """Whether each event is in the set."""
        found: Tensor = self._check(value)
        return found

    def __repr__(self) -> str:
        return self._name


def _every(x: Tensor, axes: int = 1) -> Tensor:
    return _c.all(x, axis=tuple(range(-axes, 0)))


def _whole(x: Tensor) -> Tensor:
    return _c.eq(x, _c.floor(x))


def _close(x: Tensor, y: Any) -> Tensor:
    return _c.lt(_c.abs(x - y), 1e-6)


def greater_than(lower_bound: Any) -> Constraint:
    """Numbers above a bound."""
    return Constraint(lambda x: _c.gt(x, lower_bound), f"GreaterThan(lower_bound={lower_bound})", lower_bound=lower_bound)


def greater_than_eq(lower_bound: Any) -> Constraint:
    """Numbers that are at least a bound."""
    name = f"GreaterThanEq(lower_bound={lower_bound})"
    return Constraint(lambda x: _c.ge(x, lower_bound), name, lower_bound=lower_bound)


def less_than(upper_bound: Any) -> Constraint:
    """Numbers below a bound."""
    return Constraint(lambda x: _c.lt(x, upper_bound), f"LessThan(upper_bound={upper_bound})", upper_bound=upper_bound)


def _between(low: Any, high: Any, kind: str, check: Callable[[Tensor], Any], discrete: bool = False) -> Constraint:
    name = f"{kind}(lower_bound={low}, upper_bound={high})"
    return Constraint(check, name, 0, discrete, lower_bound=low, upper_bound=high)


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Numbers of a closed interval."""
    check = lambda x: _c.logical_and(_c.ge(x, lower_bound), _c.le(x, upper_bound))  # noqa: E731
    return _between(lower_bound, upper_bound, "Interval", check)


def half_open_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Numbers of an interval without its upper end."""
    check = lambda x: _c.logical_and(_c.ge(x, lower_bound), _c.lt(x, upper_bound))  # noqa: E731
    return _between(lower_bound, upper_bound, "HalfOpenInterval", check)


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Whole numbers of a closed interval."""
    inside = interval(lower_bound, upper_bound)
    check = lambda x: _c.logical_and(_whole(x), inside.check(x))  # noqa: E731
    return _between(lower_bound, upper_bound, "IntegerInterval", check, True)


def multinomial(upper_bound: int) -> Constraint:
    """Counts along the last axis whose sum is at most a bound."""
    check = lambda x: _c.logical_and(_every(_c.ge(x, 0)), _c.le(_c.sum(x, axis=-1), upper_bound))  # noqa: E731
    return Constraint(check, "Multinomial()", 1, True, upper_bound=upper_bound)


def independent(base_constraint: Constraint, reinterpreted_batch_ndims: int) -> Constraint:
    """Events of several axes, of which each part is in a set."""
    count = reinterpreted_batch_ndims
    check = (lambda x: _every(base_constraint.check(x), count)) if count else base_constraint.check
    name = f"Independent({base_constraint!r}, {count})"
    dims = base_constraint.event_dim + count
    return Constraint(check, name, dims, base_constraint.is_discrete, base_constraint=base_constraint, count=count)


def _parted(parts: list[Tensor], sets: Sequence[Constraint]) -> list[Tensor]:
    return [constraint.check(part) for constraint, part in zip(sets, parts, strict=True)]


def cat(cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> Constraint:
    """Parts along an axis, each with a set of its own."""
    sizes = [1] * len(cseq) if lengths is None else list(lengths)

    def check(x: Tensor) -> Tensor:
        ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
        parts = [x.narrow(dim, end - size, size) for end, size in zip(ends, sizes)]
        return _c.concat(_parted(parts, cseq), axis=dim)

    dims = max(c.event_dim for c in cseq)
    return Constraint(check, f"Cat({list(cseq)})", dims, any(c.is_discrete for c in cseq), cseq=cseq, dim=dim, lengths=sizes)


def stack(cseq: Sequence[Constraint], dim: int = 0) -> Constraint:
    """Entries along an axis, each with a set of its own."""
    check = lambda x: _c.stack(_parted([x.select(dim, i) for i in range(len(cseq))], cseq), axis=dim)  # noqa: E731
    dims = max(c.event_dim for c in cseq)
    return Constraint(check, f"Stack({list(cseq)})", dims, any(c.is_discrete for c in cseq), cseq=cseq, dim=dim)


def _simplex(x: Tensor) -> Tensor:
    return _c.logical_and(_every(_c.ge(x, 0)), _close(_c.sum(x, axis=-1), 1))


def _one_hot(x: Tensor) -> Tensor:
    return _c.logical_and(_every(_c.logical_or(_c.eq(x, 0), _c.eq(x, 1))), _c.eq(_c.sum(x, axis=-1), 1))


def _triangular(x: Tensor) -> Tensor:
    return _every(_c.eq(_c.tril(x), x), 2)


def _cholesky(x: Tensor) -> Tensor:
    return _c.logical_and(_triangular(x), _every(_c.gt(x.diagonal(0, -2, -1), 0)))


def _corr(x: Tensor) -> Tensor:
    return _c.logical_and(_cholesky(x), _every(_c.lt(_c.abs(_c.sum(_c.square(x), axis=-1) - 1), 1e-4)))


def _square(x: Tensor) -> Tensor:
    return _c.full(x.shape[:-2], x.shape[-2] == x.shape[-1], dtype=_c.bool, device=x.device)


def _symmetric(x: Tensor) -> Tensor:
    return _every(_close(x, x.mT), 2) if x.shape[-2] == x.shape[-1] else _square(x)


def _definite(least: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def check(x: Tensor) -> Tensor:
        from ..linalg import eigvalsh

        return _c.logical_and(_symmetric(x), _every(least(eigvalsh(x))))

    return check


real = Constraint(lambda x: _c.eq(x, x), "Real()")
real_vector = independent(real, 1)
positive, nonnegative = greater_than(0.0), greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
boolean = Constraint(lambda x: _c.logical_or(_c.eq(x, 0), _c.eq(x, 1)), "Boolean()", discrete=True)
nonnegative_integer = Constraint(lambda x: _c.logical_and(_whole(x), _c.ge(x, 0)), "IntegerGreaterThan(0)", 0, True)
positive_integer = Constraint(lambda x: _c.logical_and(_whole(x), _c.ge(x, 1)), "IntegerGreaterThan(1)", 0, True)
simplex, one_hot = Constraint(_simplex, "Simplex()", 1), Constraint(_one_hot, "OneHot()", 1, True)
lower_triangular = Constraint(_triangular, "LowerTriangular()", 2)
lower_cholesky, corr_cholesky = Constraint(_cholesky, "LowerCholesky()", 2), Constraint(_corr, "CorrCholesky()", 2)
square, symmetric = Constraint(_square, "Square()", 2), Constraint(_symmetric, "Symmetric()", 2)
positive_semidefinite = Constraint(_definite(lambda v: _c.ge(v, -1e-6)), "PositiveSemidefinite()", 2)
positive_definite = Constraint(_definite(lambda v: _c.gt(v, 0)), "PositiveDefinite()", 2)


def __dir__():
    return __all__
