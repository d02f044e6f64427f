"""The states of optimisers, as objects and as dicts in PyTorch's form.

An optimiser class written in Python may have any settings. The library stores those settings that schedules change.
Attributes of the optimiser store the others, and the parameter objects.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any

from .. import _saved
from .._crisol import InvalidArgumentError, Tensor, asarray, float32
from .._crisol._nn import Parameter
from .._crisol._optim import Optimizer
from ..autograd import no_grad
from ..nn._copies import place_of
from .._method import _method


def _is_own(optimizer):
    """Whether the class of an optimiser is written in Python."""
    return "_own_settings" in optimizer.__dict__


def _entries(optimizer):
    """By group: the entries that the library does not keep."""
    return optimizer.__dict__["_own_settings" if _is_own(optimizer) else "_own_entries"]


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


def _has_steps(tensors, number):
    return tensors[f"progress.{number}"][0].item() > 0


def _state_of(tensors, number):
    """The state of a parameter by PyTorch's names, from the tensors of the library's state."""
    state = {}
    if _has_steps(tensors, number):
        state["step"] = tensors[f"progress.{number}"][0]
        for name, tensor in tensors.items():
            kind, _, owner = name.rpartition(".")
            if owner == str(number) and kind not in ("progress", "lr", "momentum"):
                state[kind] = tensor
    return state


def _states_of(tensors, count):
    """The states of those of `count` parameters that have one, by number."""
    found = {i: _state_of(tensors, i) for i in range(count)}
    return {i: state for i, state in found.items() if state}


class OptimizerState(MutableMapping[Tensor, ParameterState]):
    """The states of the parameters that have taken a step. Other parameters have an empty state. Assigning a dict to a
    parameter replaces its state, and without a state its next step is the first."""

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer
        self._parameters = [parameter_of(p) for p in _parameters_of(optimizer)]
        self._tensors = optimizer._state_dict()

    def _number(self, parameter: Tensor) -> int:
        for number, own in enumerate(self._parameters):
            if place_of(own) == place_of(parameter):
                return number
        raise KeyError(parameter)

    def __getitem__(self, parameter: Tensor) -> ParameterState:
        return ParameterState(_state_of(self._tensors, self._number(parameter)))

    def __setitem__(self, parameter: Tensor, entry: Mapping[str, Any]) -> None:
        states = _states_of(self._tensors, len(self._parameters)) | {self._number(parameter): dict(entry)}
        _load_states(self._optimizer, states)
        self._tensors = self._optimizer._state_dict()

    def __delitem__(self, parameter: Tensor) -> None:
        self[parameter] = {}

    def __iter__(self) -> Iterator[Tensor]:
        return (p for number, p in enumerate(self._parameters) if _has_steps(self._tensors, number))

    def __len__(self) -> int:
        return sum(_has_steps(self._tensors, number) for number in range(len(self._parameters)))

    def __repr__(self):
        return repr(list(self.items()))


def parameter_of(tensor):
    """The parameter of which a tensor is a handle."""
    return tensor if isinstance(tensor, Parameter) else Parameter(tensor, tensor.requires_grad)


def _parameters_of(optimizer):
    return [p for number in range(optimizer._group_count()) for p in optimizer._parameters(number)]


def _state(self) -> Any:
    """The states: state[p] is a dict for each parameter, with entries such as state[p]["exp_avg"]. Before the first
    step it is empty."""
    return self._own_state if _is_own(self) else OptimizerState(self)


def _set_state(self, state: Mapping[Tensor, Any]) -> None:
    if _is_own(self):
        self._own_state = state
    else:
        _load_states(self, {i: dict(state[p]) for i, p in enumerate(_parameters_of(self)) if p in state})


def _defaults(self) -> Mapping[str, Any]:
    """The defaults for settings that a group does not give. Those of the library's optimisers cannot be changed."""
    return self._own_defaults if _is_own(self) else MappingProxyType(self._default_settings())


Optimizer.state = property(_state, _set_state)
Optimizer.defaults = property(_defaults)


def _states(optimizer):
    """The states of the parameters that have one, by number."""
    if _is_own(optimizer):
        parameters = [p for group in _entries(optimizer) for p in group["params"]]
        return {i: dict(optimizer._own_state[p]) for i, p in enumerate(parameters) if p in optimizer._own_state}
    return _states_of(optimizer._state_dict(), len(_parameters_of(optimizer)))


