"""The device "crisol" of PyTorch: OpenCL devices of any vendor.

    import torch
    import torch_crisol

    x = torch.ones(3, device="crisol")

This module is also torch.crisol. Its functions have the names and the meaning of torch.cuda. A device is "crisol:0"
(the library's default device, which the environment variable CRISOL_DEVICE chooses), "crisol:1", and so on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import torch
from torch import __version__ as _torch_version

from . import _versions

_device = _c = _versions.load(_torch_version)  # The extension.

__all__ = ["Event", "Stream", "amp", "current_device", "current_stream", "default_stream", "device", "device_count"]
__all__ += ["device_of", "empty_cache", "fallbacks", "get_amp_supported_dtype", "get_device_capability"]
__all__ += ["get_device_name", "get_device_properties", "get_rng_state", "get_rng_state_all", "init", "initial_seed"]
__all__ += ["is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all"]
__all__ += ["max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats"]
__all__ += ["native_ops", "reset_peak_memory_stats", "seed", "seed_all", "set_device", "set_fallback", "set_recurrent"]
__all__ += ["set_rng_state", "set_rng_state_all", "stream", "synchronize"]

_parent = os.getpid()
_initialized = True  # PyTorch keeps the state of the generators for checkpoints only if this is true.


def _index(device: Any = None) -> int:
    """The number of a device: of "crisol:1", torch.device("crisol", 1) or 1. None is the current device."""
    if device is None:
        return _c.current_device()
    if isinstance(device, int):
        number = device
    else:
        device = torch.device(device)
        if device.type != "crisol":
            raise ValueError(f"Expected a crisol device, but got: {device}")
        number = _c.current_device() if device.index is None else device.index
    if not 0 <= number < device_count():
        raise RuntimeError(
            f"crisol: there is no device crisol:{number}; this machine has {device_count()} OpenCL devices"
        )
    return number


def is_available() -> bool:
    """Whether there is an OpenCL device."""
    return device_count() > 0


def is_initialized() -> bool:
    """True. Importing the module initialises it."""
    return True


def init() -> None:
    """Importing the module initialises it. A child of fork() gets an error."""
    if _is_in_bad_fork():
        raise RuntimeError("crisol: a child of fork() cannot use the device. Start processes by the method 'spawn'")


def _lazy_init() -> None:
    """Nothing, for PyTorch."""


def _is_in_bad_fork() -> bool:
    """Whether this process is a child of fork(), in which no OpenCL driver works."""
    return os.getpid() != _parent


def device_count() -> int:
    """The number of OpenCL devices."""
    return _c.device_count()


def current_device() -> int:
    """The number of this thread's current device."""
    return _c.current_device()


def set_device(device: Any) -> None:
    """Makes a device this thread's current device."""
    _c.exchange_device(_index(device))


class device:
    """A context with another current device. A negative number or None changes nothing."""

    def __init__(self, device: Any) -> None:
        changes = device is not None and not (isinstance(device, int) and device < 0)
        self.idx = _index(device) if changes else -1
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            self.prev_idx = _c.exchange_device(self.idx)

    def __exit__(self, *_: object) -> None:
        if self.idx >= 0:
            _c.exchange_device(self.prev_idx)


class device_of(device):
    """A context in which the device of a tensor is the current device."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.device.index if obj.device.type == "crisol" else None)


def synchronize(device: Any = None) -> None:
    """Waits for all queued work of a device."""
    _c.synchronize(_index(device))


# ---- Streams and events. A device has one queue, so work of all its streams runs in order.


def Stream(device: Any = None, priority: int = 0) -> torch.Stream:
    """A new stream. All streams of a device are its only queue."""
    return torch.Stream(device=torch.device("crisol", _index(device)), priority=priority)


def Event(enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> torch.Event:
    """A point in the queue of a device."""
    return torch.Event("crisol", enable_timing=enable_timing, blocking=blocking)


def current_stream(device: Any = None) -> torch.Stream:
    """The stream of a device that this thread made the current one."""
    return torch.accelerator.current_stream(_index(device))


def default_stream(device: Any = None) -> torch.Stream:
    """The first stream of a device."""
    kind = torch.Stream(device="crisol").device_type
    return torch.Stream(stream_id=0, device_index=_index(device), device_type=kind)


@contextmanager
def stream(stream: torch.Stream | None) -> Iterator[None]:
    """A context with another current stream. None changes nothing."""
    with stream or nullcontext():
        yield


# ---- Facts about devices


def get_device_properties(device: Any = None) -> SimpleNamespace:
    """Name, vendor, platform, driver_version, total_memory, multi_processor_count, has_fp16 and has_fp64."""
    return SimpleNamespace(**_c.properties(_index(device)))


def get_device_name(device: Any = None) -> str:
    """The name that the driver reports."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """(0, 0). OpenCL devices have no such number."""
    _index(device)
    return (0, 0)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """True. Every device reads and writes bfloat16, and computes in float32."""
    return True


# ---- Memory


def memory_stats(device: Any = None) -> dict[str, int]:
    """The bytes of the device's pool: "allocated", "reserved" and "peak", and the number of "allocations"."""
    return dict(_c.memory_stats(_index(device)))


