"""Timelines of a program, for Perfetto or chrome://tracing."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

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


def __dir__():
    return __all__
