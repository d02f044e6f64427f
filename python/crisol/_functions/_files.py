"""Files of tensors."""

import os
import tempfile
from typing import Any

from .. import _crisol as _c
from .. import _saved

__all__ = ["load", "save"]


def save(tensors: Any, path: Any, metadata: dict[str, str] | None = None, **_: Any) -> None:
    """Writes tensors by name, such as a state_dict(), to a safetensors file, completely or not at all. metadata are
    texts by name. Instead of a path, a file that is open for writing bytes, such as a io.BytesIO, can be given.

    The value may be nested: {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}. It consists
    of dicts, lists, tuples, tensors, arrays, numbers, texts and None. Other objects, such as modules, are stored as
    pickles.
    """
    flat = _saved.flattened(tensors)
    if not hasattr(path, "write"):
        return _c.save(flat, path, metadata or {})
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "saved.safetensors")
        _c.save(flat, name, metadata or {})
        with open(name, "rb") as file:
            path.write(file.read())


def load(
    path: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    device: Any = None,
    weights_only: bool | None = None,
    mmap: bool | None = None,
) -> Any:
    """Reads what save() wrote: usually a dict of tensors, in the file's order. Also reads other safetensors files, and
    .npz files of NumPy, and files that are open for reading bytes. Pickled objects need weights_only=False: a pickle
    can run any program, so the file must be one that you trust."""
    place = map_location if device is None else device
    place = place if isinstance(place, (str, _c.device)) else None
    if not hasattr(path, "read"):
        return _saved.restored(_c.load(path, device=place), weights_only is not False)
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "saved.safetensors")
        with open(name, "wb") as file:
            file.write(path.read())
        return _saved.restored(_c.load(name, device=place), weights_only is not False)
