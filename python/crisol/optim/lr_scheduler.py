"""Learning-rate schedules. A schedule sets the rates of all groups that its optimiser has when the schedule is made."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from .._crisol._optim import (
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiStepLR,
    OneCycleLR,
    Optimizer,
    ReduceLROnPlateau,
    SequentialLR,
    StepLR,
)

__all__ = ["ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "ExponentialLR", "LRScheduler", "LambdaLR"]
__all__ += ["ChainedScheduler", "CyclicLR"]
__all__ += ["LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau"]
__all__ += ["SequentialLR", "StepLR"]


_LRScheduler = LRScheduler


def _optimizer_of(self) -> Optimizer:
    """The optimiser whose rates the schedule sets."""
    return self.__dict__["_optimizer"]


def _base_lrs(self) -> list[float]:
    """The rates at step 0, one for each group."""
    groups = len(self.get_last_lr())  # Three float32 hold each rate exactly.
    return [math.fsum(parts) for parts in self.state_dict()["base_lr"].reshape(groups, -1).tolist()]


LRScheduler.optimizer = property(_optimizer_of)
LRScheduler.base_lrs = property(_base_lrs)


def _bad_epochs(self) -> int:
    """The number of calls since the best metric, or since the last change of the rates."""
    return int(self.state_dict()["bad"].item())


ReduceLROnPlateau.num_bad_epochs = property(_bad_epochs)


class _Chained(LambdaLR):
    """Each step multiplies the present rate of a group by a factor. So a rate that was set by hand, or by another
    schedule, is the start of what follows."""

    def __init__(self, optimizer: Optimizer, factors: Sequence[Callable[[int], float]], last_epoch: int) -> None:
        super().__init__(optimizer, [_product(factor) for factor in factors], last_epoch)
        self._factors = list(factors)
        self._rates = [group["lr"] for group in optimizer.param_groups]

    def step(self, epoch: int | None = None) -> None:
        """Changes the rates for the next step."""
        groups = self.optimizer.param_groups
        rates = [group["lr"] for group in groups]
        super().step(epoch)
        for group, rate, factor in zip(groups if epoch is None else (), rates, self._factors):
            group["lr"] = rate * factor(self.last_epoch)
        self._rates = [group["lr"] for group in groups]

    def get_last_lr(self) -> list[float]:
        """The rates after the last step, one for each group."""
        return list(self._rates)


class PolynomialLR(_Chained):
    """base_lr · (1 - steps / total_iters)^power, and 0 after total_iters steps."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        def factor(step: int) -> float:
            rest = total_iters - step
            return 1.0 if rest < 0 else (rest / (rest + 1)) ** power

        super().__init__(optimizer, [factor] * len(optimizer.param_groups), last_epoch)


class MultiplicativeLR(_Chained):
    """Each step multiplies the rate by f(steps), with one function for all groups or a list for each."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        given = isinstance(lr_lambda, (list, tuple))
        super().__init__(optimizer, lr_lambda if given else [lr_lambda] * len(optimizer.param_groups), last_epoch)


class ChainedScheduler:
    """Several schedules of one optimiser: each step is a step of each."""

    def __init__(self, schedulers: Sequence[Any], optimizer: Optimizer | None = None) -> None:
        self._schedulers = list(schedulers)
        if not self._schedulers:
            raise ValueError("[ChainedScheduler] there are no schedules")
        owners = [schedule._optimizer for schedule in self._schedulers]
        self.optimizer = owners[0] if optimizer is None else optimizer
        if any(owner is not self.optimizer for owner in owners):
            raise ValueError("[ChainedScheduler] the schedules belong to several optimisers")

    def step(self) -> None:
        """Changes the rates for the next step."""
        for schedule in self._schedulers:
            schedule.step()

    def get_last_lr(self) -> list[float]:
        """The present rates, one for each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """The states of the schedules as "schedules.0.steps", …."""
        states = enumerate(schedule.state_dict() for schedule in self._schedulers)
        return {f"schedules.{i}.{name}": value for i, state in states for name, value in state.items()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continues from a state."""
        for i, schedule in enumerate(self._schedulers):
            first = f"schedules.{i}."
            schedule.load_state_dict({n[len(first) :]: v for n, v in state_dict.items() if n.startswith(first)})


def _product(function: Callable[[int], float]) -> Callable[[int], float]:
    return lambda steps: math.prod(function(step) for step in range(1, steps + 1))


class CyclicLR(LambdaLR):
    """Up from base_lr to max_lr and down again: Smith 2017. mode is "triangular", "triangular2", which halves the height
    after each cycle, or "exp_range", which multiplies it by gamma at each step; or scale_fn gives the factor. The momentum
    goes the other way."""

    def __init__(
        self, optimizer: Optimizer, base_lr: float | Sequence[float], max_lr: float | Sequence[float],
        step_size_up: int = 2000, step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
        base_momentum: float = 0.8, max_momentum: float = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        ways: dict[str, Callable[[float, int], float]] = {
            "triangular": lambda cycle, steps: 1.0,
            "triangular2": lambda cycle, steps: 2.0 ** (1 - cycle),
            "exp_range": lambda cycle, steps: gamma**steps,
        }
        if scale_fn is None and mode not in ways:
            raise ValueError(f"[CyclicLR] mode is {mode!r}, allowed are {', '.join(ways)}")
        groups = optimizer.param_groups
        low, high = (list(r) if isinstance(r, (list, tuple)) else [r] * len(groups) for r in (base_lr, max_lr))
        up, total = step_size_up, step_size_up + (step_size_down or step_size_up)

        def height(steps: int) -> float:
            cycle, place = 1 + steps // total, steps % total
            x = place / up if place <= up else (total - place) / (total - up)
            if scale_fn is not None:
                return x * scale_fn(cycle if scale_mode == "cycle" else steps)
            return x * ways[mode](cycle, steps)

        def factor(first: float, last: float) -> Callable[[int], float]:
            return lambda steps: 1 + (last / first - 1) * height(steps)

        for group, rate in zip(groups, low):
            group["lr"] = rate
        super().__init__(optimizer, [factor(a, b) for a, b in zip(low, high)], last_epoch)
        self._turned, self._momenta = optimizer, (base_momentum, max_momentum)
        self._height, self._cycles_momentum = height, cycle_momentum
        self._set_momenta()

    def _set_momenta(self) -> None:
        least, most = self._momenta
        for group in self._turned.param_groups if self._cycles_momentum else ():
            value = most - (most - least) * self._height(self.last_epoch)
            if "betas" in group:
                group["betas"] = (value, group["betas"][1])
            elif "momentum" in group:
                group["momentum"] = value
            else:
                raise ValueError("[CyclicLR] cycle_momentum needs an optimiser with momentum or betas")

    def step(self, epoch: int | None = None) -> None:
        """Changes the rates for the next step."""
        super().step(epoch)
        self._set_momenta()


def __dir__():
    return __all__
