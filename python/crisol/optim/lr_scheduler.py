"""Learning-rate schedules, as PyTorch has them.

A schedule sets the rates of its optimiser's groups. Most schedules multiply the present rates in each step. So several
schedules of one optimiser can run together, and a rate that a program sets is the start of what follows.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._crisol._optim import Optimizer
from .._public import belongs_to
from ._cycles import CyclicLR, OneCycleLR
from ._schedule import LRScheduler, checked, for_groups, rates_of, refused, state_of

__all__ = ["ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "ExponentialLR", "LRScheduler", "LambdaLR"]
__all__ += ["ChainedScheduler", "CyclicLR"]
__all__ += ["LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau"]
__all__ += ["SequentialLR", "StepLR"]


_LRScheduler = LRScheduler

belongs_to(__name__, (CyclicLR, LRScheduler, OneCycleLR))


class _Factors(LRScheduler):
    """The base of the schedules whose factors are functions. A state has the attributes of functions that are objects
    of a class, and None for others."""

    lr_lambdas: list[Callable[[int], float]]

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.optimizer = checked(self, optimizer)
        self.lr_lambdas = for_groups(self, "lr_lambda", lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimiser and plain functions, by name."""
        objects = [None if hasattr(f, "__code__") else dict(getattr(f, "__dict__", {})) for f in self.lr_lambdas]
        return super().state_dict() | {"lr_lambdas": objects}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues from a state. The functions stay."""
        state = state_of(self, state_dict)
        for function, attributes in zip(self.lr_lambdas, state.pop("lr_lambdas", ())):
            if attributes is not None:
                function.__dict__.update(attributes)
        self.__dict__.update(state)


class LambdaLR(_Factors):
    """base_lr · f(steps), with one function for all groups or a list for each."""

    def get_lr(self) -> list[float]:
        """The rates of the formula."""
        return [rate * factor(self.last_epoch) for rate, factor in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(_Factors):
    """Each step multiplies the rate by f(steps), with one function for all groups or a list for each."""

    def get_lr(self) -> list[float]:
        """The present rates times f(steps)."""
        if self._is_initial:
            return rates_of(self.optimizer)
        return [rate * factor(self.last_epoch) for rate, factor in zip(rates_of(self.optimizer), self.lr_lambdas)]


class StepLR(LRScheduler):
    """base_lr · gamma^floor(steps / step_size)."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        if step_size <= 0:
            raise refused(self, f"step_size {step_size} must be positive")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The present rates, times gamma after each step_size steps."""
        return self._times(1.0 if self.last_epoch == 0 or self.last_epoch % self.step_size else self.gamma)

    def _get_closed_form_lr(self) -> list[float]:
        return [rate * self.gamma ** (self.last_epoch // self.step_size) for rate in self.base_lrs]


class MultiStepLR(LRScheduler):
    """base_lr · gamma^n, where n milestones are at most `steps`. Each of equal milestones counts."""

    def __init__(
        self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The present rates, times gamma at each milestone."""
        return self._times(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list[float]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [rate * self.gamma**passed for rate in self.base_lrs]


class ExponentialLR(LRScheduler):
    """base_lr · gamma^steps."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The present rates times gamma."""
        return self._times(1.0 if self._is_initial else self.gamma)

    def _get_closed_form_lr(self) -> list[float]:
        return [rate * self.gamma**self.last_epoch for rate in self.base_lrs]


class ConstantLR(LRScheduler):
    """base_lr · factor for total_iters steps, then base_lr."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise refused(self, f"factor {factor} is not in [0, 1]")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The present rates, which change at the first step and at the last one."""
        if self.last_epoch == 0:
            return self._times(self.factor)
        if self.last_epoch != self.total_iters:
            return rates_of(self.optimizer)
        return self._times(1.0 / self.factor) if self.factor else list(self.base_lrs)

    def _get_closed_form_lr(self) -> list[float]:
        factor = self.factor if self.last_epoch < self.total_iters else 1.0
        return [rate * factor for rate in self.base_lrs]


class LinearLR(LRScheduler):
    """Along a line from base_lr · start_factor to base_lr · end_factor."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not 0 < start_factor <= 1:
            raise refused(self, f"start_factor {start_factor} is not in (0, 1]")
        if not 0 <= end_factor <= 1:
            raise refused(self, f"end_factor {end_factor} is not in [0, 1]")
        if total_iters <= 0:
            raise refused(self, f"total_iters {total_iters} must be positive")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The present rates times the ratio of two neighbours on the line."""
        if self.last_epoch == 0:
            return self._times(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return rates_of(self.optimizer)
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return self._times(1.0 + rise / before)

    def _get_closed_form_lr(self) -> list[float]:
        rise = (self.end_factor - self.start_factor) * min(self.total_iters, self.last_epoch)
        factor = self.start_factor + rise / self.total_iters
        return [rate * factor for rate in self.base_lrs]


class PolynomialLR(LRScheduler):
    """base_lr · (1 - steps / total_iters)^power, and 0 after total_iters steps."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The present rates times the ratio of two neighbours on the curve."""
        step, length = self.last_epoch, self.total_iters
        if self._is_initial or step > length:
            return rates_of(self.optimizer)
        return self._times(((1.0 - step / length) / (1.0 - (step - 1) / length)) ** self.power)

    def _get_closed_form_lr(self) -> list[float]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [rate * left**self.power for rate in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """eta_min + (base_lr - eta_min) · (1 + cos(π · steps / T_max)) / 2."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        if T_max <= 0:
            raise refused(self, f"T_max {T_max} must be positive")
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The present rates, moved along the cosine."""
        step, length, least = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return rates_of(self.optimizer)
        if self._step_count == 1 and step > 0:
            return self._get_closed_form_lr()
        if (step - 1 - length) % (2 * length) == 0:  # The rate before was eta_min, so a ratio to it is not defined.
            height = (1 - math.cos(math.pi / length)) / 2
            return [rate + (base - least) * height for rate, base in zip(rates_of(self.optimizer), self.base_lrs)]
        ratio = (1 + math.cos(math.pi * step / length)) / (1 + math.cos(math.pi * (step - 1) / length))
        return [ratio * (rate - least) + least for rate in rates_of(self.optimizer)]

    def _get_closed_form_lr(self) -> list[float]:
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (rate - self.eta_min) * height for rate in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Repeats CosineAnnealingLR: T_0 steps, then T_mult times as many each time. step() takes fractions of an epoch
    too."""

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0:
            raise refused(self, f"T_0 {T_0} must be positive")
        if T_mult < 1:
            raise refused(self, f"T_mult {T_mult} must be positive")
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of the formula."""
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (rate - self.eta_min) * height for rate in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Changes the rates for the next step. With an epoch, sets the rates of the formula after so many steps."""
        now = self.last_epoch + 1 if epoch is None else epoch
        if now < 0:
            raise refused(self, f"the epoch {now} is negative")
        self.T_i, self.T_cur = self.T_0, now
        if self.T_mult == 1:
            self.T_cur = now % self.T_0
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
        self.last_epoch = math.floor(now)
        self._set_rates(self.get_lr())

    def _update_lr(self, epoch: int | None = None) -> None:
        self.step(epoch)


class _Several(LRScheduler):
    """The base of schedules of schedules."""

    _schedulers: list[Any]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimiser, by name. The schedules are dicts too."""
        return super().state_dict() | {"_schedulers": [schedule.state_dict() for schedule in self._schedulers]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues from a state."""
        state = state_of(self, state_dict)
        own = [f"schedules.{number}." for number in range(len(self._schedulers))]  # The form of version 0.2.
        old = [{n.removeprefix(first): v for n, v in state_dict.items() if n.startswith(first)} for first in own]
        for schedule, part in zip(self._schedulers, state.pop("_schedulers", old)):
            schedule.load_state_dict(part)
        self.__dict__.update({n: v for n, v in state.items() if not n.startswith("schedules.")})


class SequentialLR(_Several):
    """One schedule after another: the next begins at each milestone."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int], last_epoch: int = -1
    ) -> None:
        self.optimizer = checked(self, optimizer)
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        if len(self._schedulers) != len(self._milestones) + 1:
            given = f"{len(self._schedulers)} schedules and {len(self._milestones)} milestones"
            raise refused(self, f"there are {given}: the milestones must be one less")
        for schedule in self._schedulers:
            if getattr(schedule, "optimizer", None) is not optimizer:
                raise refused(self, f"the {type(schedule).__name__} belongs to another optimiser")
            if isinstance(schedule, ReduceLROnPlateau):
                raise refused(self, "ReduceLROnPlateau needs a metric in each step")
        if self._milestones != sorted(self._milestones):
            raise refused(self, f"the milestones {self._milestones} fall")
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:  # The first steps of the schedules do not count.
            group["lr"] = group["initial_lr"]
        _take_back(self._schedulers)
        first = self._schedulers[bisect_right(self._milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Changes the rates for the next step."""
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        schedule = self._schedulers[at]
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            schedule._update_lr(0)
        else:
            schedule.step()
        self._last_lr = schedule.get_last_lr()


def _take_back(schedules: Sequence[Any]) -> None:
    for schedule in schedules:
        if hasattr(schedule, "_schedulers"):
            _take_back(schedule._schedulers)
        elif hasattr(schedule, "last_epoch"):
            schedule.last_epoch -= 1


class ChainedScheduler(_Several):
    """Several schedules of one optimiser: each step is a step of each."""

    def __init__(self, schedulers: Sequence[Any], optimizer: Optimizer | None = None) -> None:
        self._schedulers = list(schedulers)
        if not self._schedulers:
            raise refused(self, "there are no schedules")
        self.optimizer = self._schedulers[0].optimizer if optimizer is None else optimizer
        for schedule in self._schedulers:
            if schedule.optimizer is not self.optimizer:
                raise refused(self, f"the {type(schedule).__name__} belongs to another optimiser")
        self._last_lr = rates_of(self.optimizer)

    def step(self, epoch: int | None = None) -> None:
        """Changes the rates for the next step."""
        for schedule in self._schedulers:
            schedule.step()
        self._last_lr = rates_of(self.optimizer)


class ReduceLROnPlateau(LRScheduler):
    """Lowers the rates when a metric no longer improves."""

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0,
        min_lr: float | Sequence[float] = 0.0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        self.optimizer = checked(self, optimizer)
        if mode not in ("min", "max"):
            raise refused(self, f"mode {mode!r} is neither min nor max")
        if threshold_mode not in ("rel", "abs"):
            raise refused(self, f"threshold_mode {threshold_mode!r} is neither rel nor abs")
        if not 0 <= factor < 1:
            raise refused(self, f"factor {factor} is not in [0, 1)")
        self.min_lrs = for_groups(self, "min_lr", min_lr)
        self.default_min_lr = min_lr if isinstance(min_lr, (int, float)) else None
        self.mode, self.factor, self.patience, self.threshold = mode, factor, patience, threshold
        self.threshold_mode, self.cooldown, self.eps = threshold_mode, cooldown, eps
        self.last_epoch = 0
        self._last_lr = rates_of(optimizer)
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse = math.inf if self.mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Call it with the metric after each validation."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = rates_of(self.optimizer)

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        if len(self.min_lrs) != len(groups):
            if self.default_min_lr is None:
                raise refused(self, f"min_lrs has {len(self.min_lrs)} values for {len(groups)} groups")
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, lowest in zip(groups, self.min_lrs):
            lower = max(group["lr"] * self.factor, lowest)
            if group["lr"] - lower > self.eps:
                group["lr"] = lower

    @property
    def in_cooldown(self) -> bool:
        """Whether no call counts as bad at present."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            return sign * a > sign * (best * (1 + sign * self.threshold))
        return sign * a > sign * best + self.threshold


def __dir__():
    return __all__
