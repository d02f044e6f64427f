"""Activation checkpoints, under PyTorch's name."""

from collections.abc import Callable
from typing import Any

from .. import autograd
from .._crisol._nn import Module

__all__ = ["checkpoint", "checkpoint_sequential"]


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None, **named: Any) -> Any:
    """crisol.autograd.checkpoint(): function(*args), whose ops keep nothing for backward()."""
    return autograd.checkpoint(lambda *given: function(*given, **named), *args)


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: bool | None = None) -> Any:
    """Calls the functions one after the other, such as the layers of a Sequential. They are divided into segments. Each
    but the last is a checkpoint()."""
    steps = list(functions.children()) if isinstance(functions, Module) else list(functions)
    size = max(len(steps) // segments, 1)
    last = size * (segments - 1)

    def run(part: list[Any], value: Any) -> Any:
        for step in part:
            value = step(value)
        return value

    for start in range(0, last, size):
        input = checkpoint(run, steps[start : start + size], input)
    return run(steps[last:], input)


def __dir__():
    return __all__
