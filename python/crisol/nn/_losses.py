"""Losses as functions, with PyTorch's arguments."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from .. import _crisol as _c
from .._autocast import autocasts
from .._crisol import Tensor, _functional
from ._reduction import require_reduction, takes_old_reduction

__all__ = ["binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cosine_similarity"]
__all__ += ["cross_entropy", "ctc_loss", "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss"]
__all__ += [
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
]
__all__ += ["nll_loss", "pairwise_distance", "pdist", "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss"]
__all__ += ["triplet_margin_loss", "triplet_margin_with_distance_loss"]


def _reduced(loss: Tensor, reduction: str, name: str) -> Tensor:
    if reduction == "mean":
        return _c.mean(loss)
    if reduction == "sum":
        return _c.sum(loss)
    require_reduction(reduction, name)
    return loss


@autocasts
@takes_old_reduction
def l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """|input - target|, or its mean or sum."""
    _warn_of_shapes("l1_loss", input, target)
    return _weighted(_functional.l1_loss, input, target, weight, reduction)


@autocasts
@takes_old_reduction
def mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """(input - target)², or its mean or sum."""
    if weight is None and input.shape == target.shape and input.dtype is target.dtype:
        return _functional.mse_loss(input, target, reduction=reduction)
    _warn_of_shapes("mse_loss", input, target)
    return _weighted(_square_of_difference, input, target, weight, reduction)


def _warn_of_shapes(name: str, input: Tensor, target: Tensor) -> None:
    if isinstance(target, Tensor) and input.shape != target.shape:
        shapes = f"{tuple(input.shape)} and {tuple(target.shape)}"
        text = f"[{name}] the shapes are {shapes}, so both are broadcast, which is often a mistake"
        warnings.warn(text, UserWarning, stacklevel=4)


def _square_of_difference(input: Tensor, target: Tensor, reduction: str) -> Tensor:
    return _reduced(_c.square(input - target), reduction, "mse_loss")


def _weighted(
    function: Callable[..., Tensor], input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, *more: float
) -> Tensor:
    """The loss of a function, whose mean is the weighted mean."""
    if weight is None:
        return function(input, target, reduction, *more)
    loss = function(input, target, "none", *more) * weight
    return _c.sum(loss) / _c.sum(weight.expand(loss.shape)) if reduction == "mean" else _reduced(loss, reduction, "loss")


@autocasts
@takes_old_reduction
def smooth_l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """d² / (2 beta) if d = |input - target| is below beta, otherwise d - beta / 2."""
    _warn_of_shapes("smooth_l1_loss", input, target)
    return _functional.smooth_l1_loss(input, target, reduction, beta)


@autocasts
def huber_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """d² / 2 if d = |input - target| is at most delta, otherwise delta (d - delta / 2)."""
    require_reduction(reduction, "huber_loss")
    _warn_of_shapes("huber_loss", input, target)
    return _weighted(_functional.huber_loss, input, target, weight, reduction, delta)


@takes_old_reduction
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean"
) -> Tensor:
    """-(target log(input) + (1 - target) log(1 - input)) for probabilities `input`. Logarithms are limited to at least
    -100. If an element of the input or of the target is outside [0, 1], the next read from the device fails. It is
    refused under autocast, because f16 cannot hold probabilities near 1 exactly enough."""
    return _functional.binary_cross_entropy(input, target, weight, reduction)


@takes_old_reduction
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """binary_cross_entropy() of sigmoid(input), without overflow. pos_weight is a factor of the term for target 1."""
    return _functional.binary_cross_entropy_with_logits(input, target, weight, reduction, pos_weight)


@takes_old_reduction
def kl_div(input: Tensor, target: Tensor, *, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """target (log(target) - input) for log-probabilities `input`. "batchmean" divides the sum by the first size."""
    if reduction == "batchmean":
        return _functional.kl_div(input, target, "sum", log_target) / (input.shape[0] if input.ndim else 1)
    return _functional.kl_div(input, target, reduction, log_target)


@takes_old_reduction
def poisson_nll_loss(
    input: Tensor, target: Tensor, *, log_input: bool = True, full: bool = False, eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """exp(input) - target · input, or without log_input input - target · log(input + eps). `full` adds Stirling's term."""
    return _functional.poisson_nll_loss(input, target, reduction, log_input, full, eps)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """(log(var) + (input - target)² / var) / 2, where var is at least eps. `full` adds log(2π) / 2."""
    require_reduction(reduction, "gaussian_nll_loss")
    if not isinstance(var, Tensor):
        var = _c.full((), var, dtype=input.dtype, device=input.device)
    if var.ndim and var.shape != input.shape and var.shape == input.shape[:-1]:
        var = var.unsqueeze(-1)
    return _functional.gaussian_nll_loss(input, target, var, reduction, full, eps)


