"""Limits for gradients. Call these functions between backward() and step()."""

from collections.abc import Iterable

from .._crisol import Tensor
from .._crisol._optim import _clip_grad_norm, _clip_grad_value

__all__ = ["clip_grad_norm_", "clip_grad_value_"]


def _list_of(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales all gradients so that their common norm is at most max_norm: the Euclidean norm, or another p-norm.

    Returns the norm before scaling, as a tensor without axes. Nothing waits, except with error_if_nonfinite: then a
    norm that is NaN or infinite is an error, and no gradient changes. `foreach` changes nothing.
    """
    return _clip_grad_norm(_list_of(parameters), float(max_norm), float(norm_type), error_if_nonfinite)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Limits every element of the gradients to [-clip_value, clip_value]."""
    _clip_grad_value(_list_of(parameters), clip_value)


def __dir__():
    return __all__
