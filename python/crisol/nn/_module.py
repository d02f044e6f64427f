"""The members of Module and of the containers that are written in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from .. import _crisol
from .._crisol import InvalidArgumentError, Tensor, _nn, asarray, float64, from_dlpack, from_torch, isdtype
from .._crisol._nn import Buffer, Parameter
from .._method import _method
from .._saved import below
from ._hooks import state_hooks

Module = _nn.Module
lazy_layers = 0  # How many were made.


class IncompatibleKeys(NamedTuple):
    """The result of load_state_dict()."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


@_method(Module)
def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
    """Iterates over the parameters of this module and of all modules below it, or without `recurse` over its own. Each
    appears once."""
    return (parameter for _, parameter in self.named_parameters("", recurse))


def _named(found, prefix, recurse):
    first = f"{prefix}." if prefix else ""
    return ((first + name, tensor) for name, tensor in found if recurse or "." not in name)


def _walk(module, path=""):
    """A module and all modules below it under all their paths."""
    yield path, module
    for name, child in module._named_children():
        yield from _walk(child, below(path, name))


def _under_all_names(module, kind):
    return (
        (below(path, name), tensor) for path, part in _walk(module) for name, tensor in getattr(part, kind).items()
    )


@_method(Module)
def named_parameters(
    self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
) -> Iterator[tuple[str, Parameter]]:
    """Iterates over the parameters with their names, such as ("features.0.weight", parameter). Without
    `remove_duplicate`, tied parameters appear under each of their names."""
    for path, module in self._named_modules() if lazy_layers else ():
        if "_lazy" in module.__dict__:
            kind = type(module).__name__
            raise InvalidArgumentError(f"[parameters] the {kind} '{path}' has none before its first call: call it once")
    found = self._named_parameters() if remove_duplicate else _under_all_names(self, "_parameters")
    return _named(found, prefix, recurse)


@_method(Module)
def buffers(self, recurse: bool = True) -> Iterator[Buffer]:
    """Iterates over the buffers of this module and of all modules below it, or without `recurse` over its own."""
    return (buffer for _, buffer in self.named_buffers("", recurse))


@_method(Module)
def named_buffers(
    self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
) -> Iterator[tuple[str, Buffer]]:
    """Iterates over the buffers with their names."""
    found = self._named_buffers() if remove_duplicate else _under_all_names(self, "_buffers")
    return _named(found, prefix, recurse)


@_method(Module)
def children(self) -> Iterator[Module]:
    """Iterates over the children, in the order in which they were added."""
    return (child for _, child in self._named_children())


@_method(Module)
def named_children(self) -> Iterator[tuple[str, Module]]:
    """Iterates over the children with their names."""
    return iter(self._named_children())


@_method(Module)
def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
    """Iterates over this module and all modules below it. Each appears once, or without `remove_duplicate` once for each
    of its paths."""
    return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))


@_method(Module)
def named_modules(
    self, memo: Any = None, prefix: str = "", remove_duplicate: bool = True
) -> Iterator[tuple[str, Module]]:
    """Iterates over this module, with the name "", and all modules below it, with their paths. Without
    `remove_duplicate`, a shared module appears under each of its paths."""
    found = self._named_modules() if remove_duplicate else _walk(self)
    return ((".".join(filter(None, (prefix, path))), module) for path, module in found)


@_method(Module)
def get_submodule(self, target: str) -> Any:
    """The module with this path below this module, such as "features.0". For "" it is this module."""
    module = self
    for name in target.split(".") if target else ():
        found = dict(module._named_children()).get(name)
        if found is None:
            raise AttributeError(f"{type(module).__name__} has no module '{name}'")
        module = found
    return module


@_method(Module)
def set_submodule(self, target: str, module: Module) -> None:
    """Replaces the module with this path below this module, such as "features.0"."""
    *path, name = target.split(".")
    owner = self.get_submodule(".".join(path))
    owner.get_submodule(name)
    if name.isdigit():
        owner[int(name)] = module
    else:
        setattr(owner, name, module)


@_method(Module)
def register_parameter(self, name: str, param: Parameter | None) -> None:
    """Registers a parameter, which becomes the attribute `name`. None means that there is no parameter."""
    setattr(self, name, param)


@_method(Module)
def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
    """Registers a tensor that belongs to the state, but is not trained. It becomes the attribute `name`.

    With persistent=False it moves with the module, but state_dict() leaves it out.
    """
    if tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(f"register_buffer(): '{name}' is a {type(tensor).__name__}, and it takes a tensor or None")
    setattr(self, name, tensor if tensor is None or isinstance(tensor, _nn.Buffer) else _nn.Buffer(tensor))
    if tensor is None:
        self._note_absent_buffer(name)
    transient = self.__dict__.get("_transient", frozenset())
    self._transient = transient - {name} if persistent else transient | {name}


def _transient_names(module):
    return {below(path, name) for path, part in module._named_modules() for name in part.__dict__.get("_transient", ())}


