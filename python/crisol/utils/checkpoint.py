"""Activation checkpoints, under PyTorch's name."""

from collections.abc import Callable
from typing import Any

from .. import autograd

__all__ = ["checkpoint"]


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None, **named: Any) -> Any:
    """crisol.autograd.checkpoint(): function(*args), whose ops keep nothing for backward()."""
    return autograd.checkpoint(lambda *given: function(*given, **named), *args)


def __dir__():
    return __all__
