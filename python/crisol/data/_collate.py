"""Batches of samples: tensors, arrays, numbers and texts, nested in tuples, lists and dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _crisol
from .._crisol import Tensor

_LEAF = "a tensor or number"


def _is_leaf(value):
    return isinstance(value, (Tensor, bool, int, float)) or hasattr(value, "__array__")


def layout_of(sample):
    """The layout of a sample: how its tensors, arrays and numbers are nested, as (type, keys, parts). None if the
    sample holds something else."""
    if _is_leaf(sample):
        return _LEAF
    if isinstance(sample, Mapping):
        keys, values = list(sample), list(sample.values())
    elif isinstance(sample, (tuple, list)):
        keys, values = None, sample
    else:
        return None
    parts = [layout_of(value) for value in values]
    return None if None in parts or not parts else (type(sample), keys, parts)


def is_flat(layout):
    """Whether the layout is one leaf, or a tuple or list of leaves."""
    return layout == _LEAF or (layout[1] is None and all(part == _LEAF for part in layout[2]))


def leaves_of(sample, layout, index):
    """The leaves of a sample, in the order of sample 0's layout."""
    leaves = []
    _take(sample, layout, leaves, index)
    return tuple(leaves)


def _take(sample, layout, leaves, index):
    if layout == _LEAF:
        if not _is_leaf(sample):
            raise ValueError(f"[DataLoader] sample {index} has a {type(sample).__name__} where sample 0 has {_LEAF}")
        leaves.append(sample)
        return
    kind, keys, parts = layout
    if keys is not None:
        if not isinstance(sample, Mapping) or set(sample) != set(keys):
            names = f"the names {list(sample)}" if isinstance(sample, Mapping) else f"a {type(sample).__name__}"
            raise ValueError(f"[DataLoader] sample {index} has {names}, sample 0 has {keys}")
        sample = [sample[key] for key in keys]
    elif not isinstance(sample, (tuple, list)) or len(sample) != len(parts):
        raise ValueError(f"[DataLoader] sample {index} has no {kind.__name__} of {len(parts)} parts, unlike sample 0")
    for value, part in zip(sample, parts):
        _take(value, part, leaves, index)


def batch_of(layout, tensors):
    """The tensors of a batch, nested like the samples. A tuple becomes a list, as in PyTorch."""
    return _nested(layout, iter(tensors))


def _nested(layout, tensors):
    if layout == _LEAF:
        return next(tensors)
    kind, keys, parts = layout
    values = [_nested(part, tensors) for part in parts]
    return _like(kind, keys, values)


def _like(kind, keys, values):
    if keys is not None:
        return dict(zip(keys, values))
    return kind(*values) if hasattr(kind, "_fields") else values


def tensor_of(value, device=None):
    """An array as a tensor."""
    return _crisol.asarray(value, device=device)


def default_collate(batch: list[Any], *, device: Any = None) -> Any:
    """Makes a batch of samples. Tensors, arrays and numbers become tensors with a new first axis, and texts become a
    list. Tuples, lists and dicts are batched part by part."""
    first = batch[0]
    if isinstance(first, Tensor):
        return _crisol.stack(list(batch))
    if _is_leaf(first):
        if hasattr(first, "__array__"):
            import numpy

            return tensor_of(numpy.stack([numpy.asarray(value) for value in batch]), device)
        dtype = None
        if isinstance(first, float):
            dtype = _crisol.promote_types(_crisol.float32, _crisol._default_dtype())
        return _crisol.asarray(list(batch), dtype=dtype, device=device)
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in batch], device=device) for key in first}
    if isinstance(first, (tuple, list)):
        if any(len(sample) != len(first) for sample in batch):
            raise ValueError("[default_collate] the samples have different numbers of parts; give a collate_fn")
        return _like(type(first), None, [default_collate(list(parts), device=device) for parts in zip(*batch)])
    raise TypeError(
        "[default_collate] a sample holds tensors, NumPy arrays, numbers, texts, and tuples, lists and dicts of them, "
        f"not {type(first).__name__}; give a collate_fn"
    )


def default_convert(data: Any) -> Any:
    """Converts a sample that is not in a batch: arrays become tensors."""
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, (tuple, list)):
        parts = map(default_convert, data)
        return type(data)(*parts) if hasattr(data, "_fields") else type(data)(parts)
    return tensor_of(data) if hasattr(data, "__array__") else data
