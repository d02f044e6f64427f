"""The base of layers that call a function."""

from __future__ import annotations

from typing import Any, ClassVar

from .._crisol._nn import Module


class _Function(Module):
    """A layer that calls a function with its settings, which are attributes."""

    # The text of the settings for printing, where it is not "name=value, …".
    _printed: ClassVar[str | None] = None

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._settings = list(settings)
        for name, value in settings.items():
            self.__dict__[name] = value

    def _given(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self._settings}

    def extra_repr(self) -> str:
        """The settings."""
        if self._printed is not None:
            return self._printed.format(**self._given())
        return ", ".join(f"{name}={value}" for name, value in self._given().items())
