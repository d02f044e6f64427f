"""Pruning: masks that set a part of a parameter to zero, with PyTorch's names.

A pruned parameter `name` becomes the parameter `name_orig`, the buffer `name_mask`, and the attribute `name`, which is
their product and is computed before each call of the module.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import _crisol as _c
from ..._crisol import Tensor
from ..._crisol._nn import Module
from ...autograd import no_grad
from .parametrize import remove_hook

__all__ = ["BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer"]
__all__ += ["RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned"]
__all__ += ["l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove"]


def _count(amount: float, size: int) -> int:
    """The number of pruned elements of `size`: a share, or the number itself."""
    if isinstance(amount, float):
        if not 0 <= amount <= 1:
            raise ValueError(f"[prune] amount is {amount}, and a share is between 0 and 1")
        return round(amount * size)
    if not 0 <= amount <= size:
        raise ValueError(f"[prune] amount is {amount}, and there are {size} elements")
    return amount


class BasePruningMethod:
    """A way to choose elements. Subclasses define compute_mask(), and PRUNING_TYPE: "unstructured", "structured" (rows
    along the axis `dim`) or "global"."""

    PRUNING_TYPE = "unstructured"
    _tensor_name: str

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for the values t: default_mask with more zeros."""
        raise NotImplementedError

    def __call__(self, module: Module, inputs: Any) -> None:
        """The hook of the module."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    def apply_mask(self, module: Module) -> Tensor:
        """The product of parameter and mask."""
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return original * mask.to(original.dtype)

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """The tensor with zeros where the mask for the scores (t itself) has zeros."""
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores, _c.ones_like(t) if default_mask is None else default_mask)

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prunes the parameter of a module, which may be pruned already."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        value = getattr(module, name)
        scores = value if importance_scores is None else importance_scores
        if scores.shape != value.shape:
            raise ValueError(f"[prune] importance_scores have the shape {scores.shape}, and '{name}' has {value.shape}")
        before = _method_of(module, name)
        if before is None:
            original = module._parameters[name]
            mask = method.compute_mask(scores.detach(), _c.ones_like(original).detach())
            delattr(module, name)
            module.register_parameter(name + "_orig", original)
            module.register_buffer(name + "_mask", mask)
            hook: BasePruningMethod = method
        else:
            hook = PruningContainer(*before) if isinstance(before, PruningContainer) else PruningContainer(before)
            hook._tensor_name = name
            hook.add_pruning_method(method)
            mask = hook.compute_mask(scores.detach(), getattr(module, name + "_mask"))
            setattr(module, name + "_mask", mask)
            remove_hook(module, lambda one: one is before)
        module.register_forward_pre_hook(hook)
        setattr(module, name, hook.apply_mask(module))
        return hook

    def remove(self, module: Module) -> None:
        """Makes the pruned values the parameter again."""
        name = self._tensor_name
        value = self.apply_mask(module).detach()
        original = module._parameters[name + "_orig"]
        with no_grad():
            original.copy_(value)
        remove_hook(module, lambda one: one is self)
        delattr(module, name + "_orig")
        delattr(module, name + "_mask")
        module.register_parameter(name, original)


def _methods_of(module: Any) -> list[BasePruningMethod]:
    table = module._hooks()
    hooks = [] if table is None else [hook.function for hook in table.pre]
    return [hook for hook in hooks if isinstance(hook, BasePruningMethod)]


def _method_of(module: Any, name: str) -> BasePruningMethod | None:
    return next((method for method in _methods_of(module) if method._tensor_name == name), None)


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other. Each chooses among the elements that the others have left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: list[BasePruningMethod] = list(args)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Appends a method for the same parameter."""
        self._pruning_methods.append(method)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the last method, for the elements that default_mask has left."""
        method = self._pruning_methods[-1]
        if method.PRUNING_TYPE == "structured":
            dim = method.dim  # type: ignore[attr-defined]
            others = [axis for axis in range(t.ndim) if axis != dim % t.ndim]
            (index,) = (default_mask.sum(others) != 0).nonzero(as_tuple=True)
            part = method.compute_mask(t.index_select(dim, index), default_mask.index_select(dim, index))
            return default_mask.index_copy(dim, index, part.to(default_mask.dtype))
        if method.PRUNING_TYPE == "global":
            return method.compute_mask(t, default_mask)
        (kept,) = (default_mask.flatten() != 0).nonzero(as_tuple=True)
        part = method.compute_mask(t.flatten()[kept], default_mask.flatten()[kept])
        return default_mask.flatten().index_copy(0, kept, part.to(default_mask.dtype)).reshape(default_mask.shape)


def _without(mask: Tensor, places: Tensor) -> Tensor:
    """The mask with zeros at places of the flat tensor."""
    return mask.flatten().index_fill(0, places, 0).reshape(mask.shape)


class Identity(BasePruningMethod):
    """Prunes nothing."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """default_mask"""
        return default_mask


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The product of the masks."""
        return default_mask * self.mask.to(default_mask.dtype)


