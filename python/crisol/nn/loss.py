"""Losses as modules that store their options."""

from . import functional as F
from .._crisol import Tensor
from .._crisol._nn import Module

__all__ = ["CrossEntropyLoss", "MSELoss", "NLLLoss"]


class CrossEntropyLoss(Module):
    """functional.cross_entropy of logits (N, C) against labels (N)."""

    def __init__(self, *, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__()
        self.options = {"ignore_index": ignore_index, "reduction": reduction, "label_smoothing": label_smoothing}

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(input, target, **self.options)


class NLLLoss(Module):
    """functional.nll_loss of log-probabilities (N, C) against labels (N)."""

    def __init__(self, *, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__()
        self.options = {"ignore_index": ignore_index, "reduction": reduction}

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, **self.options)


class MSELoss(Module):
    """functional.mse_loss of two tensors of one shape."""

    def __init__(self, *, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


def __dir__():
    return __all__
