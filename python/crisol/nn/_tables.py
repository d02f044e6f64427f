"""Rows of tables: norms that are limited, gradients by frequency, and bags."""

from __future__ import annotations

import math
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor, _functional
from ..autograd import Function, no_grad

__all__ = ["embedding_bag"]


def shorten(table: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Scales the rows of a table with these indices, in place, to a norm of at most max_norm."""
    with no_grad():
        used = _c.zeros(table.shape[0], dtype=_c.bool, device=table.device)
        used[indices.reshape(-1)] = True
        norms = _c.norm(table, p=float(norm_type), dim=1, keepdim=True)
        too_long = used.unsqueeze(1) & _c.gt(norms, max_norm)
        table.copy_(_c.where(too_long, table * (max_norm / (norms + 1e-7)), table))


class _ByFrequency(Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        return rows.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient / ctx.saved_tensors[0], None


def by_frequency(rows: Tensor, indices: Tensor, count: int) -> Tensor:
    """Rows of a table, whose gradients are divided by the number of places of their indices."""
    flat = indices.reshape(-1)
    ones = _c.ones_like(flat, dtype=rows.dtype)
    numbers = _c.index_add(_c.zeros(count, dtype=rows.dtype, device=rows.device), 0, flat, ones)
    places = _c.take(numbers, flat, axis=0).reshape((*indices.shape, 1))
    return _ByFrequency.apply(rows, places)


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
    per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """The sums, means or largest elements of the table's rows in each bag. input is (B, N), or (N) with the offsets of
    the bags."""
    if max_norm is not None:
        shorten(weight, input, max_norm, norm_type)
    if mode not in ("sum", "mean", "max"):
        raise _c.InvalidArgumentError(f"[embedding_bag] mode is '{mode}', allowed are 'sum', 'mean' and 'max'")
    flat = input.reshape(-1)
    if offsets is None:
        bag = _c.repeat(_c.arange(input.shape[0], device=input.device), input.shape[1], axis=0)
        count = input.shape[0]
    else:
        starts = offsets[:-1] if include_last_offset else offsets
        count = starts.shape[0]
        bag = _c.searchsorted(starts, _c.arange(flat.shape[0], device=input.device).to(starts.dtype), side="right") - 1
    rows = _functional.embedding(flat, weight, padding_idx)
    if scale_grad_by_freq:
        rows = by_frequency(rows, flat, weight.shape[0])
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape((-1, 1))
    used = _c.ones_like(flat, dtype=weight.dtype)
    if padding_idx is not None:
        kept = _c.ne(flat, padding_idx % weight.shape[0])
        used = kept.to(weight.dtype)
        rows = _c.where(kept.unsqueeze(1), rows, -math.inf if mode == "max" else 0.0)
    zeros = _c.zeros((count, weight.shape[1]), dtype=weight.dtype, device=weight.device)
    if mode == "max":
        from .._functions._index import index_reduce

        largest = index_reduce(zeros, 0, bag, rows, "amax", include_self=False)
        return largest if padding_idx is None else _c.where(_c.eq(largest, -math.inf), 0.0, largest)
    total = _c.index_add(zeros, 0, bag, rows)
    if mode == "sum":
        return total
    sizes = _c.index_add(_c.zeros(count, dtype=weight.dtype, device=weight.device), 0, bag, used)
    return total / _c.maximum(sizes, 1.0).unsqueeze(1)
