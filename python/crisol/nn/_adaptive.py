"""A loss for many classes of which few are frequent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import _crisol as _c
from .._crisol import Tensor
from .._crisol._nn import Linear, Module, ModuleList, Sequential
from . import functional as F

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-probabilities of classes that are ordered from frequent to rare (Grave et al. 2017). The classes below
    cutoffs[0] have a place in the head; each cluster of rarer classes has one place there, and a tail of its own with
    fewer features. Waits for the device, which tells the rows of each cluster."""

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        ends = list(cutoffs)
        if not ends or sorted(set(ends)) != ends or ends[0] <= 0 or ends[-1] > n_classes - 1:
            raise ValueError(
                f"cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                f"value is between 1 and n_classes-1, not {ends}"
            )
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*ends, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = ends[0], len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(self._bounds()):
            inner = int(in_features // div_value ** (i + 1))
            layers = ((in_features, inner), (inner, high - low))
            self.tail.append(Sequential(*(Linear(*sizes, bias=False, device=device, dtype=dtype) for sizes in layers)))

    def _bounds(self) -> list[tuple[int, int]]:
        return list(zip(self.cutoffs[:-1], self.cutoffs[1:]))

    def reset_parameters(self) -> None:
        """Draws all weights again."""
        for layer in (self.head, *(part for pair in self.tail for part in pair)):
            layer.reset_parameters()

    def forward(self, input: Tensor, target: Tensor) -> _ASMoutput:
        """The log-probability of each row's target, and the negative mean of these."""
        if input.ndim == 1:
            output, loss = self.forward(input.unsqueeze(0), target.unsqueeze(0))
            return _ASMoutput(output.squeeze(0), loss)
        place = target.to(_c.int64)
        tails = _c.zeros(input.shape[0], dtype=input.dtype, device=input.device)
        for i, (low, high) in enumerate(self._bounds()):
            inside = _c.logical_and(_c.ge(target, low), _c.lt(target, high))
            rows = _c.nonzero(inside)[0]
            if rows.numel():
                local = F.log_softmax(self.tail[i](_c.index_select(input, 0, rows)), dim=1)
                wanted = (_c.index_select(target, 0, rows) - low).to(_c.int64).unsqueeze(1)
                tails = _c.index_add(tails, 0, rows, _c.gather(local, 1, wanted).squeeze(1))
            place = _c.where(inside, self.shortlist_size + i, place)
        head = F.log_softmax(self.head(input), dim=1)
        output = _c.gather(head, 1, place.unsqueeze(1)).squeeze(1) + tails
        return _ASMoutput(output, -_c.mean(output))

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes, (N, n_classes)."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            parts.append(F.log_softmax(tail(input), dim=1) + head[:, self.shortlist_size + i].unsqueeze(1))
        return _c.concat(parts, axis=1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row."""
        return _c.argmax(self.log_prob(input), 1)
