"""Parameters that modules compute from other tensors. A module gets a class of its own, whose property computes the
parameter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..._crisol import Tensor, _nn
from ..._crisol._nn import Module, ModuleDict, ModuleList, Parameter
from ...autograd import no_grad
from .._hooks import Hooks

__all__ = ["ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations"]
__all__ += ["type_before_parametrizations"]

_cache: dict[tuple[int, str], Tensor] = {}
_caches = 0


@contextmanager
def cached() -> Iterator[None]:
    """Within this context, each parameter is computed once."""
    global _caches
    _caches += 1
    try:
        yield
    finally:
        _caches -= 1
        if not _caches:
            _cache.clear()


def _require_same(what: str, new: Any, old: Tensor) -> None:
    if not isinstance(new, Tensor):
        raise ValueError(f"[parametrize] {what} gives a tensor, not a {type(new).__name__}")
    for rule in ("dtype", "shape"):
        now, before = getattr(new, rule), getattr(old, rule)
        if now != before:
            raise ValueError(f"[parametrize] {what} changes the {rule} from {before} to {now}, without unsafe=True")


def _inverse(modules: Sequence[Any], value: Any) -> Any:
    """The tensors from which the modules compute a value."""
    with no_grad():
        for module in reversed(modules):
            if hasattr(module, "right_inverse"):
                try:
                    value = module.right_inverse(value)
                except NotImplementedError:
                    pass
    if not isinstance(value, (Tensor, list, tuple)):
        raise ValueError(f"[parametrize] right_inverse() gives tensors, not a {type(value).__name__}")
    return value


class ParametrizationList(ModuleList):
    """The modules that compute a parameter, and the tensors from which they do: `original`, or `original0`,
    `original1` and so on if right_inverse() of the first module gives several."""

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        super().__init__(list(modules))
        self.unsafe = unsafe
        new = _inverse(modules, original)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        for name, value in zip(self._names(), [new] if self.is_tensor else new):
            keeps = self.is_tensor and isinstance(original, Parameter) and new.shape == original.shape
            setattr(self, name, original if keeps else type(original)(value.detach().clone()))
            getattr(self, name).requires_grad_(original.requires_grad)
            if keeps and new is not original:
                _write(original, new)
        if not unsafe:
            _require_same("a parametrization", self(), original)

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def forward(self) -> Tensor:
        """The parameter."""
        first, *others = self
        value = first(*(getattr(self, name) for name in self._names()))
        for module in others:
            value = module(value)
        return value

    def right_inverse(self, value: Tensor) -> None:
        """Overwrites the original tensors, so that the parameter becomes the value."""
        for module in self:
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(f"[parametrize] {type(module).__name__} has no right_inverse(), so no assignment")
        new = _inverse(list(self), value)
        if isinstance(new, Tensor) != self.is_tensor or (not self.is_tensor and len(new) != self.ntensors):
            raise ValueError(f"[parametrize] right_inverse() gives other tensors than at first: {self.ntensors}")
        for name, part in zip(self._names(), [new] if self.is_tensor else new):
            _write(getattr(self, name), part)


def _write(tensor: Tensor, value: Tensor) -> None:
    with no_grad():
        tensor.copy_(value)


def _place(module: Any, args: Any) -> None:
    """A hook. Before each call it gives the library's layer its computed parameters."""
    for name in module.parametrizations:
        member = getattr(type_before_parametrizations(module), name, None)
        if hasattr(member, "__set__"):
            member.__set__(module, getattr(module, name))


def _property(name: str) -> property:
    def compute(self: Any) -> Tensor:
        if not _caches:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def assign(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(compute, assign)


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Any:
    """From now on parametrization(original) computes the parameter or buffer `tensor_name`. Returns the module.

    Several parametrizations of one parameter are computed one after another. `unsafe` allows another shape or dtype.
    If the parametrization has right_inverse(), values may be assigned to the parameter. It also gives the original
    tensor, or a tuple of several.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            now = getattr(module, tensor_name)
            _require_same("a parametrization", parametrization(now), now)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
        return module
    original = getattr(module, tensor_name, None)
    if not isinstance(original, (Parameter, _nn.Buffer)):
        name = type(module).__name__
        raise ValueError(f"[parametrize] the {name} has no parameter, buffer or parametrized tensor '{tensor_name}'")
    parts = ParametrizationList([parametrization], original, unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        cls = type(module)
        module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), {"__module__": cls.__module__})
        module.parametrizations = ModuleDict()
        module.register_forward_pre_hook(_place)
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations[tensor_name] = parts
    with no_grad():
        _place(module, ())
    return module


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether the module computes this parameter, or any."""
    parts = module.__dict__.get("parametrizations")
    if not isinstance(parts, ModuleDict):
        return False
    return len(parts) > 0 if tensor_name is None else tensor_name in parts


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Ends the computation. The parameter keeps its last value, or gets the original one. Returns the module."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"[parametrize] the {type(module).__name__} does not compute a '{tensor_name}'")
    parts = module.parametrizations[tensor_name]
    if not parts.is_tensor and not leave_parametrized:
        raise ValueError("[parametrize] leave_parametrized=False needs one original tensor, and there are several")
    kept = parts.original if parts.is_tensor else parts.original0
    if leave_parametrized:
        with no_grad():
            value = getattr(module, tensor_name)
        if parts.is_tensor and value.shape == kept.shape:
            _write(kept, value)
        else:
            kept = type(kept)(value)
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
        remove_hook(module, lambda hook: hook is _place)
    setattr(module, tensor_name, kept)
    return module


def remove_hook(module: Any, wanted: Any) -> bool:
    """Removes the hooks before calls for which a function is true. Returns whether there were any."""
    table: Hooks | None = module._hooks()
    before = [] if table is None else table.pre
    kept = [hook for hook in before if not wanted(hook.function)]
    if len(kept) == len(before):
        return False
    before[:] = kept
    return True


def type_before_parametrizations(module: Any) -> type:
    """The class of the module without parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def __dir__():
    return __all__
