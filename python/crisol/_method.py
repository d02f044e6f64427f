"""Members of classes of the extension that are written in Python. python/stub.py puts them into the stubs."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from ._crisol import InvalidArgumentError, Tensor, dtype, isdtype

F = TypeVar("F", bound=Callable[..., Any])

# The names that NumPy and the Array API standard have for PyTorch's arguments. PyTorch accepts them too.
_NUMPY_NAMES = {"axis": "dim", "axes": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input"}
_NUMPY_NAMES |= {"x2": "other", "tensor": "input", "split_size": "split_size_or_sections"}
_told: set[str] = set()
_PACKAGE = os.path.dirname(__file__)


def _method(cls: type) -> Callable[[F], F]:
    """A decorator that makes a function a method of a class of the extension."""

    def add(function: F) -> F:
        function.__qualname__ = f"{cls.__name__}.{function.__name__}"
        setattr(cls, function.__name__, function)
        return function

    return add


def _numpy_names(function: F) -> F:
    """A decorator. The function then also accepts NumPy's names of arguments."""

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        if named:
            named = {_NUMPY_NAMES.get(name, name): value for name, value in named.items()}
        return function(*args, **named)

    return call  # type: ignore[return-value]


def _in_place(cls: type, *names: str) -> None:
    """Adds a method name_() for each method name(). It overwrites the tensor with the result."""
    for name in names:
        setattr(cls, f"{name}_", _written(name, getattr(cls, name)))


def _written(name: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def write(self: Tensor, *args: Any, **named: Any) -> Tensor:
        # A copy, because the function may keep its input for the gradient, and the input is overwritten.
        source = self.clone() if self.requires_grad else self
        return write_result(f"{name}_", self, function(source, *args, **named))

    write.__name__ = f"{name}_"
    write.__qualname__ = f"Tensor.{name}_"
    write.__doc__ = f"Replaces the elements by those of {name}(). Returns this tensor."
    return write


def may_convert(source: dtype, to: dtype) -> bool:
    """Whether an element keeps its kind. A float does not become a whole number, and a number does not become a bool."""
    kinds = ["bool", "integral", "real floating"]
    rank = [next(i for i, kind in enumerate(kinds) if isdtype(each, kind)) for each in (source, to)]
    return rank[0] <= rank[1]


def write_result(name: str, tensor: Tensor, result: Tensor) -> Tensor:
    """Overwrites a tensor with a result of its shape."""
    if result.shape != tensor.shape:
        shapes = tuple(result.shape), tuple(tensor.shape)
        raise ValueError("[{}] the result has shape {}, and the tensor has shape {}".format(name, *shapes))
    if not may_convert(result.dtype, tensor.dtype):
        text = f"the result is {result.dtype.name} and cannot be put into a tensor of {tensor.dtype.name} without loss"
        raise InvalidArgumentError(f"[{name}] {text}")
    return tensor.copy_(result)


def _aliases(cls: type, **names: str) -> None:
    """Adds other names of methods: new="old"."""
    for new, old in names.items():
        setattr(cls, new, getattr(cls, old))


def into(out: Any, result: Any) -> Any:
    """Returns the result, or writes it into `out` if there is one. `out` is a tensor, or a tuple of tensors for several
    results."""
    if out is None:
        return result
    pairs = [(out, result)] if isinstance(out, Tensor) else list(zip(out, result, strict=True))
    for place, value in pairs:
        write_result("out", place, value)
    return out


def tell_once(name: str, text: str) -> None:
    """Warns, at the place of the call, about a name whose meaning differs from version 0.2. Each name warns once."""
    if name in _told:
        return
    _told.add(name)
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(f"{text} (crisol 0.3; docs/coming-from-pytorch.md)", FutureWarning, stacklevel=level)
