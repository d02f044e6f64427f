"""Pools."""

from __future__ import annotations

import math
from typing import Any

from ... import _crisol as _c
from ..._crisol import Tensor, _functional

__all__ = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d"]
__all__ += ["adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d", "lp_pool1d", "lp_pool2d", "lp_pool3d"]
__all__ += ["max_pool1d", "max_unpool1d", "max_unpool2d", "max_unpool3d"]


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (int(value[0]), int(value[-1]))


def _flat_pool(function: Any, input: Tensor, *sizes: Any, **options: Any) -> Any:
    """A pool for sequences (N, C, L) or (C, L), computed as a pool of images with one row."""
    x = input if input.ndim == 3 else input.unsqueeze(0)
    found = function(x.unsqueeze(2), *sizes, **options)
    parts = found if isinstance(found, tuple) else (found,)
    parts = tuple((y.squeeze(2) if input.ndim == 3 else y.squeeze(2).squeeze(0)) for y in parts)
    return parts if isinstance(found, tuple) else parts[0]


def _row(value: Any, first: int) -> Any:
    number = value if isinstance(value, int) or value is None else value[0]
    return None if number is None else (first, number)


def max_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest element of each window of input (N, C, L). With return_indices also positions."""
    return _flat_pool(
        _functional.max_pool2d, input, _row(kernel_size, 1), _row(stride or kernel_size, 1), _row(padding, 0),
        _row(dilation, 1), ceil_mode, return_indices,
    )  # fmt: skip


def avg_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of each window of input (N, C, L)."""
    return _flat_pool(
        _functional.avg_pool2d, input, _row(kernel_size, 1), _row(stride or kernel_size, 1), _row(padding, 0), ceil_mode,
        count_include_pad,
    )  # fmt: skip


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The means of output_size windows into which the sequences (N, C, L) are divided."""
    return _flat_pool(_functional.adaptive_avg_pool2d, input, _row(output_size, 1))


def _filled(input: Tensor, output_size: Any, axes: int) -> Any:
    """The sizes. None is replaced by the size of the input."""
    if isinstance(output_size, int) or output_size is None:
        return input.shape[-axes:] if output_size is None else output_size
    return tuple(n if m is None else m for n, m in zip(input.shape[-axes:], output_size))


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The means over output_size windows that divide the images (N, C, H, W). None keeps the size of an axis."""
    return _functional.adaptive_avg_pool2d(input, _filled(input, output_size, 2))


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The means of output_size windows into which the volumes (N, C, D, H, W) are divided. None keeps the size of an
    axis."""
    return _functional.adaptive_avg_pool3d(input, _filled(input, output_size, 3))


def _adaptive_max(input: Tensor, output_size: Any, axes: int, return_indices: bool) -> Any:
    """The largest elements of the windows floor(i n / m) … ceil((i + 1) n / m) along the last axes."""
    shape = input.shape[-axes:]
    wanted = [output_size] * axes if isinstance(output_size, int) or output_size is None else list(output_size)
    wanted = [n if m is None else m for n, m in zip(shape, wanted)]
    places = _c.arange(math.prod(shape), device=input.device).reshape(shape).expand(input.shape)
    x = input
    # The last axis comes first, so that of equal elements the first one in the order of rows is taken.
    for axis, n, m in zip(range(input.ndim - 1, -1, -1), reversed(shape), reversed(wanted)):
        parts = []
        for window in range(m):
            start, end = window * n // m, -(-(window + 1) * n // m)
            _, index = _c.max_with_indices(x.narrow(axis, start, end - start), axis, True)
            parts.append(index + start)
        chosen = _c.concat(parts, axis=axis)
        x, places = _c.gather(x, axis, chosen), _c.gather(places, axis, chosen)
    return (x, places) if return_indices else x


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of output_size windows into which the sequences (…, L) are divided."""
    return _adaptive_max(input, output_size if isinstance(output_size, int) else output_size[0], 1, return_indices)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of output_size windows into which the images (…, H, W) are divided."""
    return _adaptive_max(input, output_size, 2, return_indices)


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of output_size windows into which the volumes (…, D, H, W) are divided."""
    return _adaptive_max(input, output_size, 3, return_indices)


def _power_pool(pooled: Tensor, norm_type: float, count: int) -> Tensor:
    signed = _c.sign(pooled) * _c.relu(_c.abs(pooled))
    return _c.pow(signed * count, 1.0 / norm_type)


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum x^p)^(1/p) of each window of input (N, C, L)."""
    pooled = avg_pool1d(_c.pow(input, float(norm_type)), kernel_size, stride, 0, ceil_mode)
    return _power_pool(pooled, norm_type, kernel_size)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum x^p)^(1/p) of each window of input (N, C, H, W)."""
    pooled = _functional.avg_pool2d(_c.pow(input, float(norm_type)), kernel_size, stride, 0, ceil_mode)
    return _power_pool(pooled, norm_type, math.prod(_pair(kernel_size)))


def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum x^p)^(1/p) of each window of input (N, C, D, H, W)."""
    pooled = _functional.avg_pool3d(_c.pow(input, float(norm_type)), kernel_size, stride, 0, ceil_mode)
    count = kernel_size**3 if isinstance(kernel_size, int) else math.prod(kernel_size)
    return _power_pool(pooled, norm_type, count)


def _max_unpool(
    axes: int, input: Tensor, indices: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Tensor:
    def of_axes(value: Any) -> tuple[int, ...]:
        return (value,) * axes if isinstance(value, int) else tuple(value)

    lead, pooled = input.shape[:-axes], input.shape[-axes:]
    kernel, gap = of_axes(kernel_size), of_axes(padding)
    step = kernel if stride is None else of_axes(stride)
    sizes = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(pooled, step, gap, kernel)]
    if output_size is not None:
        given = tuple(output_size)[-axes:]
        if any(not n - s < at < n + s for n, s, at in zip(sizes, step, given)):
            text = f"output_size is {given}, it must be within a stride of {tuple(sizes)}"
            raise _c.InvalidArgumentError(f"[max_unpool{axes}d] {text}")
        sizes = list(given)
    zeros = _c.zeros((*lead, math.prod(sizes)), dtype=input.dtype, device=input.device)
    return _c.scatter(zeros, -1, indices.reshape((*lead, -1)), input.reshape((*lead, -1))).reshape((*lead, *sizes))


def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Puts elements of a pool back at the positions that max_pool1d() gave. All other elements are 0."""
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Puts elements of a pool back at the positions that max_pool2d() gave. All other elements are 0."""
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Puts elements of a pool back at the positions that max_pool3d() gave. All other elements are 0."""
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)
