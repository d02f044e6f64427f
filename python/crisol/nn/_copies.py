"""Copies and pickles of modules and parameters.

A module is made again by the constructor of its class in the library, with the original arguments. Then its state is
restored: attributes, children and tensors. A Python __init__ is not called. Copies have the hooks too, but pickles do
not.
"""

import copy
from weakref import WeakValueDictionary

from .. import _crisol
from .._crisol import _nn
from ._hooks import copy_hooks
from .._method import _method
from ._module import Module
from ._settings import names_of_arguments

_LIBRARY = {value for value in (*vars(_nn).values(), _crisol._onnx.Model) if isinstance(value, type)}
_CONTAINERS = (_nn.Sequential, _nn.ModuleList, _nn.ModuleDict)
_objects = WeakValueDictionary()


def one_object(tensor):
    """The same Python object for all handles of a parameter. Pickles and copies keep parameters tied only if they are
    one object."""
    if tensor.size == 0:
        return tensor
    key = key_of(tensor)
    known = _objects.get(key)
    if known is None or key_of(known) != key:  # The known parameter was moved to other memory.
        _objects[key] = known = tensor
    return known


def place_of(tensor):
    """A key that is equal for all handles of a tensor."""
    return _nn._place(tensor), tensor.shape, tensor.strides


def key_of(tensor):
    return type(tensor), *place_of(tensor)


def rebuild_parameter(cls, data, *arguments):
    """Makes a parameter or buffer of a pickle."""
    return cls(data, *arguments)


@_method(_nn.Parameter)
def __reduce__(self):
    return rebuild_parameter, (type(self), self.detach(), self.requires_grad)


@_method(_nn.Buffer)
def __reduce__(self):
    return rebuild_parameter, (type(self), self.detach())


def library_class(module):
    """The class of the extension from which the module's class comes."""
    return next(cls for cls in type(module).__mro__ if cls in _LIBRARY)


def _computed(module):
    """The members of a layer that are no parameters, because other tensors or None took their places."""
    registered = dict(module._named_parameters())
    members = {name: getattr(library_class(module), name, None) for name in ("weight", "bias")}
    values = {
        name: member.__get__(module)
        for name, member in members.items()
        if isinstance(member, property) and name not in registered
    }
    return {name: value if value is None else value.detach() for name, value in values.items()}


def constructor_of(module):
    """The library's class whose constructor made a module, and the constructor's arguments."""
    base = library_class(module)
    if base in _CONTAINERS or (base is Module and type(module) is not Module):
        return base, (), {}
    arguments = module.__dict__.get("_arguments")
    if arguments is None and hasattr(base, "_made_with"):
        arguments = module._made_with()
    if arguments is None:
        name = type(module).__name__
        raise TypeError(f"a {name} that the library made cannot be copied or pickled: use its state_dict()")
    names = names_of_arguments(base)
    return (base, (), dict(zip(names, arguments))) if len(names) == len(arguments) else (base, arguments, {})


def rebuild_module(cls, base, arguments, keywords):
    """A module with the initial values of its library class. The default generator does not change."""
    module = cls.__new__(cls)
    generator = _crisol.default_generator()
    before = generator.get_state()
    base.__init__(module, *arguments, **keywords)
    generator.set_state(before)
    return module


@_method(Module)
def __reduce_ex__(self, protocol):
    attributes = {name: value for name, value in self.__dict__.items() if name not in ("_arguments", "_objects")}
    for name, value in attributes.items():
        if isinstance(value, (_nn.Parameter, _nn.Buffer)):
            attributes[name] = one_object(value)
        elif isinstance(value, _crisol.Tensor) and not value.is_leaf:  # Such as a weight that weight_norm computed.
            attributes[name] = value.detach()
    if isinstance(self, _CONTAINERS):
        attributes = {**dict(self._named_children()), **attributes}
    state = {
        "attributes": attributes,
        "tensors": {
            path: one_object(tensor)
            for path, tensor in self._named_parameters() + self._named_buffers()
            if path.partition(".")[0] not in attributes
        },
        "computed": _computed(self),
        "training": [module.training for module in self.modules()],
    }
    return rebuild_module, (type(self), *constructor_of(self)), state


@_method(Module)
def __setstate__(self, state):
    for name, value in state.get("computed", {}).items():
        member = getattr(library_class(self), name)
        member.__set__(self, None)
        member.__set__(self, value)
    for name, value in state["attributes"].items():
        setattr(self, name, value)
    for path, tensor in state["tensors"].items():
        owner, _, name = path.rpartition(".")
        setattr(self.get_submodule(owner), name, tensor)
    for module, mode in zip(self.modules(), state["training"]):
        module.training = mode


@_method(Module)
def __deepcopy__(self, memo):
    if hasattr(self, "_copy") and not isinstance(self, _CONTAINERS) and "_arguments" not in self.__dict__:
        memo[id(self)] = copied = self._copy()
    else:
        function, arguments, state = self.__reduce_ex__(4)
        memo[id(self)] = copied = function(*arguments)
        copied.__setstate__(copy.deepcopy(state, memo))
    for module, other in zip(self.modules(), copied.modules()):
        copy_hooks(module, other, memo)
    return copied


def _reset_parameters(self) -> None:
    """New initial values for the parameters and buffers."""
    base, arguments, keywords = constructor_of(self)
    self.load_state_dict(base(*arguments, **keywords).state_dict(), strict=False)


def _reset_running_stats(self) -> None:
    """The initial mean and variance of a norm that keeps them."""
    fresh = library_class(self)(self.num_features, track_running_stats=True).state_dict()
    self.load_state_dict({name: fresh[name] for name, _ in self.named_buffers()}, strict=False)


for _class in (
    _nn.Linear, _nn.Conv1d, _nn.Conv2d, _nn.Conv3d, _nn.ConvTranspose1d, _nn.ConvTranspose2d, _nn.ConvTranspose3d,
    _nn.Embedding, _nn.BatchNorm2d, _nn.InstanceNorm2d, _nn.LayerNorm, _nn.GroupNorm, _nn.RNN, _nn.LSTM, _nn.GRU,
    _nn.RNNCell, _nn.LSTMCell, _nn.GRUCell,
):  # fmt: skip
    _class.reset_parameters = _reset_parameters
_nn.BatchNorm2d.reset_running_stats = _nn.InstanceNorm2d.reset_running_stats = _reset_running_stats