def _numbered(groups):
    """The groups with the numbers of their parameters in place of the parameters."""
    first, numbered = 0, []
    for group in groups:
        count = len(group["params"])
        settings = {name: value for name, value in group.items() if name != "params"}
        numbered.append(settings | {"params": list(range(first, first + count))})
        first += count
    return numbered


@_method(Optimizer)
def state_dict(self) -> dict[str, Any]:
    """The state in PyTorch's form: {"state": {0: {"exp_avg": …}, …}, "param_groups": [{"lr": …, "params": [0, …]}, …]}.
    crisol.save() stores it."""
    return {"state": _states(self), "param_groups": _numbered(self.param_groups)}


@_method(Optimizer)
def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
    """Restores a state from state_dict(), also one of PyTorch's optimiser with the same rule. Training then continues
    with exactly the same results."""
    state_dict = _saved.restored(state_dict)
    if "param_groups" not in state_dict:
        return self._load_state_dict(state_dict)  # The form in which version 0.2 stored states.
    groups = self.param_groups
    _load(groups, [len(group["params"]) for group in groups], state_dict, lambda states: _load_states(self, states))


def _load(groups, sizes, state_dict, load_states):
    """Loads a state in PyTorch's form: settings into groups of these numbers of parameters, and states by number."""
    saved = state_dict["param_groups"]
    numbers = _numbers_of(saved, sizes)
    unknown = [key for key in state_dict["state"] if key not in numbers]
    if unknown:
        raise InvalidArgumentError(f"[load_state_dict] {unknown[0]} is no parameter: there are {len(numbers)}")
    before = [dict(group) for group in groups]
    try:
        for group, settings in zip(groups, saved):
            _change(group, settings)
        load_states({numbers[key]: entry for key, entry in state_dict["state"].items()})
    except Exception:
        for group, settings in zip(groups, before):
            _change(group, settings)
        raise


def _numbers_of(saved, own):
    """The number of the parameter for each key of a saved state. `own` has the numbers of parameters of the groups."""
    sizes = [len(group["params"]) for group in saved]
    if sizes != own:
        raise InvalidArgumentError(
            f"[load_state_dict] the saved groups have {sizes} parameters, and the optimiser's groups {own}"
        )
    keys = [key for group in saved for key in group["params"]]
    return {key: number for number, key in enumerate(keys)}


def _change(group, settings):
    for name, value in settings.items():
        if name != "params" and (name not in group or group[name] != value):
            group[name] = value


def _load_states(optimizer, states):
    if _is_own(optimizer):
        parameters = [p for group in _entries(optimizer) for p in group["params"]]
        loaded = defaultdict(dict)
        for number, entry in states.items():
            place = parameters[number].device
            copied = {n: v.detach().to(place).clone() if isinstance(v, Tensor) else v for n, v in entry.items()}
            loaded[parameters[number]] = copied
        optimizer._own_state = loaded
        return
    optimizer._load_state_dict(_filled(optimizer._state_dict(), states))


def _filled(tensors, states):
    """The tensors of the library's state, with values from states by number."""
    filled = dict(tensors)
    for name, tensor in tensors.items():
        kind, _, number = name.rpartition(".")
        if kind and kind not in ("lr", "momentum"):
            filled[name] = _loaded(kind, tensor, dict(states.get(int(number), {})))
    for number, entry in states.items():
        unknown = [n for n, v in entry.items() if n != "step" and v is not None and f"{n}.{number}" not in tensors]
        if unknown:
            raise InvalidArgumentError(f"[load_state_dict] the optimiser has no state '{unknown[0]}' with its settings")
    return filled


def _loaded(kind, tensor, entry):
    """The new value of an optimiser's tensor. SGD of PyTorch counts no steps."""
    if kind == "progress":
        step = float(entry.get("step", 1 if entry else 0))
        return asarray([step, 0.0, 0.0, 0.0], dtype=float32, device=tensor.device)
    value = entry.get(kind)
    return tensor.detach() * 0 if value is None else asarray(value).to(tensor.device).to(tensor.dtype)
