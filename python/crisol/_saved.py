"""Nested values as tensors by name: the form in which files and checkpoints store states."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._crisol import Tensor, asarray, uint8

_STRUCTURE = "crisol.structure"


def flattened(value: Any) -> Any:
    """The tensors of a nested value by name, such as "state.0.exp_avg", and a tensor of bytes that describes the rest.
    A dict of tensors stays as it is. Values are dicts, lists, tuples, tensors, arrays, numbers, texts and None."""
    if not isinstance(value, (Mapping, list, tuple)):
        return value  # The extension refuses it.
    if isinstance(value, Mapping) and all(isinstance(part, Tensor) for part in value.values()):
        return dict(value)
    tensors: dict[str, Tensor] = {}
    text = json.dumps(_described(value, "", tensors))
    return {**tensors, _STRUCTURE: asarray(list(text.encode()), dtype=uint8)}


def _described(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, Tensor) or hasattr(value, "__array__"):
        name = name or "value"
        while name in tensors:
            name += "_"
        tensors[name] = asarray(value)
        return {"tensor": name}
    if isinstance(value, Mapping):
        pairs = [(_plain(key, name), _described(part, _below(name, key), tensors)) for key, part in value.items()]
        return {"dict": pairs}
    if isinstance(value, (list, tuple)):
        parts = [_described(part, _below(name, i), tensors) for i, part in enumerate(value)]
        return {"list" if isinstance(value, list) else "tuple": parts}
    return {"value": _plain(value, name)}


def _below(name: str, key: Any) -> str:
    return f"{name}.{key}" if name else str(key)


def _plain(value: Any, name: str) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    kinds = "dicts, lists, tensors, numbers and texts"
    raise TypeError(f"[save] '{name}' has a {type(value).__name__}, and what can be stored are {kinds}")


def restored(tensors: Mapping[str, Any]) -> Any:
    """The nested value that flattened() took apart. Other tensors by name stay as they are."""
    if _STRUCTURE not in tensors:
        return tensors
    return _built(json.loads(bytes(tensors[_STRUCTURE].tolist())), tensors)


def _built(described: Any, tensors: Mapping[str, Any]) -> Any:
    ((kind, value),) = described.items()
    if kind == "tensor":
        return tensors[value]
    if kind == "dict":
        return {key: _built(part, tensors) for key, part in value}
    if kind == "value":
        return value
    return (list if kind == "list" else tuple)(_built(part, tensors) for part in value)
