"""Schedules that turn the momentum too."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from .._crisol._optim import Optimizer
from ._schedule import LRScheduler, checked, for_groups, refused


def _momentum_name(schedule: Any, optimizer: Optimizer) -> str:
    name = next((name for name in ("betas", "momentum") if name in optimizer.defaults), None)
    if name is None:
        raise refused(schedule, "cycle_momentum needs an optimiser with momentum or betas")
    return name


def _set_momentum(group: Any, name: str, value: float) -> None:
    group[name] = (value, *group["betas"][1:]) if name == "betas" else value


class CyclicLR(LRScheduler):
    """Up from base_lr to max_lr and down again: Smith 2017. mode is "triangular", "triangular2", which halves the height
    after each cycle, or "exp_range", which multiplies it by gamma at each step; or scale_fn gives the factor. The momentum
    goes the other way."""

    def __init__(
        self, optimizer: Optimizer, base_lr: float | Sequence[float], max_lr: float | Sequence[float],
        step_size_up: int = 2000, step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8, max_momentum: float | Sequence[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.optimizer = checked(self, optimizer)
        lowest, self.max_lrs = for_groups(self, "base_lr", base_lr), for_groups(self, "max_lr", max_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, lowest):
                group["lr"] = rate
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise refused(self, f"mode is {mode!r}, allowed are triangular, triangular2, exp_range")
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size, self.step_ratio = float(step_size_up + down), step_size_up / (step_size_up + down)
        self.mode, self.gamma, self._scale = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum, self.use_beta1 = cycle_momentum, "betas" in optimizer.defaults
        if cycle_momentum:
            name = _momentum_name(self, optimizer)
            self.base_momentums = for_groups(self, "base_momentum", base_momentum)
            self.max_momentums = for_groups(self, "max_momentum", max_momentum)
            for group, most in zip(optimizer.param_groups, self.max_momentums if last_epoch == -1 else ()):
                _set_momentum(group, name, most)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def scale_fn(self, x: float) -> float:
        """The factor of the height in cycle x, or with scale_mode="iterations" after x steps."""
        if self._scale is not None:
            return self._scale(x)
        return {"triangular": 1.0, "triangular2": 1 / (2.0 ** (x - 1)), "exp_range": self.gamma**x}[self.mode]

    def get_lr(self) -> list[float]:
        """The rates of the formula. Sets the momentum too."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1.0 + self.last_epoch / self.total_size - cycle
        ratio = self.step_ratio
        height = place / ratio if place <= ratio else (place - 1) / (ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            name = _momentum_name(self, self.optimizer)
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                _set_momentum(group, name, high - (high - low) * height * scale)
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimiser and scale_fn, by name."""
        return {name: value for name, value in super().state_dict().items() if name != "_scale"}


class OneCycleLR(LRScheduler):
    """Up along a cosine or a line to max_lr, then down: Smith and Topin 2018. The momentum goes the other way."""

    def __init__(
        self, optimizer: Optimizer, max_lr: float | Sequence[float], total_steps: int | None = None,
        epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
        anneal_strategy: str = "cos", cycle_momentum: bool = True, base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
        three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.optimizer = checked(self, optimizer)
        if anneal_strategy not in ("cos", "linear"):
            raise refused(self, f"anneal_strategy is 'cos' or 'linear', not {anneal_strategy!r}")
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise refused(self, "it needs total_steps, or epochs and steps_per_epoch")
        self.total_steps: int = total_steps if total_steps is not None else epochs * steps_per_epoch  # type: ignore
        if self.total_steps <= 0:
            raise refused(self, f"total_steps {self.total_steps} must be positive")
        if not 0 <= pct_start <= 1:
            raise refused(self, f"pct_start {pct_start} is not in [0, 1]")
        peak, last = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        ends = [(peak, "initial", "max"), (2 * peak, "max", "initial"), (last, "initial", "min")]
        if not three_phase:
            ends = [(peak, "initial", "max"), (last, "max", "min")]
        opposite = {"initial": "max", "max": "base", "min": "max"}
        self._schedule_phases: list[dict[str, Any]] = [
            {"end_step": end, "start_lr": f"{first}_lr", "end_lr": f"{last}_lr",
             "start_momentum": f"{opposite[first]}_momentum", "end_momentum": f"{opposite[last]}_momentum"}
            for end, first, last in ends
        ]  # fmt: skip
        self._anneal_func_type = anneal_strategy
        highest = for_groups(self, "max_lr", max_lr)
        self.cycle_momentum, self.use_beta1 = cycle_momentum, "betas" in optimizer.defaults
        slow, fast = for_groups(self, "base_momentum", base_momentum), for_groups(self, "max_momentum", max_momentum)
        for number, group in enumerate(optimizer.param_groups if last_epoch == -1 else ()):
            initial = highest[number] / div_factor
            group.update(initial_lr=initial, max_lr=highest[number], min_lr=initial / final_div_factor)
            if cycle_momentum:
                _set_momentum(group, _momentum_name(self, optimizer), fast[number])
                group.update(max_momentum=fast[number], base_momentum=slow[number])
        super().__init__(optimizer, last_epoch)

    def _between(self, first: float, last: float, share: float) -> float:
        if self._anneal_func_type == "linear":
            return (last - first) * share + first
        return last + (first - last) / 2.0 * (math.cos(math.pi * share) + 1)

    def get_lr(self) -> list[float]:
        """The rates of the formula. Sets the momentum too."""
        if self.last_epoch > self.total_steps:
            raise refused(self, f"step {self.last_epoch} is beyond total_steps {self.total_steps}")
        phases = self._schedule_phases
        at = next((i for i, phase in enumerate(phases) if self.last_epoch <= phase["end_step"]), len(phases) - 1)
        phase, start = phases[at], phases[at - 1]["end_step"] if at else 0.0
        length = phase["end_step"] - start
        # After the last step the rate stays. PyTorch follows the curve beyond its end, also below 0.
        share = min((self.last_epoch - start) / length, 1.0) if length else 1.0
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                value = self._between(group[phase["start_momentum"]], group[phase["end_momentum"]], share)
                _set_momentum(group, _momentum_name(self, self.optimizer), value)
        return rates
