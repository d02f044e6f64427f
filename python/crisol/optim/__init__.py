"""Optimisers and learning-rate schedules, under PyTorch's names."""

from collections.abc import MutableMapping

from .._crisol import _optim
from .._crisol._optim import EMA, SGD, Adam, AdamW, Lion, Optimizer, RMSprop
from . import lr_scheduler

__all__ = ["EMA", "SGD", "Adam", "AdamW", "Lion", "Optimizer", "RMSprop", "lr_scheduler"]

for _class in vars(_optim).values():
    if isinstance(_class, type):
        _class.__module__ = "crisol.optim"


class ParamGroup(MutableMapping):
    """The parameters and settings of a group. An assignment changes the setting in the optimiser."""

    def __init__(self, optimizer, number):
        self._optimizer, self._number = optimizer, number

    def _settings(self):
        return self._optimizer._group(self._number)

    def __getitem__(self, key):
        return self._settings()[key]

    def __setitem__(self, key, value):
        self._optimizer._set_group(self._number, {key: value})

    def __delitem__(self, key):
        raise TypeError("a setting of a group cannot be removed")

    def __iter__(self):
        return iter(self._settings())

    def __len__(self):
        return len(self._settings())

    def __repr__(self):
        return repr(self._settings())


def _param_groups(self):
    """The groups, in order. Each is a dict of its parameters and settings: `optimizer.param_groups[0]["lr"] = 0.1`."""
    return [ParamGroup(self, i) for i in range(len(self._groups()))]


Optimizer.param_groups = property(_param_groups)
