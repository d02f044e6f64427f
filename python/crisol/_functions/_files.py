"""Files of tensors."""

from typing import Any

from .. import _crisol as _c
from .. import _saved

__all__ = ["load", "save"]


def save(tensors: Any, path: Any, metadata: dict[str, str] | None = None) -> None:
    """Writes tensors by name, such as a state_dict(), to a safetensors file, completely or not at all. metadata are
    texts by name.

    The value may be nested: {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}. It consists
    of dicts, lists, tuples, tensors, arrays, numbers, texts and None.
    """
    _c.save(_saved.flattened(tensors), path, metadata or {})


def load(
    path: Any,
    map_location: Any = None,
    *,
    device: Any = None,
    weights_only: bool | None = None,
    mmap: bool | None = None,
) -> Any:
    """Reads what save() wrote: usually a dict of tensors, in the file's order. Also reads other safetensors files, and
    .npz files of NumPy."""
    place = map_location if device is None else device
    return _saved.restored(_c.load(path, device=place if isinstance(place, (str, _c.device)) else None))