@takes_old_reduction
def hinge_embedding_loss(input: Tensor, target: Tensor, *, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """input where the target is 1, and max(margin - input, 0) where it is -1."""
    return _functional.hinge_embedding_loss(input, target, reduction, margin)


@takes_old_reduction
def soft_margin_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target · input))."""
    return _functional.soft_margin_loss(input, target, reduction)


@takes_old_reduction
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, *, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """max(-target (input1 - input2) + margin, 0)."""
    return _functional.margin_ranking_loss(input1, input2, target, reduction, margin)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 · x2 / (max(|x1|, eps) max(|x2|, eps)) along an axis."""
    return _functional.cosine_similarity(x1, x2, dim, eps)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last axis."""
    return _functional.pairwise_distance(x1, x2, float(p), eps, keepdim)


@autocasts
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of all pairs of rows."""
    pairs = [(i, j) for i in range(input.shape[0]) for j in range(i + 1, input.shape[0])]
    index = _c.asarray(pairs or [(0, 0)], dtype=_c.int64, device=input.device)
    found = _c.norm(input[index[:, 0]] - input[index[:, 1]], p=float(p), axis=-1)
    return found if pairs else found[:0]


@takes_old_reduction
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, *, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """1 - cos(input1, input2) where the target is 1, and max(cos - margin, 0) where it is -1."""
    return _functional.cosine_embedding_loss(input1, input2, target, reduction, margin)


@takes_old_reduction
def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6,
    swap: bool = False, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """max(|anchor - positive| - |anchor - negative| + margin, 0). `swap` takes |positive - negative| if it is smaller."""
    return _functional.triplet_margin_loss(anchor, positive, negative, reduction, margin, float(p), eps, swap)


def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0, swap: bool = False,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """triplet_margin_loss() with a distance of your own."""
    distance = distance_function or pairwise_distance
    far = distance(anchor, negative)
    if swap:
        far = _c.minimum(far, distance(positive, negative))
    return _reduced(_c.maximum(distance(anchor, positive) - far + margin, 0.0), reduction, "triplet_margin_loss")


