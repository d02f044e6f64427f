"""Rules for parameters that are matrices: Adafactor and Muon. SparseAdam is a name that refuses."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from ._rules import _kept, _Rule

__all__ = ["Adafactor", "Muon", "SparseAdam"]


class Adafactor(_Rule):
    """Shazeer and Stern 2018: the mean square of a matrix is the product of its row means and column means."""

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
        foreach: bool | None = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        if beta2_decay > 0 or d < 1:
            raise _c.InvalidArgumentError(f"[Adafactor] beta2_decay {beta2_decay} is above 0, or d {d} is below 1")
        super().__init__(params, dict(lr=lr, eps=eps, d=d, weight_decay=weight_decay, maximize=maximize,
                                      decoupled_weight_decay=True, decay=-beta2_decay))  # fmt: skip

    def _update(self, parameter: Any, gradient: Tensor, state: Any, group: Any) -> None:
        least, floor = group["eps"]
        least = 2.0**-23 if least is None else least
        share = float(state["step"]) ** -group["decay"]
        # PyTorch takes the norm before the weight decay.
        size = state.pop("norm")
        rate = max(floor, size / math.sqrt(parameter.numel())) * min(group["lr"], 1 / math.sqrt(state["step"]))
        squares = _c.square(gradient)
        if gradient.ndim > 1:
            rows = _kept(state, "row_var", squares.mean(-1, True)).lerp_(squares.mean(-1, True), share)
            columns = _kept(state, "col_var", squares.mean(-2, True)).lerp_(squares.mean(-2, True), share)
            estimate = rows @ columns / _c.maximum(rows.mean(-2, True), least)
        else:
            estimate = _kept(state, "variance", squares).lerp_(squares, share)
        update = gradient * _c.rsqrt(_c.maximum(estimate, least * least))
        largest = max(1.0, float(_c.norm(update)) / (math.sqrt(update.numel()) * group["d"]))
        parameter.add_(update, alpha=-rate / largest)

    def _change(self, parameter: Any, group: Any) -> None:
        self.state[parameter]["norm"] = float(_c.norm(parameter))
        super()._change(parameter, group)


class Muon(_Rule):
    """Jordan et al. 2024: the mean of gradients, made nearly orthogonal by Newton and Schulz's iteration. All
    parameters are matrices. Products are float32, where PyTorch's are bfloat16."""

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
        nesterov: bool = True, ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        if adjust_lr_fn not in (None, "original", "match_rms_adamw", "spectral_unclamped"):
            raise _c.InvalidArgumentError(f"[Muon] adjust_lr_fn {adjust_lr_fn!r} is not there")
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
                                      ns_coefficients=ns_coefficients, eps=eps, ns_steps=ns_steps, maximize=False,
                                      adjust_lr_fn=adjust_lr_fn, decoupled_weight_decay=True))  # fmt: skip
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim != 2:
                    raise _c.InvalidArgumentError(f"[Muon] takes matrices, not shape {tuple(parameter.shape)}")

    def _update(self, parameter: Any, gradient: Tensor, state: Any, group: Any) -> None:
        mean = _kept(state, "momentum_buffer", gradient).lerp_(gradient, 1 - group["momentum"])
        update = gradient + (mean - gradient) * group["momentum"] if group["nesterov"] else mean
        rows, columns = parameter.shape
        x = update.T if rows > columns else update
        x = x / _c.maximum(_c.norm(x), group["eps"])
        a, b, c = group["ns_coefficients"]
        for _ in range(group["ns_steps"]):
            gram = x @ x.T
            x = x * a + (gram * b + gram @ gram * c) @ x
        factors = {
            "match_rms_adamw": 0.2 * math.sqrt(max(rows, columns)),
            "spectral_unclamped": math.sqrt(rows / columns),
        }
        factor = factors.get(group["adjust_lr_fn"], math.sqrt(max(1, rows / columns)))
        parameter.add_(x.T if rows > columns else x, alpha=-group["lr"] * factor)


class SparseAdam(_Rule):
    """Refuses: there are no sparse gradients. Adam does the same with the gradients of this library."""

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        raise _c.InvalidArgumentError("[SparseAdam] there are no sparse gradients: use Adam")
