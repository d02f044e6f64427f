"""The names of torch.jit that programs use. Functions and modules stay as they are: crisol needs no compilation."""

from collections.abc import Callable
from typing import Any

__all__ = ["export", "freeze", "ignore", "is_scripting", "is_tracing", "script", "trace", "unused"]


def script(obj: Any, *_: Any, **__: Any) -> Any:
    """The function, class or module itself."""
    return obj


def trace(func: Any, example_inputs: Any = None, *_: Any, **__: Any) -> Any:
    """The function or module itself. crisol.capture() makes a graph."""
    return func


def freeze(mod: Any, *_: Any, **__: Any) -> Any:
    """The module itself."""
    return mod


def export(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def ignore(drop: Any = False, **_: Any) -> Any:
    """A decorator that changes nothing."""
    return drop if callable(drop) else export


def unused(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def is_scripting() -> bool:
    """False."""
    return False


def is_tracing() -> bool:
    """False."""
    return False


def __dir__():
    return __all__
