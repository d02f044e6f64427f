"""Optimisers and learning-rate schedules, under PyTorch's names."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any

from .._crisol import Tensor, _optim
from .._crisol._optim import EMA, SGD, Adam, AdamW, Lion, Optimizer, RMSprop
from ..nn._copies import key_of
from .._method import _method
from .._public import belongs_to
from . import lr_scheduler, swa_utils
from ._state import _entries, _is_own, parameter_of

__all__ = ["ASGD", "EMA", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Lion", "Muon"]
__all__ += ["NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "SparseAdam", "lr_scheduler", "swa_utils"]

belongs_to("crisol.optim", (_class for _class in vars(_optim).values() if isinstance(_class, type)))


class _Live(list[Any]):
    """A list that belongs to an optimiser. Each change of the list changes the optimiser."""

    def _changed(self) -> None:
        raise NotImplementedError


def _telling(name):
    change = getattr(list, name)

    def method(self, *arguments):
        before = list(self)
        result = change(self, *arguments)
        try:
            self._changed()
        except Exception:
            list.__init__(self, before)
            raise
        return result

    method.__name__, method.__doc__ = name, change.__doc__
    return method


for _name in "append clear extend insert pop remove __delitem__ __iadd__ __setitem__".split():
    setattr(_Live, _name, _telling(_name))


class _Params(_Live):
    """The parameters of a group."""

    def __init__(self, group: "ParamGroup", params: list[Any]) -> None:
        super().__init__(params)
        self._group = group

    def _changed(self) -> None:
        self._group["params"] = self


class ParamGroup(MutableMapping[str, Any]):
    """The parameters and settings of a group. Assigning to a setting changes it in the optimiser. Other entries are kept
    with the group, and change nothing. Parameters that are added or removed are added to the optimiser or removed from
    it."""

    def __init__(self, optimizer: Optimizer, entries: dict[str, Any]) -> None:
        self._optimizer, self._entries = optimizer, entries

    def _number(self) -> int:
        for number, entries in enumerate(_entries(self._optimizer)):
            if entries is self._entries:
                return number
        raise ValueError("the group is no longer one of the optimiser's groups")

    def _library(self) -> dict[str, Any]:
        return self._optimizer._group(self._number())

    def _settings(self) -> dict[str, Any]:
        return {"params": [], **self._library(), **self._entries}

    def __getitem__(self, key: str) -> Any:
        if key == "params":
            own = self._entries.get("params")
            return _Params(self, self._optimizer._parameters(self._number()) if own is None else own)
        return self._settings()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "params":
            groups = self._optimizer.param_groups
            changed = dict(self) | {"params": _list_of(value)}
            _regroup(self._optimizer, [changed if g._entries is self._entries else g for g in groups], groups)
        elif _is_own(self._optimizer) and key not in self._library():
            self._entries[key] = value
        else:
            self._entries.update(self._optimizer._set_group(self._number(), {key: value}))

    def __delitem__(self, key: str) -> None:
        if key == "params" or key in self._library():
            raise TypeError(f"the setting '{key}' of a group cannot be removed")
        del self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings())

    def __len__(self) -> int:
        return len(self._settings())

    def __repr__(self):
        return repr(dict(self))


class _ParamGroups(_Live):
    """The groups of an optimiser."""

    def __init__(self, optimizer: Optimizer) -> None:
        super().__init__(ParamGroup(optimizer, entries) for entries in _entries(optimizer))
        self._optimizer = optimizer

    def append(self, group: Any) -> None:
        """optimizer.add_param_group(group)"""
        self._optimizer.add_param_group(group)
        list.append(self, ParamGroup(self._optimizer, _entries(self._optimizer)[-1]))

    def _changed(self) -> None:
        _regroup(self._optimizer, self, self)
        list.__init__(self, _ParamGroups(self._optimizer))


def _param_groups(self) -> list[ParamGroup]:
    """The groups, in order. Each is a dict of its parameters and settings: `optimizer.param_groups[0]["lr"] = 0.1`."""
    return _ParamGroups(self)


def _set_param_groups(self, groups: Iterable[Any]) -> None:
    _regroup(self, list(groups), groups)


def _list_of(params: Any) -> list[Any]:
    return [params] if isinstance(params, Tensor) else list(params)


def _regroup(optimizer, groups, entries_of):
    """Replaces the groups. A group that was one of the optimiser's in `entries_of`, at the same place, stays the same
    group."""
    found = [dict(group) for group in groups]
    kept = [getattr(group, "_entries", None) for group in entries_of]
    if _is_own(optimizer):
        parts = [_parts_of(optimizer._own_defaults, group) for group in found]
        optimizer._set_param_groups([group for group, _ in parts])
        others = [own for _, own in parts]
    else:
        others = optimizer._set_param_groups(found)
    for number, entries in enumerate(kept):
        if entries is not None:
            entries.clear()
            entries.update(others[number])
            others[number] = entries
    _entries(optimizer)[:] = others


Optimizer.param_groups = property(_param_groups, _set_param_groups)


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
    params = [p[1] if isinstance(p, tuple) else p for p in _list_of(own["params"])]
    for p in params:
        if not isinstance(p, Tensor):
            kind = type(p).__name__
            raise TypeError(f'[optim] params are tensors, pairs (name, tensor) or dicts with "params", not a {kind}')
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
    if _is_own(self):
        param_group, own = _parts_of(self._own_defaults, param_group)
        self._add_param_group(param_group)
    else:
        own = self._add_param_group(param_group)
    _entries(self).append(own)


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
    if _is_own(self):
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

belongs_to("crisol.optim", (LBFGS, Adafactor, Muon, SparseAdam, ASGD, Adadelta, Adagrad, Adamax, NAdam, RAdam, Rprop))


def __dir__():
    return __all__
