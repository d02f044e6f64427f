"""The texts with which modules print, as in PyTorch."""

import re

from .._crisol import Tensor, _nn
from .._method import _method
from ._module import Module


def _indented(text):
    return text.replace("\n", "\n  ")


def _lines_of_children(module):
    """One line for each child. In a ModuleList, equal neighbours share one line."""
    names = [name for name, _ in module._named_children()]
    texts = [repr(child) for child in module.children()]
    first = 0
    while first < len(names):
        end = first + 1
        while isinstance(module, _nn.ModuleList) and end < len(names) and texts[end] == texts[first]:
            end += 1
        text = _indented(texts[first])
        count = end - first
        yield f"({names[first]}): {text}" if count == 1 else f"({names[first]}-{names[end - 1]}): {count} x {text}"
        first = end


@_method(Module)
def __repr__(self) -> str:
    extra = self.extra_repr()
    children = list(_lines_of_children(self))
    if not children and "\n" not in extra:
        return f"{self._get_name()}({extra})"
    lines = extra.split("\n") if extra else []
    return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"


@_method(_nn.Parameter)
def __repr__(self) -> str:
    return f"Parameter containing:\n{Tensor.__repr__(self)}"


# PyTorch prints the arguments of these layers in the form in which they were given.


def _window(self):
    return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


def _max_window(self):
    return f"{_window(self)}, dilation={self.dilation}, ceil_mode={self.ceil_mode}"


def _output(self):
    return f"output_size={self.output_size}"


def _dropout(self):
    return f"p={self.p}, inplace={self.inplace}"


def _gelu(self):
    return f"approximate={self.approximate!r}"


def _with_inplace(settings):
    def text_of(self):
        parts = [settings(self)] if settings(self) else []
        return ", ".join(parts + ["inplace=True"] * bool(self.inplace))

    return text_of


def _with_name_of_padding(settings):
    def text_of(self):
        text = settings(self)
        if not isinstance(self.padding, str) and self.padding_mode == "zeros":
            return text
        text = re.sub(r"(stride=\(.*?\))(, padding=\(.*?\))?", rf"\1, padding={self.padding}", text)
        return text if self.padding_mode == "zeros" else f"{text}, padding_mode={self.padding_mode}"

    return text_of


def _add(function, *classes):
    for cls in classes:

        @_method(cls)
        def extra_repr(self) -> str:
            """The layer's settings for printing."""
            return function(self)


_add(_max_window, _nn.MaxPool2d, _nn.MaxPool3d)
_add(_window, _nn.AvgPool2d, _nn.AvgPool3d)
_add(_output, _nn.AdaptiveAvgPool2d, _nn.AdaptiveAvgPool3d)
_add(_dropout, _nn.Dropout)
_add(_gelu, _nn.GELU)
for _class in (_nn.ReLU, _nn.ReLU6, _nn.SiLU, _nn.Mish, _nn.SELU, _nn.LeakyReLU, _nn.ELU, _nn.CELU):
    _add(_with_inplace(_class.extra_repr), _class)
for _class in (_nn.Conv1d, _nn.Conv2d, _nn.Conv3d):
    _add(_with_name_of_padding(_class.extra_repr), _class)
