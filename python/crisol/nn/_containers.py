"""Lists and dicts of parameters, and wrappers that PyTorch has for several devices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .._crisol import Tensor
from .._crisol._nn import BatchNorm2d, Module, Parameter

__all__ = ["DataParallel", "ParameterDict", "ParameterList", "SyncBatchNorm"]


class DataParallel(Module):
    """A module on one device, under the attribute `module`. crisol.distributed uses several devices."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's result."""
        return self.module(*inputs, **kwargs)


class SyncBatchNorm(BatchNorm2d):
    """BatchNorm2d, with the statistics of one process."""

    @staticmethod
    def convert_sync_batchnorm(module: Module, process_group: Any = None) -> Module:
        """The module itself."""
        return module


def _line(name: str, value: Any, kind: str) -> str:
    return f"  ({name}): Parameter containing: [{kind} of size {'x'.join(map(str, value.shape))}]"


class ParameterList(Module):
    """A list of parameters. They belong to the module that holds the list."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__()
        self.__dict__["_count"] = 0
        self.extend(values)

    def append(self, value: Any) -> ParameterList:
        """Adds a parameter at the end. A tensor is converted to a parameter."""
        given = isinstance(value, Tensor) and not isinstance(value, Parameter)
        setattr(self, str(self._count), Parameter(value) if given else value)
        self.__dict__["_count"] = self._count + 1
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Adds parameters at the end."""
        for value in values:
            self.append(value)
        return self

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, str(i)) for i in range(self._count))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return ParameterList(getattr(self, str(i)) for i in range(*index.indices(self._count)))
        if not -self._count <= index < self._count:
            raise IndexError(f"there is no parameter {index} in a list of {self._count}")
        return getattr(self, str(index % self._count))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(index % self._count), value)

    def extra_repr(self) -> str:
        """A line for each parameter: its place, dtype and shape."""
        return "\n".join(_line(str(i), value, repr(value.dtype)) for i, value in enumerate(self))


class ParameterDict(Module):
    """A dict of parameters. They belong to the module that holds the dict."""

    def __init__(self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__()
        self.__dict__["_keys"] = []
        self.update(parameters)

    def update(self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Adds parameters by name."""
        for name, value in dict(parameters).items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        given = isinstance(value, Tensor) and not isinstance(value, Parameter)
        setattr(self, name, Parameter(value) if given else value)
        if name not in self._keys:
            self._keys.append(name)

    def __getitem__(self, name: str) -> Any:
        if name not in self._keys:
            raise KeyError(name)
        return getattr(self, name)

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def extra_repr(self) -> str:
        """A line for each parameter: its name, type and shape."""
        return "\n".join(_line(name, value, value.type()) for name, value in self.items())

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def keys(self) -> Iterator[str]:
        """Iterates over the names."""
        return iter(self._keys)

    def values(self) -> Iterator[Any]:
        """Iterates over the parameters."""
        return (getattr(self, name) for name in self._keys)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Iterates over the parameters with their names."""
        return ((name, getattr(self, name)) for name in self._keys)
