"""Timelines of a program, for Perfetto or chrome://tracing. As a function, crisol.trace(x) is linalg.trace(x)."""

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

from ._crisol._trace import active, scope, start, stop

__all__ = ["active", "file", "scope", "start", "stop"]

scope.__module__ = "crisol.trace"


@contextmanager
def file(path: str | PathLike[str]) -> Iterator[None]:
    """Writes a timeline while the with statement runs: `with crisol.trace.file("trace.json"): …`."""
    start(path)
    try:
        yield
    finally:
        stop()


class _Module(types.ModuleType):
    """This module, which programs for PyTorch call."""

    def __call__(self, x: Any) -> Any:
        """The sum of the diagonal of a matrix."""
        from .linalg import trace

        return trace(x)


sys.modules[__name__].__class__ = _Module


def __dir__():
    return __all__
