"""Optimisers and learning-rate schedules, under PyTorch's names."""

from collections.abc import Iterator, MutableMapping
from typing import Any

from .._crisol import _optim
from .._crisol._nn import Parameter
from .._crisol._optim import EMA, SGD, Adam, AdamW, Lion, Optimizer, RMSprop
from ..nn._copies import one_object
from . import lr_scheduler

__all__ = ["EMA", "SGD", "Adam", "AdamW", "Lion", "Optimizer", "RMSprop", "lr_scheduler"]

for _class in vars(_optim).values():
    if isinstance(_class, type):
        _class.__module__ = "crisol.optim"


class ParamGroup(MutableMapping[str, Any]):
    """The parameters and settings of a group. An assignment changes the setting in the optimiser."""

    def __init__(self, optimizer: Optimizer, number: int) -> None:
        self._optimizer, self._number = optimizer, number

    def _settings(self) -> dict[str, Any]:
        return self._optimizer._group(self._number)

    def __getitem__(self, key: str) -> Any:
        return self._settings()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._optimizer._set_group(self._number, {key: value})

    def __delitem__(self, key: str) -> None:
        raise TypeError("a setting of a group cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings())

    def __len__(self) -> int:
        return len(self._settings())

    def __repr__(self):
        return repr(self._settings())


def _param_groups(self) -> list[ParamGroup]:
    """The groups, in order. Each is a dict of its parameters and settings: `optimizer.param_groups[0]["lr"] = 0.1`."""
    return [ParamGroup(self, i) for i in range(len(self._groups()))]


Optimizer.param_groups = property(_param_groups)


def _groups_for_copies(optimizer):
    """The groups with the objects by which modules are copied, so that a copy of both has the same parameters."""
    for group in optimizer._groups():
        yield group | {"params": [one_object(Parameter(p, p.requires_grad)) for p in group["params"]]}


def _reduce(self, protocol):
    return type(self), (list(_groups_for_copies(self)),), (self.state_dict(), self.__dict__)


def _set_state(self, state):
    self.load_state_dict(state[0])
    self.__dict__.update(state[1])


Optimizer.__reduce_ex__ = _reduce
Optimizer.__setstate__ = _set_state


def __dir__():
    return __all__
