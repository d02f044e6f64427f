"""Layers of the extension with arguments that Python code handles, such as Conv2d(padding_mode="reflect").

The constructor of such a layer calls prepare(). The layer then has a class of this module, which is derived from the
layer's own class. So the library calls the functions here when it calls the layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._crisol import Tensor, _nn
from . import functional as F


def _padded(self: Any, plain: Any, x: Tensor) -> Any:
    sides = [n for pair in reversed(list(zip(self._before, self._after))) for n in pair]
    return plain(self, F.pad(x, sides, "constant" if self.padding_mode == "zeros" else self.padding_mode))


def _with_indices(function: Any) -> Callable[[Any, Any, Tensor], Any]:
    def pool(self: Any, plain: Any, x: Tensor) -> Any:
        return function(x, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, True)

    return pool


_RULES: dict[Any, Callable[[Any, Any, Tensor], Any]] = {
    _nn.Conv1d: _padded,
    _nn.Conv2d: _padded,
    _nn.Conv3d: _padded,
    _nn.MaxPool2d: _with_indices(F.max_pool2d),
    _nn.MaxPool3d: _with_indices(F.max_pool3d),
    _nn.AdaptiveAvgPool2d: lambda self, plain, x: F.adaptive_avg_pool2d(x, self.output_size),
    _nn.AdaptiveAvgPool3d: lambda self, plain, x: F.adaptive_avg_pool3d(x, self.output_size),
    _nn.GELU: lambda self, plain, x: F.gelu(x, approximate=self.approximate),
    _nn.Softmax: lambda self, plain, x: F.softmax(x, self.dim),
    _nn.LogSoftmax: lambda self, plain, x: F.log_softmax(x, self.dim),
    _nn.Embedding: lambda self, plain, x: F.embedding(
        x, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
    ),
}
_special: dict[Any, Any] = {}


def _install(cls: Any, rule: Callable[[Any, Any, Tensor], Any]) -> None:
    plain = cls.forward

    def forward(self: Any, input: Tensor) -> Any:
        return rule(self, plain, input) if "_special" in self.__dict__ else plain(self, input)

    forward.__doc__ = plain.__doc__
    cls.forward = forward
    _special[cls] = globals()[cls.__name__] = type(cls.__name__, (cls,), {"__module__": __name__})


for _class, _rule in _RULES.items():
    _install(_class, _rule)


def prepare(layer: Any, **attributes: Any) -> None:
    """Stores the arguments that Python code handles, and gives the layer its class of this module."""
    if isinstance(attributes.get("padding"), list):
        attributes["padding"] = tuple(attributes["padding"])
    layer.__dict__.update(attributes, _special=True)
    layer.__class__ = special_class(layer, type(layer))


def special_class(layer: Any, cls: Any) -> Any:
    """The class of a layer with the class `cls` of the extension, which may have arguments for Python code."""
    return _special.get(cls, cls) if "_special" in layer.__dict__ else cls
