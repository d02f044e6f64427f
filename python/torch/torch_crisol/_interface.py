"""What torch.compile asks of a device."""

from __future__ import annotations

from typing import Any

import torch
from torch._dynamo.device_interface import DeviceInterface, register_interface_for_device

import torch_crisol


class Interface(DeviceInterface):
    """The functions of torch.crisol under the names of torch.compile."""

    Event = torch.Event
    Stream = torch.Stream
    device = torch_crisol.device
    current_device = staticmethod(torch_crisol.current_device)
    set_device = staticmethod(torch_crisol.set_device)
    exchange_device = staticmethod(torch_crisol._c.exchange_device)
    maybe_exchange_device = staticmethod(torch_crisol._c.exchange_device)
    device_count = staticmethod(torch_crisol.device_count)
    is_available = staticmethod(torch_crisol.is_available)
    stream = staticmethod(torch_crisol.stream)
    current_stream = staticmethod(torch_crisol.current_stream)
    set_stream = staticmethod(torch.accelerator.set_stream)
    synchronize = staticmethod(torch_crisol.synchronize)
    memory_allocated = staticmethod(torch_crisol.memory_allocated)
    is_bf16_supported = staticmethod(torch_crisol.is_bf16_supported)
    get_compute_capability = staticmethod(torch_crisol.get_device_capability)

    @classmethod
    def get_device_properties(cls, device: Any = None) -> Any:
        """Facts about a device."""
        return torch_crisol.get_device_properties(device)


register_interface_for_device("crisol", Interface)
