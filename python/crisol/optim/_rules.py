"""Optimisers that are written in Python: the rules of PyTorch's, one parameter after another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._crisol._optim import Optimizer
from ..autograd import enable_grad, no_grad

__all__ = ["ASGD", "Adadelta", "Adagrad", "Adamax", "NAdam", "RAdam", "Rprop"]


class _Rule(Optimizer):
    """An optimiser whose _update() changes a parameter, with its gradient, its state and its group. PyTorch's arguments
    `foreach`, `fused` and `capturable` have no effect."""

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any], differentiable: bool = False) -> None:
        if differentiable:
            raise ValueError("differentiable=True: a step is not recorded for gradients")
        defaults = {name: v.item() if isinstance(v, Tensor) else v for name, v in defaults.items()}
        negative = [name for name, v in defaults.items() if isinstance(v, (int, float)) and v < 0]
        if negative:
            raise _c.InvalidArgumentError(
                f"[{type(self).__name__}] {negative[0]} is {defaults[negative[0]]}, and it must not be negative"
            )
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Changes the parameters by their gradients. A closure computes the loss first, which is the result."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self._change(parameter, group)
        return loss

    def _change(self, parameter: Any, group: Any) -> None:
        gradient = -parameter.grad if group["maximize"] else parameter.grad
        state = self.state[parameter]
        state["step"] = state.get("step", 0) + 1
        if group.get("weight_decay") and not group.get("decoupled_weight_decay"):
            gradient = gradient + group["weight_decay"] * parameter
        elif group.get("weight_decay"):
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
        self._update(parameter, gradient, state, group)

    def _update(self, parameter: Any, gradient: Tensor, state: Any, group: Any) -> None:
        raise NotImplementedError


def _kept(state: Any, name: str, like: Tensor, value: float = 0.0) -> Tensor:
    if name not in state:
        state[name] = _c.full_like(like, value)
    return state[name]


class Adagrad(_Rule):
    """Duchi et al. 2011: divides by the root of the sum of all squared gradients."""

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay, eps=eps, maximize=maximize,
                                      initial_accumulator_value=initial_accumulator_value), differentiable)  # fmt: skip

    def _update(self, parameter: Any, gradient: Tensor, state: Any, group: Any) -> None:
        total = _kept(state, "sum", parameter, group["initial_accumulator_value"])
        total.addcmul_(gradient, gradient)
        rate = group["lr"] / (1 + (state["step"] - 1) * group["lr_decay"])
        parameter.addcdiv_(gradient, _c.sqrt(total) + group["eps"], value=-rate)


class Adadelta(_Rule):
    """Zeiler 2012: the size of a step follows that of the steps before."""

    def __init__(
        self, params: Iterable[Any], lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        if not 0 <= rho <= 1:
            raise ValueError(f"[Adadelta] rho is {rho}, and it must be from 0 to 1")
        settings = dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize)
        super().__init__(params, settings, differentiable)

    def _update(self, parameter: Any, gradient: Tensor, state: Any, group: Any) -> None:
        rho, eps = group["rho"], group["eps"]
        squares, steps = _kept(state, "square_avg", parameter), _kept(state, "acc_delta", parameter)
        squares.mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
        delta = _c.sqrt(steps + eps) / _c.sqrt(squares + eps) * gradient
        steps.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        parameter.sub_(delta * group["lr"])


class Adamax(_Rule):
    """Adam with the largest gradient in the place of the root of the mean square."""

    def __init__(
        self, params: Iterable[Any], lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        settings = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize)
        super().__init__(params, settings, differentiable)

    def _update(self, parameter: Any, gradient: Tensor, state: Any, group: Any) -> None:
        first, second = group["betas"]
        mean, largest = _kept(state, "exp_avg", parameter), _kept(state, "exp_inf", parameter)
        mean.lerp_(gradient, 1 - first)
        largest.copy_(_c.maximum(largest * second, _c.abs(gradient) + group["eps"]))
        parameter.addcdiv_(mean, largest, value=-group["lr"] / (1 - first ** state["step"]))


class NAdam(_Rule):
    """Dozat 2016: Adam with Nesterov's momentum."""

    def __init__(
        self, params: Iterable[Any], lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      momentum_decay=momentum_decay,
                                      decoupled_weight_decay=decoupled_weight_decay), differentiable)  # fmt: skip

    def _update(self, parameter: Any, gradient: Tensor, state: Any, group: Any) -> None:
        (first, second), step, decay = group["betas"], state["step"], group["momentum_decay"]
        mean, squares = _kept(state, "exp_avg", parameter), _kept(state, "exp_avg_sq", parameter)
        mu, mu_next = (first * (1 - 0.5 * 0.96 ** (n * decay)) for n in (step, step + 1))
        product = state["mu_product"] = state.get("mu_product", 1.0) * mu
        mean.lerp_(gradient, 1 - first)
        squares.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        below = _c.sqrt(squares / (1 - second**step)) + group["eps"]
        parameter.addcdiv_(gradient, below, value=-group["lr"] * (1 - mu) / (1 - product))
        parameter.addcdiv_(mean, below, value=-group["lr"] * mu_next / (1 - product * mu_next))


