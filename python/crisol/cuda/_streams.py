"""Streams and events. A device has one queue, whose work runs in the order of the calls."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import _crisol as _c


class Event:
    """A moment in the work of the default device. record() waits for the work before it, so that elapsed_time() is the
    time between the ends of both works."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self._time: float | None = None

    def record(self, stream: Any = None) -> None:
        """Waits until all queued work is done, and takes the time."""
        self.synchronize()
        self._time = time.perf_counter()

    def synchronize(self) -> None:
        """Waits until all queued work is done."""
        _c.device().synchronize()

    def query(self) -> bool:
        """True: record() has waited."""
        return True

    def wait(self, stream: Any = None) -> None:
        """Nothing, because there is one queue."""

    def elapsed_time(self, end_event: Event) -> float:
        """The milliseconds from this event to another one. Raises RuntimeError if one is not recorded."""
        if self._time is None or end_event._time is None:
            raise RuntimeError("[Event.elapsed_time] both events must be recorded")
        return 1e3 * (end_event._time - self._time)


class Stream:
    """The queue of the default device. All streams are this one."""

    def __init__(self, device: Any = None, priority: int = 0) -> None: ...

    def synchronize(self) -> None:
        """Waits until all queued work is done."""
        _c.device().synchronize()

    def query(self) -> bool:
        """True, after a wait for all queued work."""
        self.synchronize()
        return True

    def wait_stream(self, stream: Any) -> None:
        """Nothing, because there is one queue."""

    def wait_event(self, event: Event) -> None:
        """Nothing, because there is one queue."""

    def record_event(self, event: Event | None = None) -> Event:
        """Records an event, a new one if none is given, and returns it."""
        made = Event() if event is None else event
        made.record()
        return made


def current_stream(device: Any = None) -> Stream:
    """The one stream."""
    return Stream()


default_stream = current_stream


@contextmanager
def stream(stream: Stream | None) -> Iterator[None]:
    """A context without effect."""
    yield


class device:
    """A context in which a GPU is the default device. A negative number and None change nothing."""

    def __init__(self, device: Any) -> None:
        self._chosen = device

    def __enter__(self) -> None:
        from . import set_device

        self._before = _c.device()
        if self._chosen is not None and not (isinstance(self._chosen, int) and self._chosen < 0):
            set_device(self._chosen)

    def __exit__(self, *_: object) -> None:
        _c.set_default_device(self._before)
