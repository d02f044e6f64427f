"""Optimisers and learning-rate schedules, under PyTorch's names."""

from collections import defaultdict
from collections.abc import Iterator, MutableMapping
from typing import Any

from .._crisol import Tensor, _optim
from .._crisol._optim import EMA, SGD, Adam, AdamW, Lion, Optimizer, RMSprop
from ..nn._copies import key_of
from .._method import _method
from . import lr_scheduler, swa_utils
from ._state import _entries, _own_settings, parameter_of

__all__ = ["ASGD", "EMA", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Lion", "Muon"]
__all__ += ["NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "SparseAdam", "lr_scheduler", "swa_utils"]

for _class in vars(_optim).values():
    if isinstance(_class, type):
        _class.__module__ = "crisol.optim"


class ParamGroup(MutableMapping[str, Any]):
    """The parameters and settings of a group. Assigning to a setting changes it in the optimiser. Other entries are kept
    with the group, and change nothing."""

    def __init__(self, optimizer: Optimizer, number: int) -> None:
        self._optimizer, self._number = optimizer, number

    def _settings(self) -> dict[str, Any]:
        return self._optimizer._group(self._number) | _entries(self._optimizer, self._number)

    def __getitem__(self, key: str) -> Any:
        return self._settings()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        entries = _entries(self._optimizer, self._number)
        if _own_settings(self._optimizer) and key not in self._optimizer._group(self._number):
            entries[key] = value
        else:
            entries.update(self._optimizer._set_group(self._number, {key: value}))

    def __delitem__(self, key: str) -> None:
        if key in self._optimizer._group(self._number):
            raise TypeError(f"the setting '{key}' of a group cannot be removed")
        del _entries(self._optimizer, self._number)[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings())

    def __len__(self) -> int:
        return len(self._settings())

    def __repr__(self):
        return repr(self._settings())


class _ParamGroups(list[ParamGroup]):
    """The groups of an optimiser. A group that is appended becomes one of the optimiser's."""

    def __init__(self, optimizer: Optimizer) -> None:
        super().__init__(ParamGroup(optimizer, number) for number in range(len(optimizer._groups())))
        self._optimizer = optimizer

    def append(self, group: Any) -> None:
        """optimizer.add_param_group(group)"""
        self._optimizer.add_param_group(group)
        super().append(ParamGroup(self._optimizer, len(self)))


def _param_groups(self) -> list[ParamGroup]:
    """The groups, in order. Each is a dict of its parameters and settings: `optimizer.param_groups[0]["lr"] = 0.1`."""
    return _ParamGroups(self)


Optimizer.param_groups = property(_param_groups)


def _repr(self) -> str:
    """The settings of each group, in PyTorch's form."""
    lines = [f"{type(self).__name__} ("]
    for number, group in enumerate(self.param_groups):
        lines.append(f"Parameter Group {number}")
        lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
    return "\n".join([*lines, ")"])


Optimizer.__repr__ = _repr


def _parts_of(defaults, group):
    """Splits a group into two parts: the library's part, and Python's part."""
    own = {**defaults, **group}
    params = own["params"]
    params = [params] if isinstance(params, Tensor) else [p[1] if isinstance(p, tuple) else p for p in params]
    kept = {name: own.pop(name) for name in (*_scheduled(defaults), "initial_lr") if name in own}
    own["params"] = list({key_of(p): p for p in params}.values())
    return {**kept, "params": own["params"]}, own


def _scheduled(defaults):
    if "lr" not in defaults:
        raise ValueError('the defaults of an optimiser need an "lr"')
    pair = len(defaults.get("betas", ())) == 2
    return [name for name in ("lr", "momentum", "betas") if name in defaults and (name != "betas" or pair)]


def _prepare(optimizer, params, defaults):
    """Called by Optimizer.__init__(). Returns the library's part of the groups and of the defaults."""
    groups = list(params)
    if not any(isinstance(entry, dict) for entry in groups):
        groups = [{"params": groups}]
    elif not all(isinstance(entry, dict) for entry in groups):
        raise TypeError("params are tensors or dicts, not both")
    parts = [_parts_of(defaults, group) for group in groups]
    optimizer._own_settings = [own for _, own in parts]
    optimizer._own_state = defaultdict(dict)
    optimizer._own_defaults = dict(defaults)
    return [kept for kept, _ in parts], {name: defaults[name] for name in _scheduled(defaults)}


@_method(Optimizer)
def add_param_group(self, param_group: dict[str, Any]) -> None:
    """Adds a group: a dict with "params" and settings."""
    if own_settings := _own_settings(self):
        param_group, own = _parts_of(self._own_defaults, param_group)
        self._add_param_group(param_group)
        own_settings.append(own)
    else:
        entries = self._add_param_group(param_group)
        _entries(self, len(self._groups()) - 1).update(entries)


def _groups_for_copies(optimizer):
    """The groups with the same parameter objects that copies of modules use. So copies of an optimiser and its module
    share parameters."""
    for group in optimizer.param_groups:
        yield dict(group) | {"params": [parameter_of(p) for p in group["params"]]}


def _rebuild(cls, groups, defaults):
    """A copy of an optimiser whose class is written in Python. Its __init__ is not called."""
    optimizer = cls.__new__(cls)
    Optimizer.__init__(optimizer, groups, defaults)
    return optimizer


def _reduce(self, protocol):
    attributes = {name: value for name, value in self.__dict__.items() if not name.startswith("_own_")}
    state = self.state_dict(), attributes
    groups = list(_groups_for_copies(self))
    if _own_settings(self):
        return _rebuild, (type(self), groups, self.defaults), state
    return type(self), (groups,), state


def _set_state(self, state):
    self.load_state_dict(state[0])
    self.__dict__.update(state[1])


Optimizer.__reduce_ex__ = _reduce
Optimizer.__setstate__ = _set_state


from ._lbfgs import LBFGS  # noqa: E402
from ._matrix_rules import Adafactor, Muon, SparseAdam  # noqa: E402
from ._rules import ASGD, Adadelta, Adagrad, Adamax, NAdam, RAdam, Rprop  # noqa: E402

for _class in (LBFGS, Adafactor, Muon, SparseAdam, ASGD, Adadelta, Adagrad, Adamax, NAdam, RAdam, Rprop):
    _class.__module__ = "crisol.optim"


def __dir__():
    return __all__
