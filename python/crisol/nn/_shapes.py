"""Functions that add, move and combine elements: pad, fold, upsample, norms and others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor, _functional
from ._pooling._functions import _pair

__all__ = ["channel_shuffle", "fold", "local_response_norm", "unfold"]
__all__ += ["upsample", "upsample_bilinear", "upsample_nearest"]


def padded(input: Tensor, pad: Sequence[int], mode: str) -> Tensor:
    """pad() with reflected elements, with the elements at the ends, or with elements from the opposite ends."""
    if mode not in ("reflect", "replicate", "circular"):
        raise _c.InvalidArgumentError(
            f"[pad] mode is '{mode}', allowed are 'constant', 'reflect', 'replicate' and 'circular'"
        )
    if len(pad) % 2 or len(pad) // 2 > input.ndim:
        raise _c.InvalidArgumentError(f"[pad] {len(pad)} numbers do not fit a tensor of rank {input.ndim}")
    for i in range(len(pad) // 2):
        before, after, axis = int(pad[2 * i]), int(pad[2 * i + 1]), input.ndim - 1 - i
        if mode == "circular" and min(before, after) < 0:  # Cut first: the rest is what repeats.
            cut = max(-before, 0)
            input = input.narrow(axis, cut, input.shape[axis] - cut - max(-after, 0))
            before, after = max(before, 0), max(after, 0)
        n = input.shape[axis]
        most = n - 1 if mode == "reflect" else n
        if mode != "replicate" and max(before, after) > most:
            raise _c.InvalidArgumentError(f"[pad] an axis of {n} elements takes at most {most} in the mode '{mode}'")
        if before == after == 0:
            continue
        places = list(range(-before, n + after))
        if mode == "replicate":
            places = [min(max(place, 0), n - 1) for place in places]
        elif mode == "circular":
            places = [place % n for place in places]
        else:
            places = [n - 1 - abs(n - 1 - abs(place)) for place in places]
        input = _c.index_select(input, axis, _c.asarray(places, dtype=_c.int64, device=input.device))
    return input


def _window_places(size: Sequence[int], kernel: Any, dilation: Any, padding: Any, stride: Any, device: Any) -> Any:
    """The position of each window's elements in the padded image: (kh kw, windows)."""
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = map(_pair, (kernel, dilation, padding, stride))
    height, width = size[0] + 2 * ph, size[1] + 2 * pw
    oh, ow = (height - dh * (kh - 1) - 1) // sh + 1, (width - dw * (kw - 1) - 1) // sw + 1
    if oh < 1 or ow < 1:
        raise _c.InvalidArgumentError(f"[unfold] a window does not fit an image of {height} x {width} with its padding")

    def along(count: int, step: int, axis: int) -> Tensor:
        return (_c.arange(count, device=device) * step).reshape([-1 if i == axis else 1 for i in range(4)])

    places = (along(kh, dh, 0) + along(oh, sh, 2)) * width + along(kw, dw, 1) + along(ow, sw, 3)
    return places.reshape((kh * kw, oh * ow)), (height, width), (ph, pw)


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The elements of all windows of input (N, C, H, W) as columns: (N, C kh kw, windows)."""
    x = input if input.ndim == 4 else input.unsqueeze(0)
    places, _, (ph, pw) = _window_places(x.shape[-2:], kernel_size, dilation, padding, stride, x.device)
    padded = _functional.pad(x, [pw, pw, ph, ph])
    flat = padded.reshape((*x.shape[:2], padded.shape[2] * padded.shape[3]))
    columns = _c.index_select(flat, 2, places.reshape(-1))
    columns = columns.reshape((x.shape[0], x.shape[1] * places.shape[0], places.shape[1]))
    return columns if input.ndim == 4 else columns.squeeze(0)


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The transpose of unfold(): adds the columns (N, C kh kw, windows) of windows to images (N, C, H, W)."""
    x = input if input.ndim == 3 else input.unsqueeze(0)
    size = _pair(output_size)
    places, (height, width), (ph, pw) = _window_places(size, kernel_size, dilation, padding, stride, x.device)
    if x.shape[1] % places.shape[0] or x.shape[2] != places.shape[1]:
        raise _c.InvalidArgumentError(
            f"[fold] columns of shape {tuple(x.shape)} do not fit {places.shape[1]} windows of {places.shape[0]}"
        )
    channels = x.shape[1] // places.shape[0]
    zeros = _c.zeros((x.shape[0], channels, height * width), dtype=x.dtype, device=x.device)
    added = _c.index_add(zeros, 2, places.reshape(-1), x.reshape((x.shape[0], channels, -1)))
    image = added.reshape((x.shape[0], channels, height, width))[:, :, ph : height - ph, pw : width - pw]
    return image if input.ndim == 3 else image.squeeze(0)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Reorders the channels of input (N, C, …), by taking one channel of each group in turn."""
    n, channels, *rest = input.shape
    return input.reshape((n, groups, channels // groups, *rest)).transpose(1, 2).reshape(input.shape)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """input / (k + alpha · mean of the squares of `size` neighbouring channels)^beta."""
    squares = _c.square(input).unsqueeze(1)
    rest = math.prod(input.shape[2:])
    x = _functional.pad(squares.reshape((input.shape[0], 1, input.shape[1], rest)), [0, 0, size // 2, (size - 1) // 2])
    means = _functional.avg_pool2d(x, (size, 1), 1).reshape(input.shape)
    return input / _c.pow(means * alpha + k, beta)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """interpolate()."""
    from .functional import interpolate

    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """interpolate() with the nearest elements."""
    return upsample(input, size, scale_factor)


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """interpolate() of images, with mode "bilinear" and align_corners."""
    return upsample(input, size, scale_factor, "bilinear", True)
