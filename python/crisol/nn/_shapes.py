"""Functions of layers that are made of other functions: activations, paddings, pools and windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor, _functional
from .._functions._random import rand_like
from ..autograd import no_grad

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "alpha_dropout",
]
__all__ += ["avg_pool1d", "bilinear", "channel_shuffle", "dropout1d", "dropout2d", "dropout3d", "elu_", "embedding_bag"]
__all__ += [
    "feature_alpha_dropout",
    "fold",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "leaky_relu_",
    "local_response_norm",
]
__all__ += ["log_softmax", "lp_pool1d", "lp_pool2d", "max_pool1d", "max_unpool2d", "relu_", "rms_norm", "rrelu"]
__all__ += [
    "softmax",
    "softmin",
    "softshrink",
    "softsign",
    "tanhshrink",
    "threshold",
    "unfold",
    "upsample",
    "upsample_bilinear",
]
__all__ += ["upsample_nearest"]


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (int(value[0]), int(value[-1]))


def _implicit_axis(ndim: int) -> int:
    import warnings

    warnings.warn("the axis of softmax() is chosen from the rank: give dim", UserWarning, stacklevel=4)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis."""
    x = input if dtype is None else input.to(dtype)
    return _c.softmax(x, _implicit_axis(x.ndim) if dim is None else dim)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """x - log(sum(exp(x))) along an axis."""
    x = input if dtype is None else input.to(dtype)
    return _c.log_softmax(x, _implicit_axis(x.ndim) if dim is None else dim)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax() of -x."""
    return softmax(-input, dim, dtype=dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """softmax() of the logits plus Gumbel noise, divided by tau. With `hard`, the result is 1 at the maximum and 0
    elsewhere, but has the gradient of softmax."""
    noise = -_c.log(-_c.log(_c.clamp(rand_like(logits), 1e-20, 1 - 2.0**-24)))
    soft = _c.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    largest = _c.argmax(soft, axis=dim, keepdims=True)
    one = _c.scatter(_c.zeros_like(soft), dim, largest, _c.ones_like(largest, dtype=soft.dtype))
    return one - soft.detach() + soft


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along an axis times the sigmoid of the second half."""
    size = input.shape[dim]
    if size % 2:
        raise _c.InvalidArgumentError(f"[glu] the axis has {size} elements, and the number must be even")
    return input.narrow(dim, 0, size // 2) * _c.sigmoid(input.narrow(dim, size // 2, size // 2))


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where it is above the threshold, else the value."""
    return _c.where(_c.gt(input, threshold), input, value)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (1 + _c.abs(input))


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - _c.tanh(input)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x, and 0 where |x| is at most lambd."""
    return _c.where(_c.le(_c.abs(input), lambd), 0.0, input)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved by lambd towards 0. The result is 0 if |x| is at most lambd."""
    return _c.where(_c.gt(input, lambd), input - lambd, _c.where(_c.lt(input, -lambd), input + lambd, 0.0))


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """x. Negative x are multiplied by a random number in [lower, upper), and in evaluation by the mean of lower and
    upper."""
    if not training:
        return _c.where(_c.ge(input, 0), input, input * ((lower + upper) / 2))
    return _c.where(_c.ge(input, 0), input, input * (rand_like(input) * (upper - lower) + lower))


def relu_(input: Tensor) -> Tensor:
    """Replaces the elements by those of relu(). Returns the tensor."""
    return input.relu_()


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Replaces the elements by those of leaky_relu(). Returns the tensor."""
    return input.leaky_relu_(negative_slope)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Replaces the elements by those of elu(). Returns the tensor."""
    return input.elu_(alpha)


def _dropped_channels(input: Tensor, p: float, training: bool, axes: int) -> Tensor:
    if not 0 <= p <= 1:
        raise _c.InvalidArgumentError(f"[dropout] p is {p}, and it must be in [0, 1]")
    if not training or p == 0:
        return input
    lead = input.shape[: input.ndim - axes]
    ones = _c.ones((*lead, *[1] * axes), dtype=input.dtype, device=input.device)
    return input * _functional.dropout(ones, p, True)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout() of whole channels (N, C, L) or (C, L)."""
    return _dropped_channels(input, p, training, 1)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout() of whole channels (N, C, H, W) or (C, H, W)."""
    return _dropped_channels(input, p, training, max(input.ndim - 2, 0) if input.ndim < 4 else 2)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout() of whole channels (N, C, D, H, W) or (C, D, H, W)."""
    return _dropped_channels(input, p, training, 3)


def _alpha_dropped(input: Tensor, keep: Tensor, p: float) -> Tensor:
    low = -1.7580993408473766
    a = 1 / math.sqrt((1 - p) * (1 + p * low * low))
    return _c.where(keep, input, low) * a - a * p * low


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """dropout() for selu(): the dropped elements get its lowest value, and mean and variance stay."""
    if not training or p == 0:
        return input
    return _alpha_dropped(input, _c.ge(rand_like(input), p), p) if p < 1 else input * 0


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout() of whole channels (N, C, …)."""
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    drawn = _c.rand((*input.shape[:2], *[1] * (input.ndim - 2)), device=input.device)
    return _alpha_dropped(input, _c.ge(drawn, p), p)


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
        if mode == "circular" and min(before, after) < 0:  # The elements that remain are repeated.
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
    for i, (n, m) in enumerate(zip(shape, wanted)):
        axis = input.ndim - axes + i
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


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Puts elements of a pool back at the positions that max_pool2d() gave. All other elements are 0."""
    (kh, kw), (ph, pw) = _pair(kernel_size), _pair(padding)
    sh, sw = _pair(kernel_size if stride is None else stride)
    h, w = (input.shape[-2] - 1) * sh - 2 * ph + kh, (input.shape[-1] - 1) * sw - 2 * pw + kw
    if output_size is not None:
        h, w = output_size[-2:]
    lead = input.shape[:-2]
    zeros = _c.zeros((*lead, h * w), dtype=input.dtype, device=input.device)
    return _c.scatter(zeros, -1, indices.reshape((*lead, -1)), input.reshape((*lead, -1))).reshape((*lead, h, w))


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
            f"[fold] columns of shape {x.shape} do not fit {places.shape[1]} windows of {places.shape[0]}"
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


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1 · W · x2 + bias for input1 (…, I), input2 (…, J) and weight (O, I, J): (…, O)."""
    y = _c.einsum(
        "ni,oij,nj->no", input1.reshape((-1, input1.shape[-1])), weight, input2.reshape((-1, input2.shape[-1]))
    )
    y = y.reshape((*input1.shape[:-1], weight.shape[0]))
    return y if bias is None else y + bias


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """input / sqrt(mean(input²) + eps) · weight over the last axes, which have the sizes normalized_shape."""
    axes = list(range(input.ndim - len(normalized_shape), input.ndim))
    if list(input.shape[axes[0] :]) != list(normalized_shape):
        raise _c.InvalidArgumentError(
            f"[rms_norm] the last axes of shape {input.shape} are not {tuple(normalized_shape)}"
        )
    small = (2.0**-10 if input.dtype is _c.float16 else 2.0**-23) if eps is None else eps
    x = input.to(_c.float32)  # Squares of float16 numbers overflow.
    y = (x * _c.rsqrt(_c.mean(_c.square(x), axes, True) + small)).to(input.dtype)
    return y if weight is None else y * weight


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


def shorten(table: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Scales the rows of a table with these indices, in place, to a norm of at most max_norm."""
    with no_grad():
        used = _c.zeros(table.shape[0], dtype=_c.bool, device=table.device)
        used[indices.reshape(-1)] = True
        norms = _c.norm(table, p=float(norm_type), dim=1, keepdim=True)
        too_long = used.unsqueeze(1) & _c.gt(norms, max_norm)
        table.copy_(_c.where(too_long, table * (max_norm / (norms + 1e-7)), table))


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
    per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """The sums, means or largest elements of the table's rows in each bag. input is (B, N), or (N) with the offsets of
    the bags."""
    if scale_grad_by_freq:
        raise _c.InvalidArgumentError("[embedding_bag] scale_grad_by_freq is not there")
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
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape((-1, 1))
    used = _c.ones_like(flat, dtype=weight.dtype)
    if padding_idx is not None:
        used = _c.ne(flat, padding_idx % weight.shape[0]).to(weight.dtype)
        rows = rows * used.unsqueeze(1)
    zeros = _c.zeros((count, weight.shape[1]), dtype=weight.dtype, device=weight.device)
    if mode == "max":
        from .._functions._index import index_reduce

        return index_reduce(zeros, 0, bag, rows, "amax", include_self=False)
    total = _c.index_add(zeros, 0, bag, rows)
    if mode == "sum":
        return total
    sizes = _c.index_add(_c.zeros(count, dtype=weight.dtype, device=weight.device), 0, bag, used)
    return total / _c.maximum(sizes, 1.0).unsqueeze(1)
