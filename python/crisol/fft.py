"""Fourier transforms of real tensors, under PyTorch's names. A complex tensor has a last axis of two: the real part and
the imaginary part, as torch.view_as_real() shows it. `dim` counts the other axes.

Each transform is a product with a matrix of cosines and sines. So it has gradients and takes any length n, and it costs
n² multiplications for each row and a matrix of n² numbers, not n log n.
"""

from __future__ import annotations

import math
from typing import Any

from . import _crisol as _c
from ._crisol import Tensor
from ._functions._types import floats

__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft"]
__all__ += ["irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"]

_POWERS = {None: (0.0, 1.0), "backward": (0.0, 1.0), "ortho": (0.5, 0.5), "forward": (1.0, 0.0)}


def _scale(op: str, n: int, norm: str | None, inverse: bool) -> float:
    if n < 1:
        raise _c.InvalidArgumentError(f"[{op}] the length is {n}, and it must be at least 1")
    if norm not in _POWERS:
        raise _c.InvalidArgumentError(f"[{op}] norm is {norm!r}, allowed are 'backward', 'ortho' and 'forward'")
    return float(n) ** -_POWERS[norm][inverse]


def _axis(op: str, dim: int, axes: int) -> int:
    if not -axes <= dim < axes:
        raise _c.InvalidArgumentError(f"[{op}] dim is {dim}, and the tensor has {axes} axes")
    return dim % axes


def _check_pairs(op: str, x: Tensor) -> None:
    if x.ndim < 2 or x.shape[-1] != 2:
        raise _c.InvalidArgumentError(f"[{op}] the last axis must hold (real, imaginary): {tuple(x.shape)}")


def _waves(rows: int, columns: int, n: int, scale: float, like: Tensor) -> tuple[Tensor, Tensor]:
    """cos and sin of 2π row column / n, times scale. Values are computed in double and then looked up."""
    at = _c.arange(rows, device=like.device).reshape((rows, 1)) * _c.arange(columns, device=like.device) % n
    angles = [2 * math.pi * i / n for i in range(n)]
    tables = ([scale * f(a) for a in angles] for f in (math.cos, math.sin))
    made = (_c.take(_c.asarray(t, dtype=like.dtype, device=like.device), at.reshape(-1), axis=0) for t in tables)
    cos, sin = (x.reshape((rows, columns)) for x in made)
    return cos, sin


