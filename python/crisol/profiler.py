"""Times of a program's parts, under the names of torch.profiler. They come from a timeline of crisol.trace."""

from __future__ import annotations

import enum
import json
import pathlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any, Self

from . import trace
from .trace import scope as record_function

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "tensorboard_trace_handler"]


class ProfilerActivity(enum.Enum):
    """What PyTorch's profiler measures. This one always measures host and device."""

    CPU, CUDA, XPU, PrivateUse1 = range(4)


class ProfilerAction(enum.Enum):
    """What a profiler does in a step."""

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], ProfilerAction]:
    """After skip_first steps, cycles of `wait` and `warmup` steps that are not measured and `active` ones that are.
    There are `repeat` cycles, or any number for 0."""
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        at = step - skip_first
        if at < 0 or (repeat > 0 and at >= repeat * length) or at % length < wait:
            return ProfilerAction.NONE
        if at % length < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at % length == length - 1 else ProfilerAction.RECORD

    return action


class _Row:
    """The calls of one name: times of the host and of the device in microseconds."""

    def __init__(self, key: str) -> None:
        self.key, self.count, self.cpu_time_total, self.device_time_total = key, 0, 0.0, 0.0

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total / self.count

    @property
    def device_time(self) -> float:
        return self.device_time_total / self.count


class _Rows(list[_Row]):
    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """A text with one line for each row. sort_by is the name of an attribute, or begins with "cuda" for the
        device. The largest is the first."""
        rows = self[:]
        if sort_by is not None:
            name = sort_by.removeprefix("self_").replace("cuda", "device")
            rows.sort(key=lambda row: getattr(row, name), reverse=True)
        lines = [("Name", "Calls", "Host total", "Host avg", "Device total", "Device avg")]
        for row in rows[: row_limit if row_limit >= 0 else None]:
            times = (row.cpu_time_total, row.cpu_time, row.device_time_total, row.device_time)
            lines.append((row.key, str(row.count), *(f"{value:.3f}us" for value in times)))
        width = max(len(line[0]) for line in lines)
        return "\n".join(line[0].ljust(width) + "".join(text.rjust(15) for text in line[1:]) for line in lines) + "\n"


class profile:
    """Measures a part of a program: `with profile() as p: …`, then `print(p.key_averages().table())`. Rows are ops (time
    of the host, and of their kernels), and parts that record_function() marks. With a schedule, step() ends each step,
    and on_trace_ready(p) is called after each cycle. The other arguments have no effect."""

    def __init__(
        self, *, activities: Iterable[Any] | None = None, schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None, record_shapes: bool = False,
        profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
        with_modules: bool = False, **options: Any,
    ) -> None:  # fmt: skip
        self.on_trace_ready, self.step_num = on_trace_ready, 0
        self._schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self._folder, self._is_recording = tempfile.TemporaryDirectory(prefix="crisol"), False
        self._path = pathlib.Path(self._folder.name) / "trace.json"

    def start(self) -> None:
        """Starts measuring, as `with` does."""
        self._begin()

    def stop(self) -> None:
        """Stops measuring, as the end of `with` does."""
        if self._is_recording:
            self._save()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def step(self) -> None:
        """Ends a step of the schedule."""
        before = self._schedule(self.step_num)
        self.step_num += 1
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._save()
        self._begin()

    def _begin(self) -> None:
        action = self._schedule(self.step_num)
        if not self._is_recording and action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            trace.start(self._path)
            self._is_recording = True

    def _save(self) -> None:
        trace.stop()
        self._is_recording = False
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _of_file(self) -> list[dict[str, Any]]:
        if self._is_recording or not self._path.exists():
            raise RuntimeError("[profile] nothing was measured yet: the results are there after the measured part")
        return [event for event in json.loads(self._path.read_text()) if event["ph"] == "X"]

    def key_averages(self, group_by_input_shape: bool = False, **options: Any) -> Any:
        """The sums for each name."""
        rows: dict[str, _Row] = {}
        for event in self._of_file():
            is_on_device = event["pid"] != 0
            if not is_on_device and event["cat"] not in ("op", "scope"):
                continue
            key = event.get("args", {}).get("op", event["name"]) if is_on_device else event["name"]
            row = rows.setdefault(key, _Row(key))
            if is_on_device:
                row.device_time_total += event["dur"]
            else:
                row.cpu_time_total += event["dur"]
                row.count += 1
        for row in rows.values():
            row.count = max(row.count, 1)
        return _Rows(sorted(rows.values(), key=lambda row: row.cpu_time_total, reverse=True))

    def export_chrome_trace(self, path: str) -> None:
        """Copies the timeline, for Perfetto or chrome://tracing."""
        self._of_file()
        shutil.copyfile(self._path, path)


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False) -> Any:
    """A function for on_trace_ready that writes each timeline to a file of a folder."""

    def handle(measured: profile) -> None:
        folder = pathlib.Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{worker_name or 'worker'}.{time.time_ns()}.pt.trace.json"
        measured.export_chrome_trace(str(folder / name))

    return handle


def __dir__():
    return __all__
