"""The members of the lists and dicts of modules that are written in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from .._crisol import _nn
from .._method import _method

Module = _nn.Module


def _numbered(cls):
    """Adds the methods of a list to a container whose children are named by numbers."""

    @_method(cls)
    def __getitem__(self, index: int | slice) -> Any:
        if not isinstance(index, slice):
            return self._child(index)
        part = cls()
        for name, child in list(self._named_children())[index]:
            if cls is _nn.Sequential:  # The modules keep their names, as in PyTorch.
                part.add_module(name, child)
            else:
                part.append(child)
        return part

    @_method(cls)
    def __iter__(self) -> Iterator[Any]:
        return self.children()

    @_method(cls)
    def extend(self, modules: Iterable[Module]) -> Self:
        """Adds modules at the end. Returns this container."""
        for module in modules:
            self.append(module)
        return self

    @_method(cls)
    def insert(self, index: int, module: Module) -> Self:
        """Puts a module before the one with this number. Returns this container."""
        modules = list(self)
        modules.insert(index, module)
        return _refill(self, modules)

    @_method(cls)
    def __delitem__(self, index: int | slice) -> None:
        modules = list(self)
        del modules[index]
        _refill(self, modules)

    @_method(cls)
    def pop(self, key: int = -1) -> Any:
        """Removes a module and returns it."""
        module = self[key]
        del self[key]
        return module

    @_method(cls)
    def __add__(self, other: Iterable[Module]) -> Any:
        return cls().extend(self).extend(other)

    @_method(cls)
    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)


def _refill(container, modules):
    """Gives a list of modules other modules, with numbers as names."""
    for name, _ in list(container._named_children()):
        container.__dict__.pop(name, None)
        container._forget(name)
    return container.extend(modules)


_numbered(_nn.Sequential)
_numbered(_nn.ModuleList)

ModuleDict = _nn.ModuleDict


@_method(ModuleDict)
def __getitem__(self, name: str) -> Any:
    for its_name, child in self._named_children():
        if its_name == name:
            return child
    raise KeyError(name)


@_method(ModuleDict)
def __iter__(self) -> Iterator[str]:
    return self.keys()


@_method(ModuleDict)
def __delitem__(self, name: str) -> None:
    self.pop(name)


@_method(ModuleDict)
def pop(self, name: str) -> Any:
    """Removes a module and returns it."""
    module = self[name]
    self.__dict__.pop(name, None)
    self._forget(name)
    return module


@_method(ModuleDict)
def clear(self) -> None:
    """Removes all modules."""
    for name in list(self):
        del self[name]


@_method(ModuleDict)
def keys(self) -> Iterator[str]:
    """Iterates over the names."""
    return (name for name, _ in self._named_children())


@_method(ModuleDict)
def values(self) -> Iterator[Any]:
    """Iterates over the modules."""
    return self.children()


@_method(ModuleDict)
def items(self) -> Iterator[tuple[str, Any]]:
    """Iterates over the modules with their names."""
    return self.named_children()


@_method(ModuleDict)
def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
    """Adds modules by name. A module with the same name is replaced."""
    for name, module in dict(modules).items():
        self[name] = module
