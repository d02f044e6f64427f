"""The functions of torch.cuda. Here they are about the GPUs of any vendor. `device` may be "gpu" or a number."""

from __future__ import annotations

from typing import Any

from . import _crisol as _c
from . import amp as amp

__all__ = ["current_device", "device_count", "empty_cache", "get_device_name", "is_available", "manual_seed"]
__all__ += ["is_bf16_supported", "is_initialized", "max_memory_reserved", "memory_reserved", "set_device"]
__all__ += ["reset_peak_memory_stats", "manual_seed_all", "max_memory_allocated", "memory_allocated", "synchronize"]


def _gpus() -> list[_c.device]:
    return [device for device in _c.devices() if device.type == "gpu"]


def _chosen(device: Any) -> _c.device:
    if isinstance(device, int):
        return _gpus()[device]
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
