"""The names of torch.compiler that programs use. crisol.compile() changes nothing."""

from typing import Any

__all__ = ["disable", "is_compiling", "reset"]


def is_compiling() -> bool:
    """False."""
    return False


def disable(fn: Any = None, recursive: bool = True, **_: Any) -> Any:
    """The function itself, or a decorator that changes nothing."""
    return (lambda function: function) if fn is None else fn


def reset() -> None:
    """Has no effect."""


def __dir__():
    return __all__