class RAdam(_Rule):
    """Liu et al. 2019: Adam whose first steps are plain, until the mean square is known well enough."""

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      decoupled_weight_decay=decoupled_weight_decay), differentiable)  # fmt: skip

    def _update(self, parameter: Any, gradient: Tensor, state: Any, group: Any) -> None:
        (first, second), step = group["betas"], state["step"]
        mean, squares = _kept(state, "exp_avg", parameter), _kept(state, "exp_avg_sq", parameter)
        mean.lerp_(gradient, 1 - first)
        squares.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        corrected = mean / (1 - first**step)
        most = 2 / (1 - second) - 1
        length = most - 2 * step * second**step / (1 - second**step)
        if length > 5:
            over = (length - 4) * (length - 2) * most
            corrected = corrected * math.sqrt(over / ((most - 4) * (most - 2) * length) * (1 - second**step))
            corrected = corrected / (_c.sqrt(squares) + group["eps"])
        parameter.sub_(corrected * group["lr"])


class ASGD(_Rule):
    """Polyak and Juditsky 1992: the state "ax" is the average of the parameters after t0 steps."""

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay,
                                      maximize=maximize), differentiable)  # fmt: skip

    def _update(self, parameter: Any, gradient: Tensor, state: Any, group: Any) -> None:
        average, step = _kept(state, "ax", parameter), state["step"]
        eta, mu = state.get("eta", group["lr"]), state.get("mu", 1.0)
        parameter.mul_(1 - group["lambd"] * eta)
        parameter.sub_(gradient * eta)
        average.copy_(parameter if mu == 1 else average + (parameter - average) * mu)
        state["eta"] = float(group["lr"] / (1 + group["lambd"] * group["lr"] * step) ** group["alpha"])
        state["mu"] = float(1 / max(1, step - group["t0"]))


class Rprop(_Rule):
    """Riedmiller and Braun 1993: only the sign of a gradient counts. Steps grow until it changes."""

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"[Rprop] etas are {etas}, and they must be below 1 and above 1")
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, maximize=maximize), differentiable)

    def _update(self, parameter: Any, gradient: Tensor, state: Any, group: Any) -> None:
        (down, up), (least, most) = group["etas"], group["step_sizes"]
        before, size = _kept(state, "prev", parameter), _kept(state, "step_size", parameter, group["lr"])
        sign = _c.sign(gradient * before)
        changed = _c.where(_c.gt(sign, 0), size * up, _c.where(_c.lt(sign, 0), size * down, size))
        size.copy_(_c._clip(changed, least, most))
        gradient = _c.where(_c.lt(sign, 0), 0.0, gradient)
        parameter.sub_(_c.sign(gradient) * size)
        before.copy_(gradient)
