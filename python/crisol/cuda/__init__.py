"""The functions of torch.cuda. Here they are about the GPUs of any vendor. `device` may be "gpu" or a number."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .. import _crisol as _c, amp as amp
from .._crisol import OutOfMemoryError as OutOfMemoryError
from .._functions._random import get_rng_state as get_rng_state, initial_seed as initial_seed, seed as seed
from .._functions._random import set_rng_state as set_rng_state
from ._streams import Event, Stream, current_stream, default_stream, device, stream

__all__ = ["current_device", "device_count", "empty_cache", "get_device_name", "is_available", "manual_seed"]
__all__ += ["is_bf16_supported", "is_initialized", "max_memory_reserved", "memory_reserved", "set_device"]
__all__ += ["reset_peak_memory_stats", "manual_seed_all", "max_memory_allocated", "memory_allocated", "synchronize"]
__all__ += ["Event", "OutOfMemoryError", "Stream", "current_stream", "default_stream", "device"]
__all__ += ["get_device_properties", "get_rng_state", "init", "initial_seed", "mem_get_info", "memory_stats"]
__all__ += ["memory_summary", "seed", "set_rng_state", "stream"]


def _gpus() -> list[_c.device]:
    return [each for each in _c.devices() if each.type == "gpu"]


def _chosen(device: Any) -> _c.device:
    if isinstance(device, int):
        gpus = _gpus()
        if not 0 <= device < len(gpus):
            raise _c.InvalidArgumentError(f"[cuda] there is no GPU {device}: there are {len(gpus)}")
        return gpus[device]
    return _c.device() if device is None else _c.device(device)


def is_available() -> bool:
    """Whether there is a GPU of any vendor."""
    return bool(_gpus())


def device_count() -> int:
    """The number of GPUs."""
    return len(_gpus())


def current_device() -> int:
    """The position of the default device among the GPUs, or 0."""
    gpus = _gpus()
    return gpus.index(_c.device()) if _c.device() in gpus else 0


def get_device_name(device: Any = None) -> str:
    """The name that the driver reports."""
    return _chosen(device).name


def get_device_properties(device: Any = None) -> SimpleNamespace:
    """The name, total_memory in bytes, and multi_processor_count, the number of compute units."""
    info = _chosen(device).info
    units = info["compute_units"]
    return SimpleNamespace(name=info["name"], total_memory=info["global_memory"], multi_processor_count=units)


def synchronize(device: Any = None) -> None:
    """Waits until all queued work of a device is done."""
    _chosen(device).synchronize()


def empty_cache() -> None:
    """Returns the unused cached buffers of the default device to OpenCL."""
    _c.device().release_cached_memory()


def memory_allocated(device: Any = None) -> int:
    """The bytes that live tensors hold."""
    return _chosen(device).memory_stats().in_use


def max_memory_allocated(device: Any = None) -> int:
    """The largest number of bytes that tensors held."""
    return _chosen(device).memory_stats().peak


def memory_stats(device: Any = None) -> dict[str, int]:
    """The bytes that live tensors hold, now and at most, and the bytes of buffers that wait for the next tensor."""
    stats = _chosen(device).memory_stats()
    return {"allocated_bytes.all.current": stats.in_use, "allocated_bytes.all.peak": stats.peak, "cached": stats.cached}


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """memory_stats() as a text."""
    return "\n".join(f"{name}: {number:,} bytes" for name, number in memory_stats(device).items())


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """The bytes of a device that this process does not hold, and all of its bytes. OpenCL does not tell what other
    processes hold."""
    chosen = _chosen(device)
    stats, total = chosen.memory_stats(), chosen.info["global_memory"]
    return total - stats.in_use - stats.cached, total


def init() -> None:
    """Nothing: a device is opened by its first use."""


def manual_seed(seed: int) -> None:
    """crisol.manual_seed()"""
    _c.manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """crisol.manual_seed()"""
    _c.manual_seed(seed)


def is_initialized() -> bool:
    """Whether there is a GPU."""
    return is_available()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """True: every device stores bfloat16, and computes in float32."""
    return True


def max_memory_reserved(device: Any = None) -> int:
    """The largest number of bytes that tensors held."""
    return max_memory_allocated(device)


def memory_reserved(device: Any = None) -> int:
    """The bytes that live tensors hold."""
    return memory_allocated(device)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Makes the memory that tensors hold now the largest number of max_memory_allocated()."""
    _chosen(device).reset_peak_memory()


def set_device(device: Any) -> None:
    """Makes a GPU the default device."""
    _c.set_default_device(_chosen(device))


def __dir__():
    return __all__