@autocasts
@takes_old_reduction
def multi_margin_loss(
    input: Tensor, target: Tensor, *, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The sum over wrong classes of max(margin - input[label] + input[class], 0)^p, divided by the number of classes."""
    x, labels = (input.reshape((1, -1)), target.reshape(1)) if input.ndim < 2 else (input, target)
    labels = labels.to(_c.int64).unsqueeze(1)
    terms = _c.maximum(margin - _c.gather(x, 1, labels) + x, 0.0)
    terms = terms if p == 1 else _c.square(terms)
    if weight is not None:
        terms = terms * _c.index_select(weight, 0, labels.reshape(-1)).unsqueeze(1)
    wrong = _c.ne(_c.arange(x.shape[1], device=x.device), labels)
    loss = _c.sum(_c.where(wrong, terms, 0.0), axis=1) / x.shape[1]
    return _reduced(loss if input.ndim > 1 else loss.squeeze(0), reduction, "multi_margin_loss")


@autocasts
@takes_old_reduction
def multilabel_margin_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The sum over pairs of a label and another class of max(1 - input[label] + input[class], 0), divided by the number of
    classes. The labels of a row end at the first -1."""
    x, labels = (input.reshape((1, -1)), target.reshape((1, -1))) if input.ndim < 2 else (input, target)
    counts = _c.eq(_c.cumsum(_c.lt(labels, 0), 1), 0)
    places = _c.where(counts, labels, 0)
    is_label = _c.gt(_c.scatter_add(_c.zeros_like(x), 1, places, counts.to(x.dtype)), 0)
    terms = _c.maximum(1 - _c.gather(x, 1, places).unsqueeze(2) + x.unsqueeze(1), 0.0)
    used = _c.logical_and(counts.unsqueeze(2), _c.logical_not(is_label).unsqueeze(1))
    loss = _c.sum(_c.where(used, terms, 0.0), axis=(1, 2)) / x.shape[1]
    return _reduced(loss if input.ndim > 1 else loss.squeeze(0), reduction, "multilabel_margin_loss")


@autocasts
@takes_old_reduction
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean"
) -> Tensor:
    """The mean over classes of binary_cross_entropy_with_logits()."""
    loss = -(target * _c.log_sigmoid(input) + (1 - target) * _c.log_sigmoid(-input))
    loss = _c.mean(loss if weight is None else loss * weight, axis=-1)
    return _reduced(loss, reduction, "multilabel_soft_margin_loss")


def _classes_last(input: Tensor) -> Tensor:
    """(N, C, d1, …) as rows of classes."""
    return _c.moveaxis(input, 1, -1).reshape((-1, input.shape[1])) if input.ndim > 2 else input


def _picked(
    logs: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str, smoothing: float, name: str
) -> Tensor:
    """The loss of log-probabilities (N, C, d1, …) against labels (N, d1, …)."""
    rows, labels = _classes_last(logs if logs.ndim > 1 else logs.unsqueeze(0)), target.reshape(-1).to(_c.int64)
    counted = _c.ne(labels, ignore_index)
    safe = _c.where(counted, labels, 0)
    scale = _c.ones_like(rows[:, 0]) if weight is None else _c.index_select(weight, 0, safe)
    scale = _c.where(counted, scale, 0.0)
    loss = -_c.gather(rows, 1, safe.unsqueeze(1)).squeeze(1)
    loss = _c.where(counted, loss, 0.0) * scale
    total = _c.sum(scale)
    if smoothing:
        spread = -(_c.sum(rows if weight is None else rows * weight, axis=1)) / rows.shape[1]
        spread = _c.where(counted, spread, 0.0)
        loss = (1 - smoothing) * loss + smoothing * spread
    if reduction == "mean":
        return _c.sum(loss) / total
    loss = loss.reshape(target.shape) if reduction == "none" else loss
    return _reduced(loss, reduction, name)


@autocasts
@takes_old_reduction
def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """-input[label] of log-probabilities (N, C, d1, …) and labels (N, d1, …), times the weight of the label's class. The
    mean divides by the sum of the weights."""
    if input.ndim == 2 and weight is None:
        return _functional.nll_loss(input, target, ignore_index=ignore_index, reduction=reduction)
    return _picked(input, target, weight, ignore_index, reduction, 0.0, "nll_loss")


@autocasts
@takes_old_reduction
def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """log(sum(exp(row))) - row[label] of logits (N, C, d1, …) and labels (N, d1, …), times the weight of the label's
    class; or against probabilities in the shape of the logits. reduction is "mean", "sum" or "none"."""
    if _c.isdtype(target.dtype, "real floating") and target.shape == input.shape:
        return _soft(input, target, weight, reduction, label_smoothing)
    if input.ndim == 2 and weight is None:
        return _functional.cross_entropy(
            input, target, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
        )
    if target.ndim != max(input.ndim - 1, 0) or target.shape != input.shape[:1] * (input.ndim > 1) + input.shape[2:]:
        raise _c.InvalidArgumentError(
            f"[cross_entropy] logits of shape {tuple(input.shape)} need labels of shape "
            f"{input.shape[:1] * (input.ndim > 1) + input.shape[2:]}, not {tuple(target.shape)}"
        )
    logs = _c.log_softmax(input, 1 if input.ndim > 1 else 0)
    return _picked(logs, target, weight, ignore_index, reduction, label_smoothing, "cross_entropy")


