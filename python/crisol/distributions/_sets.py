"""What distributions give, what their parameters may be, and functions that lead from all numbers to a set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import constraints as c
from ._events import (
    CatTransform,
    CorrCholeskyTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
)
from .transforms import AffineTransform, ComposeTransform, ExpTransform, SigmoidTransform, Transform, identity_transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Functions from all numbers to sets of values: registry(constraint) is one."""

    def __init__(self) -> None:
        self._makers: dict[Any, Callable[[Any], Transform]] = {}

    def register(self, constraint: Any, factory: Callable[[Any], Transform] | None = None) -> Any:
        """Stores a function that makes the transform of a constraint, or of all constraints of a class. Without the
        function it is a decorator."""
        if factory is None:
            return lambda function: self.register(constraint, function)
        self._makers[constraint if isinstance(constraint, type) else _kind(constraint)] = factory
        return factory

    def __call__(self, constraint: Any) -> Transform:
        for key in (_kind(constraint), type(constraint)):
            if key in self._makers:
                return self._makers[key](constraint)
        raise NotImplementedError(f"Cannot transform {constraint!r} constraints")


def _kind(constraint: Any) -> str:
    """The name of a constraint without its values."""
    return repr(constraint).split("(")[0]


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _to_interval(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


def _above(constraint: Any) -> Transform:
    low = constraint.lower_bound
    if isinstance(low, (int, float)) and low == 0:
        return ExpTransform()
    return ComposeTransform([ExpTransform(), AffineTransform(low, 1.0)])


def _below(constraint: Any) -> Transform:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.upper_bound, -1.0)])


def _register(registry: ConstraintRegistry) -> None:
    registry.register(c.real, lambda constraint: identity_transform)
    registry.register(c.greater_than(0), _above)
    registry.register(c.greater_than_eq(0), _above)
    registry.register(c.less_than(0), _below)
    registry.register(c.interval(0, 1), _to_interval)
    registry.register(c.half_open_interval(0, 1), _to_interval)
    registry.register(c.lower_cholesky, lambda constraint: LowerCholeskyTransform())
    registry.register(c.positive_definite, lambda constraint: PositiveDefiniteTransform())
    registry.register(c.positive_semidefinite, lambda constraint: PositiveDefiniteTransform())
    registry.register(c.corr_cholesky, lambda constraint: CorrCholeskyTransform())
    registry.register(c.independent(c.real, 1), lambda s: IndependentTransform(registry(s.base_constraint), s.count))
    registry.register(c.cat([c.real]), lambda s: CatTransform([registry(each) for each in s.cseq], s.dim, s.lengths))
    registry.register(c.stack([c.real]), lambda s: StackTransform([registry(each) for each in s.cseq], s.dim))


_register(biject_to)
_register(transform_to)
biject_to.register(c.simplex, lambda constraint: StickBreakingTransform())
transform_to.register(c.simplex, lambda constraint: SoftmaxTransform())
