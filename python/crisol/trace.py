"""Timelines of a program, for Perfetto or chrome://tracing. As a function, crisol.trace(x) is linalg.trace(x)."""

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike
from typing import Any, Self

from ._crisol._trace import Part, active, start, stop
from ._mode import Mode

__all__ = ["active", "file", "scope", "start", "stop"]


class scope(Mode):
    """Marks a part of the program in the timeline: `with scope("step"): …`, or as a decorator of a function."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._scope = name, partial(Part, name)

    def _again(self) -> Self:
        return type(self)(self._name)


@contextmanager
def file(path: str | PathLike[str]) -> Iterator[None]:
    """Records a timeline during the with statement: `with crisol.trace.file("trace.json"): …`."""
    start(path)
    try:
        yield
    finally:
        stop()


class _Module(types.ModuleType):
    """Makes this module callable, because torch.trace is a function."""

    def __call__(self, input: Any) -> Any:
        """The sum of the diagonal of a matrix."""
        from .linalg import trace

        return trace(input)


sys.modules[__name__].__class__ = _Module


def __dir__():
    return __all__