def _soft(input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float) -> Tensor:
    axis = 1 if input.ndim > 1 else 0
    if smoothing:
        target = target * (1 - smoothing) + smoothing / input.shape[axis]
    if weight is not None:
        target = target * weight.reshape([-1 if i == axis else 1 for i in range(input.ndim)])
    loss = -_c.sum(target * _c.log_softmax(input, axis), axis=axis)
    if reduction == "mean":
        return _c.sum(loss) / max(input.numel() // input.shape[axis], 1)
    return _reduced(loss, reduction, "cross_entropy")


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """The negative logarithm of the probability of label sequences, over all alignments with blanks: log_probs (T, N, C),
    targets (N, S) or all in a line."""
    x = log_probs.unsqueeze(1) if log_probs.ndim == 2 else log_probs
    steps, n, _ = x.shape
    device = x.device
    t_len, s_len = (
        v.to(_c.int64).reshape(-1)
        if isinstance(v, Tensor)
        else _c.asarray(v, dtype=_c.int64, device=device).reshape(-1)
        for v in (input_lengths, target_lengths)
    )
    labels = targets.to(_c.int64)
    if labels.ndim == 1 and log_probs.ndim == 3:
        sizes, at, rows = s_len.tolist(), 0, []
        for size in sizes:
            rows.append(_functional.pad(labels[at : at + size], [0, max(sizes) - size]))
            at += size
        labels = _c.stack(rows)
    labels = labels.reshape((n, -1))
    s = labels.shape[1]
    places = _c.arange(2 * s + 1, device=device)
    odd = _c.eq(_c.remainder(places, 2), 1)
    full = _c.where(odd, _c.index_select(labels, 1, _c.minimum(_c.floor_divide(places, 2), max(s - 1, 0))), blank) if s else (
        _c.full((n, 1), blank, dtype=_c.int64, device=device))  # fmt: skip
    jump = _c.logical_and(odd, _c.ne(full, _functional.pad(full[:, :-2], [2, 0], -1.0))) if s else _c.zeros(
        (n, 1), dtype=_c.bool, device=device)  # fmt: skip
    none = -1e30
    emitted = _c.gather(x, 2, full.unsqueeze(0).expand((steps, n, 2 * s + 1)))
    alpha = _c.where(_c.lt(places, 2), emitted[0], none)
    for t in range(1, steps):
        one = _functional.pad(alpha[:, :-1], [1, 0], none)
        two = _functional.pad(alpha[:, :-2], [2, 0], none) if s else alpha
        total = _c.logaddexp(_c.logaddexp(alpha, one), _c.where(jump, two, none)) if s else alpha
        alpha = _c.where(
            _c.lt(_c.full((n, 1), t, dtype=_c.int64, device=device), t_len.unsqueeze(1)), total + emitted[t], alpha
        )
    last = _c.gather(alpha, 1, (2 * s_len).unsqueeze(1)).squeeze(1)
    before = _c.gather(alpha, 1, _c.maximum(2 * s_len - 1, 0).unsqueeze(1)).squeeze(1)
    loss = -_c.logaddexp(last, _c.where(_c.gt(s_len, 0), before, none))
    impossible = _c.gt(loss, 1e29)
    loss = _c.where(impossible, 0.0 if zero_infinity else math.inf, loss)
    if reduction == "mean":
        return _c.mean(loss / _c.maximum(s_len, 1).to(loss.dtype))
    return _reduced(loss if log_probs.ndim == 3 else loss.squeeze(0), reduction, "ctc_loss")
