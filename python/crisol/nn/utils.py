"""Limits for gradients. Call these functions between backward() and step()."""

from collections.abc import Iterable

from .._crisol import Tensor
from .._crisol._optim import _clip_grad_norm, _clip_grad_value

__all__ = ["clip_grad_norm_", "clip_grad_value_"]


def _list_of(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float) -> Tensor:
    """Scales all gradients so that their common Euclidean norm is at most max_norm.

    Returns the norm before scaling, as a tensor without axes. Nothing waits.
    """
    return _clip_grad_norm(_list_of(parameters), max_norm)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Limits every element of the gradients to [-clip_value, clip_value]."""
    _clip_grad_value(_list_of(parameters), clip_value)


def __dir__():
    return __all__
