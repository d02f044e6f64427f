"""Max pools over windows at places that are drawn: Graham 2014."""

from __future__ import annotations

import math
from typing import Any

from ... import _crisol as _c
from ..._crisol import Tensor

__all__ = ["fractional_max_pool2d", "fractional_max_pool3d"]


def _many(value: Any, axes: int) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,) * axes


def _starts(draw: Tensor, size: int, kernel: int, count: int) -> Tensor:
    """Where the windows begin along an axis: (N, C, count)."""
    last = _c.full((*draw.shape, 1), size - kernel, dtype=_c.int64, device=draw.device)
    if count == 1:
        return last
    step, draw = (size - kernel) / (count - 1), draw.unsqueeze(-1)
    numbers = _c.arange(count - 1, device=draw.device).to(draw.dtype)
    first = _c.trunc((numbers + draw) * step) - _c.trunc(draw * step)
    return _c.concat([first.to(_c.int64), last], axis=-1)


def _pool(name: str, axes: int, input: Tensor, kernel_size: Any, output_size: Any, ratio: Any, draws: Any) -> Any:
    if input.ndim == axes + 1:
        if draws is not None:  # Of a batch of draws, the first ones count.
            draws = draws[:1] if draws.ndim == 3 else draws.unsqueeze(0)
        values, places = _pool(name, axes, input.unsqueeze(0), kernel_size, output_size, ratio, draws)
        return values.squeeze(0), places.squeeze(0)
    if (output_size is None) == (ratio is None):
        raise ValueError(f"[{name}] takes output_size or output_ratio")
    sizes, kernel = tuple(input.shape[2:]), _many(kernel_size, axes)
    if output_size is None:
        output_size = [int(size * part) for size, part in zip(sizes, _many(ratio, axes))]
    counts = _many(output_size, axes)
    for size, window, count in zip(sizes, kernel, counts):
        if count < 1 or count + window - 1 > size:
            raise _c.InvalidArgumentError(f"[{name}] {count} windows of {window} do not fit into an axis of {size}")
    if draws is None:
        draws = _c.rand((*input.shape[:2], axes), device=input.device)
    # PyTorch draws the places of the last axis first in two dimensions, and last in three.
    order = range(axes) if axes == 3 else reversed(range(axes))
    draw_of = dict(zip(order, (draws.select(2, i) for i in range(axes))))
    places = _c.zeros((*input.shape[:2], *(1,) * (2 * axes)), dtype=_c.int64, device=input.device)
    for axis in range(axes):
        starts = _starts(draw_of[axis], sizes[axis], kernel[axis], counts[axis])
        inside = starts.unsqueeze(-1) + _c.arange(kernel[axis], device=input.device)
        shape = [1] * (2 * axes)
        shape[axis], shape[axes + axis] = counts[axis], kernel[axis]
        places = places * sizes[axis] + inside.reshape((*input.shape[:2], *shape))
    lead, window = tuple(input.shape[:2]), math.prod(kernel)
    elements = input.reshape((*lead, -1)).gather(-1, places.reshape((*lead, -1)))
    elements, places = (x.reshape((*lead, *counts, window)) for x in (elements, places))
    best = elements.detach().argmax(-1, keepdim=True)
    return elements.gather(-1, best).squeeze(-1), places.gather(-1, best).squeeze(-1)


def fractional_max_pool2d(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """The largest element of each window of input (N, C, H, W). The places of the windows are drawn."""
    found = _pool("fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


def fractional_max_pool3d(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """The largest element of each window of input (N, C, D, H, W). The places of the windows are drawn."""
    found = _pool("fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]
