"""Transforms of short windows of a signal."""

from __future__ import annotations

from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._method import _method

__all__ = ["istft", "stft"]


def _window(op: str, window: Tensor | None, length: int, n_fft: int, like: Tensor) -> Tensor:
    """A window of n_fft elements: the given one, or ones, with zeros on both sides."""
    w = _c.ones(length, dtype=like.dtype, device=like.device) if window is None else window
    if length > n_fft or tuple(w.shape) != (length,):
        raise _c.InvalidArgumentError(f"[{op}] the window has {tuple(w.shape)} elements, n_fft is {n_fft}")
    before = (n_fft - length) // 2
    return _c._functional.pad(w, [before, n_fft - length - before])


@_method(Tensor)
def stft(
    input: Tensor, n_fft: int, hop_length: Any = None, win_length: Any = None,
    window: Tensor | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
    onesided: Any = None, return_complex: Any = None, align_to_window: Any = None,
) -> Tensor:  # fmt: skip
    """The Fourier transforms of windows of a signal (L) or (B, L): (…, n_fft / 2 + 1, frames, 2). The last axis holds the
    real and the imaginary part, as PyTorch's return_complex=False gives it."""
    from .. import fft
    from ..nn import functional as F

    if return_complex or onesided is False:
        raise _c.InvalidArgumentError(
            "[stft] there are no complex tensors: return_complex=False gives a last axis of two, for onesided=True"
        )
    hop, length = hop_length or n_fft // 4, win_length or n_fft
    x = input if input.ndim == 2 else input.unsqueeze(0)
    if center:
        x = F.pad(x.unsqueeze(1), (n_fft // 2, n_fft // 2), pad_mode).squeeze(1)
    if not 0 < n_fft <= x.shape[-1] or hop < 1:
        raise _c.InvalidArgumentError(f"[stft] n_fft {n_fft} and hop_length {hop} do not fit {x.shape[-1]} elements")
    frames = x.unfold(-1, n_fft, hop) * _window("stft", window, length, n_fft, x)
    found = fft.rfft(frames, norm="ortho" if normalized else None).transpose(1, 2)
    return found if input.ndim == 2 else found.squeeze(0)


@_method(Tensor)
def istft(
    input: Tensor, n_fft: int, hop_length: Any = None, win_length: Any = None,
    window: Tensor | None = None, center: bool = True, normalized: bool = False, onesided: Any = None,
    length: Any = None, return_complex: bool = False,
) -> Tensor:  # fmt: skip
    """The signal of stft(): (…, n_fft / 2 + 1, frames, 2) gives (…, L)."""
    from .. import fft
    from ..nn import functional as F

    if return_complex or onesided is False:
        raise _c.InvalidArgumentError("[istft] there are no complex tensors: the result is real, for onesided=True")
    hop, size = hop_length or n_fft // 4, win_length or n_fft
    x = input if input.ndim == 4 else input.unsqueeze(0)
    if x.ndim != 4 or x.shape[1] != n_fft // 2 + 1 or x.shape[3] != 2:
        raise _c.InvalidArgumentError(
            f"[istft] takes (…, {n_fft // 2 + 1}, frames, 2) for n_fft {n_fft}, not {tuple(input.shape)}"
        )
    frames = fft.irfft(x.transpose(1, 2), n_fft, norm="ortho" if normalized else None)
    w = _window("istft", window, size, n_fft, frames)
    count = frames.shape[1]
    whole = (1, n_fft + hop * (count - 1))

    def overlapped(parts: Tensor) -> Tensor:
        return F.fold(parts.transpose(1, 2), whole, (1, n_fft), stride=(1, hop)).reshape((parts.shape[0], whole[1]))

    weights = overlapped((w * w).expand((1, count, n_fft)))
    start = n_fft // 2 if center else 0
    end = whole[1] - start if length is None else min(start + length, whole[1])
    signal, weights = overlapped(frames * w)[:, start:end], weights[:, start:end]
    if _c.min(_c.abs(weights)).item() < 1e-11:
        raise RuntimeError("istft: window overlap add min is below 1e-11: choose a window that leaves no gaps")
    signal = signal / weights
    if length is not None and length > signal.shape[1]:
        signal = F.pad(signal, (0, length - signal.shape[1]))
    return signal if input.ndim == 4 else signal.squeeze(0)
