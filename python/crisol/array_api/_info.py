"""The properties of the library, in the form of the Array API standard."""

from __future__ import annotations

from typing import Any

from .. import _crisol as _c

__array_api_version__ = "2025.12"


class ArrayNamespaceInfo:
    """Which optional parts of the Array API standard `crisol.array_api` has."""

    def capabilities(self) -> dict[str, Any]:
        """Whether there is boolean indexing, whether shapes may depend on elements, and the largest number of axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self) -> _c.device:
        """The device of new tensors."""
        return _c.device()

    def devices(self) -> tuple[_c.device, ...]:
        """All devices."""
        return tuple(_c.devices())

    def default_dtypes(self, *, device: _c.device | None = None) -> dict[str, _c.dtype]:
        """The dtypes that functions use by default. There is no complex dtype."""
        return {"real floating": _c._default_dtype(), "integral": _c.int64, "indexing": _c.int64}

    def dtypes(
        self, *, device: _c.device | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, _c.dtype]:
        """The dtypes of the standard that there are, of one kind or of several, by their names. It has no halves."""
        every = {d.name: d for d in _c._dtypes if d.itemsize != 2 or not _c.isdtype(d, "real floating")}
        return every if kind is None else {name: dt for name, dt in every.items() if _c.isdtype(dt, kind)}


def __array_namespace_info__() -> ArrayNamespaceInfo:
    """An object that describes which parts of the Array API standard `crisol.array_api` has."""
    return ArrayNamespaceInfo()