class RandomUnstructured(BasePruningMethod):
    """Prunes random elements: a share (float) or a number (int) of them."""

    def __init__(self, amount: float) -> None:
        self.amount = amount

    def _scores(self, t: Tensor) -> Tensor:
        return _c.rand(t.shape, device=t.device)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """default_mask with zeros at the smallest scores."""
        count = _count(self.amount, t.numel())
        if count == 0:
            return default_mask.clone()
        return _without(default_mask, self._scores(t).flatten().topk(count, largest=False).indices)


class L1Unstructured(RandomUnstructured):
    """Prunes the elements with the smallest absolute values."""

    def _scores(self, t: Tensor) -> Tensor:
        return t.abs()


class RandomStructured(BasePruningMethod):
    """Prunes random rows along an axis: a share (float) or a number (int) of them."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        self.amount, self.dim = amount, dim

    def _scores(self, t: Tensor) -> Tensor:
        return _c.rand((t.shape[self.dim],), device=t.device)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """default_mask with zeros in the rows with the smallest scores."""
        count = _count(self.amount, t.shape[self.dim])
        if count == 0:
            return default_mask.clone()
        return default_mask.index_fill(self.dim, self._scores(t).topk(count, largest=False).indices, 0)


class LnStructured(RandomStructured):
    """Prunes the rows with the smallest n-norms along an axis."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Tensor) -> Tensor:
        others = [axis for axis in range(t.ndim) if axis != self.dim % t.ndim]
        return t.norm(self.n, others)


def identity(module: Any, name: str) -> Any:
    """Prunes nothing, but names parameter, mask and attribute as pruning does."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: float) -> Any:
    """Prunes a share (float) or a number (int) of elements at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: float, importance_scores: Tensor | None = None) -> Any:
    """Prunes the elements with the smallest absolute values, or with the smallest scores."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: float, dim: int) -> Any:
    """Prunes random rows along an axis."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Any:
    """Prunes the rows along an axis with the smallest n-norms."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Prunes where the mask has zeros."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]], pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Any, str], Tensor] | None = None, **kwargs: Any,
) -> None:  # fmt: skip
    """Prunes the elements of several parameters that the method chooses among all of them."""
    pairs = list(parameters)
    given = importance_scores or {}
    values = [getattr(module, name) for module, name in pairs]
    scores = _c.cat([given.get(pair, value).detach().flatten() for pair, value in zip(pairs, values)])
    masks = [getattr(module, name + "_mask", _c.ones_like(value).detach()) for (module, name), value in zip(pairs, values)]
    container = PruningContainer(pruning_method(**kwargs))
    mask, at = container.compute_mask(scores, _c.cat([m.flatten() for m in masks])), 0
    for (module, name), value in zip(pairs, values):
        custom_from_mask(module, name, mask[at : at + value.numel()].reshape(value.shape))
        at += value.numel()


def remove(module: Any, name: str) -> Any:
    """Makes the pruned values the parameter again, without a mask."""
    method = _method_of(module, name)
    if method is None:
        raise ValueError(f"[prune.remove] the parameter '{name}' of {type(module).__name__} is not pruned")
    method.remove(module)
    return module


def is_pruned(module: Any) -> bool:
    """Whether the module, or a module below it, has a pruned parameter."""
    return any(_methods_of(part) for part in module.modules())


def __dir__():
    return __all__