@_method(Module)
def state_dict(
    self, *, destination: dict[str, Tensor] | None = None, prefix: str = "", keep_vars: bool = False
) -> dict[str, Tensor]:
    """Parameters and buffers by name. The tensors share the memory of the module, but have no gradients. Buffers that
    were registered with persistent=False are left out. With keep_vars they are the module's parameters themselves.
    A module with get_extra_state() adds its result as "_extra_state"."""
    transient, found = _transient_names(self), {} if destination is None else destination
    parts = [(module, f"{prefix}{path}." if path else prefix) for path, module in self._named_modules()]
    for module, first in parts:
        for hook in state_hooks(module, "state_pre"):
            hook.function(module, first, keep_vars)
    own = dict(self.named_parameters()) if keep_vars else {}
    for name, tensor in self._state_dict().items():
        if name not in transient:
            found[prefix + name] = own.get(name, tensor)
    for module, first in reversed(parts):
        if hasattr(type(module), "get_extra_state"):
            found[first + "_extra_state"] = module.get_extra_state()
        for hook in state_hooks(module, "state"):
            hook.function(module, found, first, {})
    return found


@_method(Module)
def register_module(self, name: str, module: Module) -> None:
    """Registers a child under a name: add_module(name, module)."""
    self.add_module(name, module)


def _value(value):
    """A value of a state dict as a tensor: a tensor of crisol or of PyTorch, or an array."""
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "__dlpack__") and hasattr(value, "detach"):  # A tensor of PyTorch.
        value = value.detach()
        # PyTorch may change memory of the host before the device has read it, so that memory is copied.
        return from_torch(value) if value.device.type == "crisol" else from_dlpack(value.cpu(), copy=True)
    return asarray(value) if hasattr(value, "__array__") else value


@_method(Module)
def load_state_dict(
    self, state_dict: Mapping[str, Tensor], strict: bool = True, assign: bool = False
) -> IncompatibleKeys:
    """Copies values into parameters and buffers, and converts them to their dtype and device. Values are tensors,
    tensors of PyTorch, or arrays. With `assign`, the module gets new parameters instead, with the memory, the dtype and
    the device of the values. Make the optimiser afterwards.

    `state_dict` must have every name of this module, with the same shape, and no other name. Otherwise this raises
    InvalidArgumentError with all differences, and changes nothing. Without `strict`, missing and unexpected names are
    no error. Returns both lists of names.

    A module with set_extra_state(state) gets the value of "_extra_state". If its class defines
    _load_from_state_dict(), this method is called before, with a copy of the dict that it may change.
    """
    if not isinstance(state_dict, Mapping):
        advice = ": give its state_dict()" if isinstance(state_dict, Module) else ""
        kind = type(state_dict).__name__
        raise TypeError(f"load_state_dict() takes a dict of tensors by name, not a {kind}{advice}")
    parts = [(module, f"{path}." if path else "") for path, module in self._named_modules()]
    state_dict, extra = _prepared(parts, dict(state_dict), strict)
    transient = _transient_names(self)
    own = {name: tensor.clone() for name, tensor in self._state_dict().items() if name in transient}
    unexpected = sorted(transient.intersection(state_dict))
    if strict and unexpected:
        raise InvalidArgumentError(f"[load_state_dict] the buffers {unexpected} are not persistent")
    given = {name: _value(value) for name, value in state_dict.items()}
    hooks = [(module, hook) for module, _ in reversed(parts) for hook in state_hooks(module, "load")]
    at_once = strict and not hooks
    keys = _assign(self, given, own, at_once) if assign else _copy(self, given, own, at_once)
    keys.unexpected_keys[:0] = unexpected
    for module, value in extra:
        module.set_extra_state(value)
    for module, hook in hooks:
        hook.function(module, keys)
    if strict and (keys.missing_keys or keys.unexpected_keys):
        raise InvalidArgumentError(f"[load_state_dict] {keys}")
    return keys


def _prepared(parts, state, strict):
    """Lets hooks and classes of programs change a state. Returns the state, and pairs of modules and extra states."""
    extra, errors = [], []
    for module, first in parts:
        calls = [functools.partial(hook.function, module) for hook in state_hooks(module, "load_pre")]
        if type(module)._load_from_state_dict is not Module._load_from_state_dict:
            calls.append(module._load_from_state_dict)
        for call in calls:
            call(state, first, {}, strict, [], [], errors)
        key = first + "_extra_state"
        if hasattr(type(module), "set_extra_state"):
            if key in state:
                extra.append((module, state.pop(key)))
            elif strict:
                errors.append(f"missing: {key}")
    if errors:
        raise InvalidArgumentError("\n  ".join(["[load_state_dict] the state does not fit:", *errors]))
    return state, extra


@_method(Module)
def _load_from_state_dict(
    self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
    unexpected_keys: list[str], error_msgs: list[str],
) -> None:  # fmt: skip
    """Does nothing: load_state_dict() reads the dict afterwards."""


