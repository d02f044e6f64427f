"""The names of torch.amp. Tensors are float32, so both classes are switched off, as in PyTorch without a GPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

from ._crisol import Tensor

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def _warn(name: str) -> None:
    warnings.warn(
        f"{name} is switched off: tensors stay float32; with_precision() computes in other precisions", UserWarning,
        stacklevel=3,
    )  # fmt: skip


class autocast:
    """A scope, or a decorator, that changes nothing. It warns unless enabled is False. crisol.with_precision() computes
    in other precisions."""

    def __init__(
        self, device_type: str = "cpu", dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if enabled:
            _warn("autocast")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function


class GradScaler:
    """A scaler of losses that is switched off: scale() returns the loss, and step() is the optimiser's step."""

    def __init__(
        self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        if enabled:
            _warn("GradScaler")

    def scale(self, outputs: Any) -> Any:
        """The outputs."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Has no effect."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step()"""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Has no effect."""

    def get_scale(self) -> float:
        """1"""
        return 1.0

    def is_enabled(self) -> bool:
        """False"""
        return False

    def state_dict(self) -> dict[str, Any]:
        """Empty, as in PyTorch for a scaler that is switched off."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Has no effect."""


def is_autocast_available(device_type: str) -> bool:
    """False"""
    return False


def custom_fwd(fwd: Any = None, *, device_type: str = "cpu", cast_inputs: Any = None) -> Any:
    """The function itself."""
    return (lambda function: function) if fwd is None else fwd


def custom_bwd(bwd: Any = None, *, device_type: str = "cpu") -> Any:
    """The function itself."""
    return (lambda function: function) if bwd is None else bwd


def __dir__():
    return __all__