def _forward(op: str, x: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    dim = _axis(op, dim, x.ndim)
    x = floats(x)
    n = x.shape[dim] if n is None else n
    scale = _scale(op, n, norm, False)
    x = _c.moveaxis(x, dim, -1)[..., :n]
    rows, columns = x.shape[-1], n // 2 + 1
    cos, sin = _waves(rows, columns, n, scale, x)
    made = x @ _c.stack([cos, -sin], axis=-1).reshape((rows, 2 * columns))
    return _c.moveaxis(made.reshape((*x.shape[:-1], columns, 2)), -2, dim)


def _complex(op: str, x: Tensor, n: int | None, dim: int, norm: str | None, inverse: bool) -> Tensor:
    """The transform of a complex tensor along an axis."""
    n = x.shape[dim] if n is None else n
    scale = _scale(op, n, norm, inverse)
    x = _c.moveaxis(x, dim, -2)[..., :n, :]
    rows = x.shape[-2]
    cos, sin = _waves(rows, n, n, scale, x)
    sin = sin if inverse else -sin
    matrix = _c.stack([_c.stack([cos, sin], axis=-1), _c.stack([-sin, cos], axis=-1)], axis=1)
    made = x.reshape((*x.shape[:-2], 2 * rows)) @ matrix.reshape((2 * rows, 2 * n))
    return _c.moveaxis(made.reshape((*x.shape[:-2], n, 2)), -2, dim)


def _backward(op: str, x: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    n = 2 * (x.shape[dim] - 1) if n is None else n
    scale = _scale(op, n, norm, True)
    x = _c.moveaxis(x, dim, -2)[..., : n // 2 + 1, :]
    rows = x.shape[-2]
    cos, sin = _waves(rows, n, n, scale, x)
    # The half that is not stored repeats all rows but the first, and the middle one of an even length.
    twice = [1.0 if k == 0 or 2 * k == n else 2.0 for k in range(rows)]
    weights = _c.asarray(twice, dtype=x.dtype, device=x.device).reshape((rows, 1, 1))
    matrix = _c.stack([cos, -sin], axis=1) * weights
    made = x.reshape((*x.shape[:-2], 2 * rows)) @ matrix.reshape((2 * rows, n))
    return _c.moveaxis(made, -1, dim)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """X[k] = sum over t of x[t] exp(-2πi k t / n), for k = 0 … n/2. The axis gets n // 2 + 1 elements, and a last
    axis of two follows. A longer axis is cut to n, a shorter one counts as followed by zeros. "ortho" divides by √n,
    "forward" by n."""
    return _forward("rfft", input, n, dim, norm)


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of rfft(): a complex tensor (…, m, 2) gives n real numbers, 2 (m - 1) if n is not given. It divides
    by n, with "ortho" by √n, with "forward" by nothing."""
    _check_pairs("irfft", input)
    return _backward("irfft", input, n, _axis("irfft", dim, input.ndim - 1), norm)


def _axes(op: str, s: Any, dim: Any, axes: int) -> list[tuple[int, int | None]]:
    """The axes of a transform with their lengths. Without dim these are the last len(s) axes, or all."""
    sizes = None if s is None else [s] if isinstance(s, int) else list(s)
    if dim is None:
        dim = range(axes - (axes if sizes is None else len(sizes)), axes)
    places = [_axis(op, d, axes) for d in ([dim] if isinstance(dim, int) else dim)]
    if not places or (sizes is not None and len(sizes) != len(places)):
        raise _c.InvalidArgumentError(f"[{op}] s and dim have one entry for each axis, and they are {s} and {dim}")
    return [(d, None if sizes is None or sizes[i] == -1 else sizes[i]) for i, d in enumerate(places)]


def _forward_axes(op: str, x: Tensor, s: Any, dim: Any, norm: str | None) -> Tensor:
    *others, (last, n) = _axes(op, s, dim, x.ndim)
    x = _forward(op, x, n, last, norm)
    for axis, n in reversed(others):
        x = _complex(op, x, n, axis, norm, False)
    return x


def _backward_axes(op: str, x: Tensor, s: Any, dim: Any, norm: str | None) -> Tensor:
    _check_pairs(op, x)
    *others, (last, n) = _axes(op, s, dim, x.ndim - 1)
    for axis, size in others:
        x = _complex(op, x, size, axis, norm, True)
    return _backward(op, x, n, last, norm)


def rfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """rfft() along dim[1], then the complex transform along dim[0]. s holds both lengths."""
    return _forward_axes("rfft2", input, s, dim, norm)


def irfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of rfft2(). s holds both lengths of the result."""
    return _backward_axes("irfft2", input, s, dim, norm)


def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """rfft() along the last of the axes `dim`, then complex transforms along the others. Without dim it takes all axes,
    or the last len(s)."""
    return _forward_axes("rfftn", input, s, dim, norm)


def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of rfftn()."""
    return _backward_axes("irfftn", input, s, dim, norm)


_OTHER_NORM = {None: "forward", "backward": "forward", "forward": "backward"}


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The real transform of a complex tensor (…, m, 2), which is the first half of a signal that equals its mirrored
    conjugate."""
    _check_pairs("hfft", input)
    mirrored = _c.stack([input[..., 0], -input[..., 1]], axis=-1)
    return _backward("hfft", mirrored, n, _axis("hfft", dim, input.ndim - 1), _OTHER_NORM.get(norm, norm))


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of hfft()."""
    found = _forward("ihfft", input, n, dim, _OTHER_NORM.get(norm, norm))
    return _c.stack([found[..., 0], -found[..., 1]], axis=-1)


def _refused(name: str, other: str) -> Any:
    def refuse(*args: Any, **named: Any) -> Any:
        raise NotImplementedError(f"[fft.{name}] is not there, because there are no complex tensors: {other}() is")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Not there, because there are no complex tensors: {other}() is."
    return refuse


fft, fft2, fftn = _refused("fft", "rfft"), _refused("fft2", "rfft2"), _refused("fftn", "rfftn")
ifft, ifft2, ifftn = _refused("ifft", "irfft"), _refused("ifft2", "irfft2"), _refused("ifftn", "irfftn")


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of a transform of n samples at distance d: 0, 1, …, -2, -1, each over n d."""
    numbers = [k if k < (n + 1) // 2 else k - n for k in range(n)]
    return _c.asarray([k / (n * d) for k in numbers], dtype=dtype, device=device)


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of rfft(): 0, 1, …, n // 2, each over n d."""
    return _c.asarray([k / (n * d) for k in range(n // 2 + 1)], dtype=dtype, device=device)


def _rolled(x: Tensor, dim: Any, sign: int) -> Tensor:
    axes = range(x.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    for axis in axes:
        size = x.shape[axis]
        x = _c.roll(x, size // 2 if sign > 0 else -(size // 2), axis=axis)
    return x


def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Moves frequency 0 to the middle of the axes, or of all axes."""
    return _rolled(input, dim, 1)


def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Undoes fftshift()."""
    return _rolled(input, dim, -1)


def __dir__():
    return __all__
