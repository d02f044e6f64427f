"""Layers that learn the number of their input channels or features at the first call. Before this call they have no
parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._crisol import _nn
from . import _module
from ._special import special_class
from .utils.parametrize import remove_hook

__all__ = ["LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d"]
__all__ += ["LazyConvTranspose3d", "LazyLinear"]


class _Start:
    """A hook. Before the first call it makes the parameters, and the class becomes that of the layer."""

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def __call__(self, module: Any, args: Any) -> None:
        base, arguments = type(module).__bases__[0], module.__dict__["_arguments"]
        arguments = (args[0].shape[self.axis], *arguments[1:])
        made = base(*arguments).to(args[0].device)
        remove_hook(module, lambda hook: isinstance(hook, _Start))
        del module.__dict__["_lazy"]
        module.__dict__["_arguments"] = arguments
        module.__class__ = special_class(module, base)
        for name in ("weight", "bias"):
            if getattr(made, name) is not None:
                setattr(module, name, getattr(made, name))


def _wait(layer: Any, axis: int) -> None:
    """Takes the parameters from a layer that was made with any number of inputs."""
    for name in ("weight", "bias"):
        value = getattr(layer, name)
        if value is not None:
            delattr(layer, name)
            setattr(layer, name, value.detach())
    layer.__dict__["_lazy"] = True
    _module.lazy_layers += 1
    layer.register_forward_pre_hook(_Start(axis))


class LazyLinear(_nn.Linear):
    """Linear, with in_features from the first call."""

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(1, out_features, bias, device, dtype)
        _wait(self, -1)


def _conv(base: Any, axis: int) -> Callable[..., None]:
    def __init__(
        self: Any, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        base.__init__(self, groups, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode,
                      device, dtype)  # fmt: skip
        _wait(self, axis)

    return __init__


def _conv_transpose(base: Any, axis: int) -> Callable[..., None]:
    def __init__(
        self: Any, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        base.__init__(self, groups, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation,
                      padding_mode, device, dtype)  # fmt: skip
        _wait(self, axis)

    return __init__


class LazyConv1d(_nn.Conv1d):
    """Conv1d, with in_channels from the first call."""

    __init__ = _conv(_nn.Conv1d, -2)


class LazyConv2d(_nn.Conv2d):
    """Conv2d, with in_channels from the first call."""

    __init__ = _conv(_nn.Conv2d, -3)


class LazyConv3d(_nn.Conv3d):
    """Conv3d, with in_channels from the first call."""

    __init__ = _conv(_nn.Conv3d, -4)


class LazyConvTranspose1d(_nn.ConvTranspose1d):
    """ConvTranspose1d, with in_channels from the first call."""

    __init__ = _conv_transpose(_nn.ConvTranspose1d, -2)


class LazyConvTranspose2d(_nn.ConvTranspose2d):
    """ConvTranspose2d, with in_channels from the first call."""

    __init__ = _conv_transpose(_nn.ConvTranspose2d, -3)


class LazyConvTranspose3d(_nn.ConvTranspose3d):
    """ConvTranspose3d, with in_channels from the first call."""

    __init__ = _conv_transpose(_nn.ConvTranspose3d, -4)
