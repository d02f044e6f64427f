"""Losses as modules that store their options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import functional as F
from .._crisol import Tensor
from ._function import _Function
from ._reduction import takes_old_reduction

__all__ = ["BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss"]
__all__ += [
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
]
__all__ += [
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
]
__all__ += ["TripletMarginLoss", "TripletMarginWithDistanceLoss"]


class _Loss(_Function):
    """A loss whose options are keywords of a function, and attributes. A class weight is a buffer."""

    reduction: str
    _printed = ""

    def __init__(
        self, function: Callable[..., Tensor], weights: dict[str, Tensor | None], options: dict[str, Any]
    ) -> None:
        super().__init__(**options)
        self._function, self._weights = function, list(weights)
        for name, weight in weights.items():
            if weight is None:
                self.__dict__[name] = None
            else:
                self.register_buffer(name, weight)

    def __init_subclass__(cls) -> None:
        cls.__init__ = takes_old_reduction(cls.__init__)  # type: ignore[method-assign]

    def _loss(self, *tensors: Any) -> Tensor:
        weights = {name: getattr(self, name) for name in self._weights}
        return self._function(*tensors, **self._given(), **{k: w for k, w in weights.items() if w is not None})


class CrossEntropyLoss(_Loss):
    """functional.cross_entropy of logits (N, C, …) against labels (N, …) or probabilities."""

    def __init__(
        self, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        options = {"ignore_index": ignore_index, "reduction": reduction, "label_smoothing": label_smoothing}
        super().__init__(F.cross_entropy, {"weight": weight}, options)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class NLLLoss(_Loss):
    """functional.nll_loss of log-probabilities (N, C, …) against labels (N, …)."""

    def __init__(self, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(F.nll_loss, {"weight": weight}, {"ignore_index": ignore_index, "reduction": reduction})

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class MSELoss(_Loss):
    """functional.mse_loss of two tensors."""

    def __init__(self, *, reduction: str = "mean") -> None:
        super().__init__(F.mse_loss, {}, {"reduction": reduction})

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class L1Loss(_Loss):
    """functional.l1_loss of two tensors."""

    def __init__(self, *, reduction: str = "mean") -> None:
        super().__init__(F.l1_loss, {}, {"reduction": reduction})

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class SmoothL1Loss(_Loss):
    """functional.smooth_l1_loss of two tensors."""

    def __init__(self, *, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(F.smooth_l1_loss, {}, {"reduction": reduction, "beta": beta})

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class HuberLoss(_Loss):
    """functional.huber_loss of two tensors."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(F.huber_loss, {}, {"reduction": reduction, "delta": delta})

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class BCELoss(_Loss):
    """functional.binary_cross_entropy of probabilities."""

    def __init__(self, weight: Tensor | None = None, *, reduction: str = "mean") -> None:
        super().__init__(F.binary_cross_entropy, {"weight": weight}, {"reduction": reduction})

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class BCEWithLogitsLoss(_Loss):
    """functional.binary_cross_entropy_with_logits of logits."""

    def __init__(
        self, weight: Tensor | None = None, *, reduction: str = "mean", pos_weight: Tensor | None = None
    ) -> None:
        weights = {"weight": weight, "pos_weight": pos_weight}
        super().__init__(F.binary_cross_entropy_with_logits, weights, {"reduction": reduction})

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class KLDivLoss(_Loss):
    """functional.kl_div of log-probabilities against probabilities."""

    def __init__(self, *, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(F.kl_div, {}, {"reduction": reduction, "log_target": log_target})

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class PoissonNLLLoss(_Loss):
    """functional.poisson_nll_loss of logarithms of means, or of means."""

    def __init__(
        self, log_input: bool = True, full: bool = False, *, eps: float = 1e-8, reduction: str = "mean"
    ) -> None:
        options = {"log_input": log_input, "full": full, "eps": eps, "reduction": reduction}
        super().__init__(F.poisson_nll_loss, {}, options)

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return self._loss(log_input, target)


class GaussianNLLLoss(_Loss):
    """functional.gaussian_nll_loss of means and variances."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(F.gaussian_nll_loss, {}, {"full": full, "eps": eps, "reduction": reduction})

    def forward(self, input: Tensor, target: Tensor, var: Any) -> Tensor:
        return self._loss(input, target, var)


class HingeEmbeddingLoss(_Loss):
    """functional.hinge_embedding_loss of distances against 1 and -1."""

    def __init__(self, margin: float = 1.0, *, reduction: str = "mean") -> None:
        super().__init__(F.hinge_embedding_loss, {}, {"margin": margin, "reduction": reduction})

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class SoftMarginLoss(_Loss):
    """functional.soft_margin_loss against 1 and -1."""

    def __init__(self, *, reduction: str = "mean") -> None:
        super().__init__(F.soft_margin_loss, {}, {"reduction": reduction})

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class MarginRankingLoss(_Loss):
    """functional.margin_ranking_loss of two tensors against 1 and -1."""

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        super().__init__(F.margin_ranking_loss, {}, {"margin": margin, "reduction": reduction})

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return self._loss(input1, input2, target)


class CosineEmbeddingLoss(_Loss):
    """functional.cosine_embedding_loss of two tensors against 1 and -1."""

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        super().__init__(F.cosine_embedding_loss, {}, {"margin": margin, "reduction": reduction})

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return self._loss(input1, input2, target)


class MultiMarginLoss(_Loss):
    """functional.multi_margin_loss against labels."""

    def __init__(
        self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, *, reduction: str = "mean"
    ) -> None:
        options = {"p": p, "margin": margin, "reduction": reduction}
        super().__init__(F.multi_margin_loss, {"weight": weight}, options)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class MultiLabelMarginLoss(_Loss):
    """functional.multilabel_margin_loss against rows of labels."""

    def __init__(self, *, reduction: str = "mean") -> None:
        super().__init__(F.multilabel_margin_loss, {}, {"reduction": reduction})

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class MultiLabelSoftMarginLoss(_Loss):
    """functional.multilabel_soft_margin_loss. A target is 1 for each class of the sample, and 0 elsewhere."""

    def __init__(self, weight: Tensor | None = None, *, reduction: str = "mean") -> None:
        super().__init__(F.multilabel_soft_margin_loss, {"weight": weight}, {"reduction": reduction})

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(input, target)


class TripletMarginLoss(_Loss):
    """functional.triplet_margin_loss of an anchor, a near and a far tensor."""

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, *, reduction: str = "mean"
    ) -> None:
        options = {"margin": margin, "p": p, "eps": eps, "swap": swap, "reduction": reduction}
        super().__init__(F.triplet_margin_loss, {}, options)

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return self._loss(anchor, positive, negative)


class TripletMarginWithDistanceLoss(_Loss):
    """functional.triplet_margin_with_distance_loss with a distance of your own."""

    def __init__(
        self, *, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0,
        swap: bool = False, reduction: str = "mean",
    ) -> None:  # fmt: skip
        options = {"distance_function": distance_function, "margin": margin, "swap": swap, "reduction": reduction}
        super().__init__(F.triplet_margin_with_distance_loss, {}, options)

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return self._loss(anchor, positive, negative)


class CTCLoss(_Loss):
    """functional.ctc_loss of log-probabilities (T, N, C) against label sequences."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(F.ctc_loss, {}, {"blank": blank, "reduction": reduction, "zero_infinity": zero_infinity})

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        return self._loss(log_probs, targets, input_lengths, target_lengths)


def __dir__():
    return __all__
