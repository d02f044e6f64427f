"""The base of layers that call a function."""

from __future__ import annotations

from typing import Any

from .._crisol._nn import Module


class _Function(Module):
    """A layer that calls a function with its settings, which are attributes."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._settings = list(settings)
        for name, value in settings.items():
            self.__dict__[name] = value

    def _given(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self._settings}

    def extra_repr(self) -> str:
        """The settings."""
        return ", ".join(f"{name}={value}" for name, value in self._given().items())
