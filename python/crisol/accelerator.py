"""The functions of torch.accelerator: the GPUs of any vendor, as in crisol.cuda, and the device of that kind."""

from __future__ import annotations

from . import _crisol as _c
from .cuda import current_device as current_device_index, device_count as device_count, empty_cache as empty_cache
from .cuda import is_available as is_available, max_memory_allocated as max_memory_allocated
from .cuda import memory_allocated as memory_allocated, set_device as set_device_index, synchronize as synchronize

__all__ = ["current_accelerator", "current_device_index", "device_count", "empty_cache", "is_available"]
__all__ += ["max_memory_allocated", "memory_allocated", "set_device_index", "synchronize"]


def current_accelerator(check_available: bool = False) -> _c.device | None:
    """The device "gpu", or None if there is no GPU."""
    return _c.device("gpu") if is_available() else None


def __dir__():
    return __all__