def _copy(self, given, own, strict):
    for name, tensor in self._state_dict().items():  # As in PyTorch, tensors keep their dtype.
        value = given.get(name)
        if isinstance(value, Tensor) and value.dtype is float64 and isdtype(tensor.dtype, "real floating"):
            given[name] = value.to(tensor.dtype)
    return IncompatibleKeys(*self._load_state_dict({**given, **own}, strict))


def _assign(self, given, own, strict):
    # A tensor that is copied to itself lets the library check names and shapes.
    present = self._state_dict()
    fits = {n for n, value in given.items() if n in present and present[n].shape == value.shape}
    fitting = {n: present[n] if n in fits else value for n, value in given.items()}
    missing, others = self._load_state_dict({**fitting, **own}, strict)
    entries = [
        (module, name, old, below(path, name))
        for path, module in self._named_modules()
        for name, old in (*module._parameters.items(), *module._buffers.items())
    ]
    # Tied parameters stay tied, also if only one of their names is given.
    values = {_identity(old): given[key] for _, _, old, key in reversed(entries) if key in given}
    made: dict[Any, Parameter] = {}
    for module, name, old, _ in entries:
        place = _identity(old)
        if place not in values:
            continue
        if isinstance(old, Buffer):
            _nn._take_elements(old, values[place])
            continue
        if place not in made:
            made[place] = Parameter(values[place].detach(), old.requires_grad)
        setattr(module, name, made[place])
    return IncompatibleKeys(missing, others)


def _identity(tensor):
    return (_nn._place(tensor), tensor.shape) if tensor.numel() else id(tensor)


@_method(Module)
def apply(self, fn: Callable[[Module], object]) -> Self:
    """Calls fn with every module below this module, and then with this module. Children come before their parents."""
    for child in self.children():
        child.apply(fn)
    fn(self)
    return self


@_method(Module)
def requires_grad_(self, requires_grad: bool = True) -> Self:
    """Sets whether all parameters want a gradient. False freezes them. Returns this module."""
    for parameter in self.parameters():
        parameter.requires_grad_(requires_grad)
    return self


_to_device = Module.to


@_method(Module)
def to(
    self, device: Any = None, dtype: Any = None, non_blocking: bool = False, *, memory_format: Any = None
) -> Self:
    """Moves parameters, their gradients and buffers to a device. Views, detach() and state_dict() that were taken before
    keep the old memory. Make the optimiser after this call. A floating-point dtype converts them too. Returns this
    module."""
    if isinstance(device, Tensor):
        device, dtype = device.device, device.dtype
    elif device is not None and not isinstance(device, (str, _crisol.device)):
        device, dtype = None, device
    if dtype is not None and not isinstance(dtype, _crisol.dtype):
        raise TypeError(f"Module.to(): dtype is {dtype!r}, which no tensor has")
    if dtype is not None:
        self._to_dtype(dtype)
    return self if device is None else _to_device(self, device)


@_method(Module)
def cpu(self) -> Self:
    """Moves this module to a CPU, if there is an OpenCL device that is one."""
    found = next((device for device in _crisol.devices() if device.type == "cpu"), None)
    return self if found is None else self.to(found)


@_method(Module)
def cuda(self, device: Any = None) -> Self:
    """Moves this module to a GPU."""
    return self.to("gpu" if device is None or isinstance(device, int) else device)


def _float32(self) -> Self:
    """Converts floating-point parameters and buffers to float32."""
    return self.to(_crisol.float32)


Module.float = _float32


def _of_type(self, dst_type: Any) -> Self:
    """Converts floating-point parameters and buffers to a dtype: to(dst_type)."""
    return self.to(dst_type)


Module.type = _of_type


@_method(Module)
def double(self) -> Self:
    """Converts floating-point parameters and buffers to float64."""
    return self.to(_crisol.float64)


@_method(Module)
def half(self) -> Self:
    """Converts floating-point parameters and buffers to float16."""
    return self.to(_crisol.float16)


@_method(Module)
def bfloat16(self) -> Self:
    """Converts floating-point parameters and buffers to bfloat16."""
    return self.to(_crisol.bfloat16)


@_method(Module)
def share_memory(self) -> Self:
    """Has no effect. Returns this module."""
    return self


@_method(Module)
def compile(self, *args: Any, **kwargs: Any) -> None:
    """Has no effect. crisol.compile(module, x) gives a compiled program."""


def _names_of(self):
    names = {name for name, _ in self._named_children()}
    for name, _ in self._named_parameters() + self._named_buffers():
        names.add(name.partition(".")[0])
    return sorted(names.union(object.__dir__(self)))


Module.__dir__ = _names_of  # A function named __dir__ would replace the __dir__ of this Python module.


def _own(kind):
    """A property: the module's own entries of one kind by name. A change of it would not reach the module, so it cannot
    be changed."""

    def entries(self) -> Mapping[str, Any]:
        """The module's own entries, by name."""
        found = dict(getattr(self, kind)())
        return MappingProxyType({name: entry for name, entry in found.items() if "." not in name})

    return property(entries)


Module._modules, Module._parameters = _own("_named_children"), _own("_named_parameters")
Module._buffers = _own("_named_buffers")
