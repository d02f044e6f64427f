"""weight_norm and spectral_norm in PyTorch's older form: hooks compute a weight before each call."""

from __future__ import annotations

from typing import Any

from ... import _crisol as _c
from ..._crisol import Tensor
from ..._crisol._nn import Buffer, Parameter
from ...autograd import no_grad
from .. import functional as F
from .parametrizations import norm_except, output_axis, rows_of
from .parametrize import remove_hook


class _Rule:
    """A hook. Before each call it computes a weight from parameters with longer names."""

    title = ""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, module: Any, args: Any) -> None:
        setattr(module, self.name, self.compute(module, module.training))

    def compute(self, module: Any, iterate: bool) -> Tensor:
        raise NotImplementedError

    def of(self, module: Any, part: str) -> Any:
        return getattr(module, f"{self.name}_{part}")

    def start(self, module: Any, parts: dict[str, Any]) -> Any:
        if not isinstance(getattr(module, self.name), Parameter):
            raise RuntimeError(f"[{self.title}] the {self.name} is no parameter: it may have a norm already")
        delattr(module, self.name)
        for part, value in parts.items():
            setattr(module, f"{self.name}_{part}", value)
        setattr(module, self.name, self.compute(module, False))
        module.register_forward_pre_hook(self)
        return module


class _WeightNorm(_Rule):
    title = "weight_norm"

    def __init__(self, name: str, dim: int | None) -> None:
        super().__init__(name)
        self.dim = -1 if dim is None else dim

    def compute(self, module: Any, iterate: bool) -> Tensor:
        v = self.of(module, "v")
        return v * (self.of(module, "g") / norm_except(v, self.dim))


class _SpectralNorm(_Rule):
    title = "spectral_norm"

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__(name)
        self.n_power_iterations, self.dim, self.eps = n_power_iterations, dim, eps

    def compute(self, module: Any, iterate: bool) -> Tensor:
        weight, u, v = (self.of(module, part) for part in ("orig", "u", "v"))
        rows = rows_of(weight, self.dim)
        if iterate:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v = F.normalize(rows.T @ u, dim=0, eps=self.eps)
                    u = F.normalize(rows @ v, dim=0, eps=self.eps)
                setattr(module, f"{self.name}_u", u)
                setattr(module, f"{self.name}_v", v)
        return weight / (u * (rows @ v)).sum()


def _copied(parameter: Any) -> Parameter:
    return Parameter(parameter.detach().clone(), parameter.requires_grad)


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Salimans and Kingma 2016: the weight is g · v / |v|, with a norm for each index of an axis, or one for all if dim
    is None. The parameters are `weight_g` and `weight_v`. parametrizations.weight_norm() is the newer form."""
    rule, weight = _WeightNorm(name, dim), getattr(module, name)
    norms = Parameter(norm_except(weight.detach(), rule.dim), weight.requires_grad)
    return rule.start(module, {"g": norms, "v": _copied(weight)})


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Miyato et al. 2018: the weight is divided by an estimate of its largest singular value, which each call in
    training improves. The parameter is `weight_orig`. parametrizations.spectral_norm() is the newer form."""
    if n_power_iterations <= 0:
        raise ValueError(f"[spectral_norm] n_power_iterations is {n_power_iterations}, and it must be positive")
    weight = getattr(module, name)
    rule = _SpectralNorm(name, n_power_iterations, output_axis(module) if dim is None else dim, eps)
    u, v = (Buffer(F.normalize(_c.randn((size,), device=weight.device).to(weight.dtype), dim=0, eps=eps))
            for size in rows_of(weight.detach(), rule.dim).shape)  # fmt: skip
    return rule.start(module, {"orig": _copied(weight), "u": u, "v": v})


def _remove(kind: type[_Rule], module: Any, name: str, parts: tuple[str, ...]) -> Any:
    rules: list[_Rule] = []

    def is_wanted(hook: Any) -> bool:
        if type(hook) is not kind or hook.name != name:
            return False
        rules.append(hook)
        return True

    if not remove_hook(module, is_wanted):
        raise ValueError(f"[remove_{kind.title}] the {type(module).__name__} has no such norm of '{name}'")
    with no_grad():
        value = rules[0].compute(module, False)
    for part in parts:
        delattr(module, f"{name}_{part}")
    setattr(module, name, Parameter(value))
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Ends weight_norm(). The weight becomes a parameter again."""
    return _remove(_WeightNorm, module, name, ("g", "v"))


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Ends spectral_norm(). The weight becomes a parameter again."""
    return _remove(_SpectralNorm, module, name, ("orig", "u", "v"))
