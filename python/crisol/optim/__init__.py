"""Optimisers and learning-rate schedules, under PyTorch's names."""

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from .._crisol import InvalidArgumentError, Tensor, _optim, asarray, int64
from .._crisol._nn import Parameter
from .._crisol._optim import EMA, SGD, Adam, AdamW, Lion, Optimizer, RMSprop
from ..autograd import no_grad
from ..nn._copies import key_of, one_object, place_of
from .._method import _method
from . import lr_scheduler, swa_utils

__all__ = ["ASGD", "EMA", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Lion", "Muon"]
__all__ += ["NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "SparseAdam", "lr_scheduler", "swa_utils"]

for _class in vars(_optim).values():
    if isinstance(_class, type):
        _class.__module__ = "crisol.optim"


class ParamGroup(MutableMapping[str, Any]):
    """The parameters and settings of a group. Assigning to a setting changes it in the optimiser."""

    def __init__(self, optimizer: Optimizer, number: int) -> None:
        self._optimizer, self._number = optimizer, number

    def _settings(self) -> dict[str, Any]:
        settings = self._optimizer._group(self._number)
        own = _own_settings(self._optimizer)
        return settings | own[self._number] if own else settings

    def __getitem__(self, key: str) -> Any:
        return self._settings()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        own = _own_settings(self._optimizer)
        if own and key not in self._optimizer._group(self._number):
            own[self._number][key] = value
        else:
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


# An optimiser class written in Python may have any settings. The library stores those settings that schedules change.
# Attributes of the optimiser store the others, and the parameter objects.


def _own_settings(optimizer):
    return optimizer.__dict__.get("_own_settings", [])


def _parts_of(defaults, group):
    """Splits a group into two parts: the library's part, and Python's part."""
    own = {**defaults, **group}
    params = own["params"]
    params = [params] if isinstance(params, Tensor) else [p[1] if isinstance(p, tuple) else p for p in params]
    kept = {name: own.pop(name) for name in _scheduled(defaults)}
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
        self._add_param_group(param_group)


class ParameterState(MutableMapping[str, Any]):
    """The state of a parameter: tensors by name. Assigning to an entry copies the value into the optimiser's tensor."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self._tensors = tensors

    def __getitem__(self, name: str) -> Tensor:
        return self._tensors[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self._tensors:
            raise KeyError(f"the optimiser has no state '{name}' for this parameter, only {list(self._tensors)}")
        with no_grad():
            self._tensors[name].copy_(asarray(value))

    def __delitem__(self, name: str) -> None:
        raise TypeError("a state of a parameter cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self):
        return repr(self._tensors)


class OptimizerState(Mapping[Tensor, ParameterState]):
    """The states of the parameters that have taken a step. Other parameters have an empty state."""

    def __init__(self, optimizer: Optimizer) -> None:
        self._parameters = [one_object(Parameter(p, p.requires_grad)) for p in _parameters_of(optimizer)]
        self._tensors = optimizer._state_dict()

    def _has_steps(self, number):
        return self._tensors[f"progress.{number}"][0].item() > 0

    def __getitem__(self, parameter: Tensor) -> ParameterState:
        for number, own in enumerate(self._parameters):
            if place_of(own) == place_of(parameter):
                return ParameterState(self._state_of(number))
        raise KeyError(parameter)

    def _state_of(self, number):
        state = {}
        if self._has_steps(number):
            state["step"] = self._tensors[f"progress.{number}"][0]
            for name, tensor in self._tensors.items():
                kind, _, owner = name.rpartition(".")
                if owner == str(number) and kind not in ("progress", "lr", "momentum"):
                    state[kind] = tensor
        return state

    def __iter__(self) -> Iterator[Tensor]:
        return (p for number, p in enumerate(self._parameters) if self._has_steps(number))

    def __len__(self) -> int:
        return sum(map(self._has_steps, range(len(self._parameters))))

    def __repr__(self):
        return repr(list(self.items()))


def _parameters_of(optimizer):
    return [p for group in optimizer._groups() for p in group["params"]]


def _state(self) -> Any:
    """The states: state[p] is a dict for each parameter, with entries such as state[p]["exp_avg"]. Before the first
    step it is empty."""
    return self._own_state if _own_settings(self) else OptimizerState(self)


def _defaults(self) -> dict[str, Any]:
    """The defaults for settings that a group does not give."""
    return self._own_defaults if _own_settings(self) else self._default_settings()


Optimizer.state = property(_state)
Optimizer.defaults = property(_defaults)


def _own_parameters(optimizer):
    return [p for settings in _own_settings(optimizer) for p in settings["params"]]


def _encoded(name, value):
    """A state entry as a tensor, and the kind that is needed to read it again. Numbers keep all bits."""
    if isinstance(value, Tensor):
        return "tensor", value.detach()
    if isinstance(value, int):
        return "int", asarray(value, dtype=int64)
    if isinstance(value, float):
        return "float", asarray(struct.unpack("<q", struct.pack("<d", value))[0], dtype=int64)
    raise TypeError(f"[state_dict] the state '{name}' is a {type(value).__name__}, allowed are tensors and numbers")


def _decoded(kind, tensor, parameter):
    if kind == "tensor":
        return tensor.to(parameter.device).clone()
    number = tensor.item()
    return number if kind == "int" else struct.unpack("<d", struct.pack("<q", number))[0]


@_method(Optimizer)
def state_dict(self) -> dict[str, Tensor]:
    """The state as tensors by name, in the form that crisol.save() stores."""
    entries = self._state_dict()
    for number, p in enumerate(_own_parameters(self)):
        for name, value in self._own_state.get(p, {}).items():
            kind, tensor = _encoded(name, value)
            entries[f"{kind}.{number}.{name}"] = tensor
    return entries


@_method(Optimizer)
def load_state_dict(self, state_dict: Mapping[str, Tensor]) -> None:
    """Restores a state from state_dict(). Training then continues with exactly the same results."""
    parameters = _own_parameters(self)
    entries, state = dict(state_dict), defaultdict(dict)
    for entry in state_dict:
        kind, _, rest = entry.partition(".")
        number, _, name = rest.partition(".")
        if parameters and kind in ("tensor", "int", "float") and number.isdecimal() and name:
            if int(number) >= len(parameters):
                raise InvalidArgumentError(f"[load_state_dict] '{entry}': there are {len(parameters)} parameters")
            parameter = parameters[int(number)]
            state[parameter][name] = _decoded(kind, entries.pop(entry), parameter)
    self._load_state_dict(entries)
    if parameters:
        self._own_state = state


def _groups_for_copies(optimizer):
    """The groups with the same parameter objects that copies of modules use. So copies of an optimiser and its module
    share parameters."""
    for group in optimizer.param_groups:
        yield dict(group) | {"params": [one_object(Parameter(p, p.requires_grad)) for p in group["params"]]}


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
