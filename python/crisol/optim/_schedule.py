"""The base of learning-rate schedules."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .. import _saved
from .._crisol import InvalidArgumentError, Tensor
from .._crisol._optim import Optimizer


def checked(schedule: Any, optimizer: Any) -> Optimizer:
    if not isinstance(optimizer, Optimizer):
        own, given = type(schedule).__name__, type(optimizer).__name__
        raise TypeError(f"{own}(): optimizer is a {given}, and it takes optim.Optimizer")
    return optimizer


def refused(schedule: Any, text: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"[{type(schedule).__name__}] {text}")


def for_groups(schedule: Any, name: str, value: Any) -> list[Any]:
    """One value for each group: a list as it is, or the same value for all."""
    groups = len(schedule.optimizer.param_groups)
    values = list(value) if isinstance(value, (list, tuple)) else [value] * groups
    if len(values) != groups:
        raise refused(schedule, f"{name} has {len(values)} values for {groups} groups")
    return values


class LRScheduler:
    """The base of the schedules. A class of your own defines get_lr(), which returns the next rate of each group. Call
    step() after each step of the optimiser, or after each epoch."""

    _get_lr_called_within_step = _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = checked(self, optimizer)
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                text = f"group {number} has no 'initial_lr', which a schedule needs to continue after step {last_epoch}"
                raise refused(self, text)
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        """Sets the first rates."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[float]:
        """The rates after step number `last_epoch`, one for each group, from the rates before it."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr()")

    def get_last_lr(self) -> list[float]:
        """The rates that this schedule set last, one for each group."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Changes the rates for the next step. With an epoch, sets the rates of the formula after so many steps."""
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._get_lr_called_within_step = True
        try:
            formula = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
            rates = self.get_lr() if formula is None else formula()
        finally:
            self._get_lr_called_within_step = False
        self._set_rates(rates)

    def _set_rates(self, rates: Sequence[float]) -> None:
        groups = self.optimizer.param_groups
        if len(rates) != len(groups):
            raise refused(self, f"it has {len(rates)} rates, and the optimiser has {len(groups)} groups")
        for group, rate in zip(groups, rates):
            group["lr"] = rate
        self._last_lr: list[float] = rates_of(self.optimizer)

    def _times(self, factor: float) -> list[float]:
        return [rate * factor for rate in rates_of(self.optimizer)]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimiser, by name."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues from a state of state_dict(), or of a schedule of PyTorch. The optimiser's state has the rates."""
        self.__dict__.update(state_of(self, state_dict))


def rates_of(optimizer: Optimizer) -> list[float]:
    return [group["lr"] for group in optimizer.param_groups]


def state_of(schedule: Any, state: Mapping[str, Any]) -> dict[str, Any]:
    """A state as attributes. Version 0.2 stored tensors under other names."""
    state = dict(_saved.restored(state))
    if "milestones" in state:
        state["milestones"] = Counter(state["milestones"])
    if isinstance(state.get("bad"), Tensor):
        counts = {"num_bad_epochs": int(state["bad"]), "cooldown_counter": int(state["cooldown"])}
        return {"best": _exact(state["best"])[0], **counts}
    if isinstance(state.get("steps"), Tensor):
        names = sorted((name for name in state if name.startswith("base_lr")), key=lambda name: (len(name), name))
        rates = [rate for name in names for rate in _exact(state[name])]
        return {"last_epoch": int(state["steps"]), "base_lrs": rates, "_last_lr": rates_of(schedule.optimizer)}
    return state


def _exact(numbers: Tensor) -> list[float]:
    """The numbers of which each is stored as three float32."""
    return [math.fsum(parts) for parts in numbers.reshape(-1, 3).tolist()]
