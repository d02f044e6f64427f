"""Nested values as tensors by name: the form in which files and checkpoints store states."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from typing import Any

from ._crisol import Tensor, _nn, asarray, uint8

_STRUCTURE = "crisol.structure"


def flattened(value: Any) -> Any:
    """The tensors of a nested value by name, such as "state.0.exp_avg", and a tensor of bytes that describes the rest.
    A dict of tensors stays as it is. Values are dicts, lists, tuples, tensors, arrays, numbers, texts and None. Other
    objects, such as modules, become pickles."""
    if isinstance(value, Mapping) and all(isinstance(name, str) and _is_plain(x) for name, x in value.items()):
        return dict(value)
    tensors: dict[str, Tensor] = {}
    text = json.dumps(_described(value, "", tensors))
    return {**tensors, _STRUCTURE: _bytes(text.encode())}


def _is_plain(value: Any) -> bool:
    return isinstance(value, Tensor) and not isinstance(value, _nn.Parameter) and not value.requires_grad


def _bytes(data: bytes) -> Tensor:
    return asarray(memoryview(bytearray(data)), dtype=uint8)


def _described(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, Tensor) or hasattr(value, "__array__"):
        name = name or "value"
        while name in tensors:
            name += "_"
        kept = asarray(value)
        tensors[name] = kept.detach()
        if isinstance(value, _nn.Parameter):
            return {"parameter": [name, kept.requires_grad]}
        return {"leaf" if kept.requires_grad else "tensor": name}
    if isinstance(value, Mapping):
        pairs = [(_plain(key, name), _described(part, below(name, key), tensors)) for key, part in value.items()]
        return {"dict": pairs}
    if isinstance(value, (list, tuple)):
        parts = [_described(part, below(name, i), tensors) for i, part in enumerate(value)]
        return {"list" if isinstance(value, list) else "tuple": parts}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"value": value}
    return {"pickle": _described(_bytes(pickle.dumps(value)), name, tensors)["tensor"]}


def below(name: str, key: Any) -> str:
    """The name of an entry of something that has a name, or "" for the whole."""
    return f"{name}.{key}" if name else str(key)


def _plain(value: Any, name: str) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"[save] '{name}' has a key that is a {type(value).__name__}, and keys are numbers and texts")


def restored(tensors: Mapping[str, Any], weights_only: bool = True) -> Any:
    """The nested value that flattened() took apart. Other tensors by name stay as they are. Pickles are refused with
    weights_only, because a pickle of a stranger can run any program."""
    if _STRUCTURE not in tensors:
        return tensors
    return _built(json.loads(bytes(tensors[_STRUCTURE].tolist())), tensors, weights_only)


def _built(described: Any, tensors: Mapping[str, Any], weights_only: bool) -> Any:
    ((kind, value),) = described.items()
    if kind == "tensor":
        return tensors[value]
    if kind == "leaf":
        return tensors[value].requires_grad_()
    if kind == "parameter":
        return _nn.Parameter(tensors[value[0]], value[1])
    if kind == "dict":
        return {key: _built(part, tensors, weights_only) for key, part in value}
    if kind == "value":
        return value
    if kind == "pickle":
        if weights_only:
            text = "holds an object, not only tensors, numbers and texts: load(…, weights_only=False) trusts the file"
            raise pickle.UnpicklingError(f"[load] the file {text}")
        return pickle.loads(bytes(tensors[value].tolist()))
    return (list if kind == "list" else tuple)(_built(part, tensors, weights_only) for part in value)