def memory_allocated(device: Any = None) -> int:
    """The bytes that tensors hold."""
    return memory_stats(device)["allocated"]


def max_memory_allocated(device: Any = None) -> int:
    """The largest memory_allocated() since the start or reset_peak_memory_stats()."""
    return memory_stats(device)["peak"]


def memory_reserved(device: Any = None) -> int:
    """The bytes of the pool, which holds free memory too."""
    return memory_stats(device)["reserved"]


def max_memory_reserved(device: Any = None) -> int:
    """The larger one of max_memory_allocated() and memory_reserved()."""
    return max(max_memory_allocated(device), memory_reserved(device))


def reset_peak_memory_stats(device: Any = None) -> None:
    """Starts max_memory_allocated() anew."""
    _c.reset_peak_memory(_index(device))


def empty_cache() -> None:
    """Gives the free memory of all devices back to OpenCL."""
    for number in range(device_count()):
        _c.empty_cache(number)


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Limits the memory of a device to a part of its memory."""
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    number = _index(device)
    _c.set_memory_limit(number, int(fraction * get_device_properties(number).total_memory))


# ---- Random numbers


def _generator(device: Any = None) -> torch.Generator:
    return default_generators[_index(device)]


class _Generators:
    """The default generators, by the numbers of devices."""

    def __len__(self) -> int:
        return device_count()

    def __getitem__(self, number: int) -> torch.Generator:
        return _c.default_generator(_index(number))


default_generators = _Generators()


def manual_seed(seed: int) -> None:
    """Seeds the generator of the current device."""
    _generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all devices."""
    for number in range(device_count()):
        _generator(number).manual_seed(int(seed))


def seed() -> None:
    """Seeds the generator of the current device with a random number."""
    _generator().seed()


def seed_all() -> None:
    """Seeds the generators of all devices with one random number."""
    manual_seed_all(_generator().seed())


def initial_seed() -> int:
    """The seed of the generator of the current device."""
    return _generator().initial_seed()


def get_rng_state(device: Any = "crisol") -> torch.Tensor:
    """The state of the generator of a device."""
    return _generator(device).get_state()


def set_rng_state(new_state: torch.Tensor, device: Any = "crisol") -> None:
    """Sets the state of the generator of a device."""
    _generator(device).set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    """The states of all devices."""
    return [get_rng_state(number) for number in range(device_count())]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Sets the states of all devices."""
    for number, state in enumerate(new_states):
        set_rng_state(state, number)


# ---- Ops that the device does not have


def set_fallback(mode: str) -> None:
    """Chooses what happens when an op runs on the CPU: "error", "warn" (once for each op) or "silent"."""
    _c.set_fallback(mode)


@contextmanager
def fallbacks() -> Iterator[dict[str, tuple[int, str]]]:
    """A context that gathers the ops that ran on the CPU: how often, and the last reason."""
    _c.clear_fallback_notes()
    notes: dict[str, tuple[int, str]] = {}
    try:
        yield notes
    finally:
        notes.update(_c.fallback_notes())


def native_ops() -> list[str]:
    """The names of PyTorch's ops that run on the device."""
    return sorted(_c.row_names())


def set_recurrent(mode: str) -> None:
    """Chooses how recurrent layers run: "layers" (whole sequences, the default) or "cells" (a cell for each step, which
    has second gradients)."""
    if mode not in ("layers", "cells"):
        raise ValueError(f'crisol: recurrent layers run by "layers" or "cells", not "{mode}"')
    _c.set_whole_sequences(mode == "layers")


# ---- Automatic mixed precision


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The dtypes of torch.autocast("crisol")."""
    return [torch.float16, torch.bfloat16]


class amp:
    """torch.crisol.amp: autocast and GradScaler for this device."""

    @staticmethod
    def autocast(
        enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True
    ) -> torch.autocast:
        """torch.autocast for this device."""
        return torch.autocast("crisol", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)

    @staticmethod
    def GradScaler(*arguments: Any, **settings: Any) -> torch.amp.GradScaler:
        """torch.amp.GradScaler for this device."""
        return torch.amp.GradScaler("crisol", *arguments, **settings)


def _register() -> None:
    """Gives PyTorch the name of the device, and the methods x.crisol() and module.crisol()."""
    torch.utils.rename_privateuse1_backend("crisol")
    torch._register_device_module("crisol", sys.modules[__name__])
    torch.utils.generate_methods_for_privateuse1_backend(for_tensor=True, for_module=True, for_storage=True)


_register()
