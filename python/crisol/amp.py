"""Mixed precision, under the names of torch.amp: autocast() and GradScaler."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Self

from . import _crisol as _c
from ._crisol import Tensor, _autograd, _optim
from ._mode import Mode

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "get_autocast_dtype", "is_autocast_available"]
__all__ += ["is_autocast_cache_enabled", "is_autocast_enabled"]


def _default_dtype(device_type: str) -> Any:
    """PyTorch's: bfloat16 on CPUs, float16 elsewhere."""
    return _c.bfloat16 if str(device_type).startswith("cpu") else _c.float16


class autocast(Mode):
    """Functions compute in a type of two bytes, or in float32, as PyTorch's lists for CUDA say: `with autocast("cuda"): …`,
    or as a decorator. It covers the devices of this thread, whatever device_type is. device_type alone gives the dtype: it
    is bfloat16 for "cpu" and float16 otherwise."""

    def __init__(
        self, device_type: str = "cuda", dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        super().__init__()
        if isinstance(device_type, bool):  # As in torch.cuda.amp.autocast(True).
            device_type, enabled = "cuda", device_type
        self._settings = (device_type, dtype, enabled, cache_enabled)
        chosen = _default_dtype(device_type) if dtype is None else dtype
        if enabled and chosen in (_c.float32, _c.float64):
            text = f"autocast to {chosen} converts nothing: it takes float16 and bfloat16"
            warnings.warn(text, UserWarning, stacklevel=2)
            chosen, enabled = _default_dtype(device_type), False
        if cache_enabled is None:
            cache_enabled = _autograd.is_autocast_cache_enabled()
        self._scope = partial(_autograd.AutocastScope, chosen, enabled, cache_enabled)
        self._scope()  # Raises at once if the dtype is wrong.

    def _again(self) -> Self:
        return type(self)(*self._settings)


class GradScaler:
    """Multiplies the loss by a scale, so that gradients do not become 0 in float16, and divides the gradients by it before a
    step. A step whose gradients overflow is skipped, and the scale shrinks. With the optimisers of the library, this is
    decided on the device, so nothing waits, and a step can be captured. Optimisers that are written in Python wait."""

    def __init__(
        self, device: Any = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        self._enabled = enabled
        if not enabled:
            return
        is_default = device is None or (isinstance(device, str) and device.startswith("cuda"))
        chosen = None if is_default else _c.device(device)
        self._own = _optim.GradScaler(init_scale, growth_factor, backoff_factor, growth_interval, chosen)

    def scale(self, outputs: Any) -> Any:
        """A tensor, or tensors, times the scale, in float32."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return self._own.scale(outputs)
        if isinstance(outputs, str) or not isinstance(outputs, Iterable):
            raise ValueError(f"outputs must be a tensor or an iterable of tensors, it is {type(outputs).__name__}")
        scaled = [self.scale(x) for x in outputs]
        return scaled if isinstance(outputs, list) else tuple(scaled)

    def unscale_(self, optimizer: Any) -> None:
        """Divides the optimiser's gradients by the scale, to look at them or to clip them. step() does it otherwise."""
        if self._enabled:
            self._own.unscale_(optimizer)

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step(), if no gradient overflowed."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        own_step = type(optimizer).step is _optim.Optimizer.step
        if "closure" in kwargs or (own_step and args):
            raise RuntimeError("a scaler takes no closure")
        if own_step:
            self._own.step(optimizer)
            return None
        return self._step_in_python(optimizer, args, kwargs)

    def _step_in_python(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        overflow = self._own.overflow(optimizer)
        if overflow is None:
            self._own.unscale_(optimizer)
            overflow = self._own.overflow(optimizer)
        if overflow.item() != 0:
            return None
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Changes the scale for the next step, or sets it. Call it once after the steps of all optimisers."""
        if not self._enabled:
            return
        if new_scale is None:
            self._own.update()
        else:
            self._own.update(float(new_scale))

    def get_scale(self) -> float:
        """The scale, or 1 if the scaler is switched off. Waits."""
        return self._own.get_scale() if self._enabled else 1.0

    def is_enabled(self) -> bool:
        """Whether the scaler is switched on."""
        return self._enabled

    def get_growth_factor(self) -> float:
        """The factor of the scale after growth_interval steps without an overflow."""
        return self._own.growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets the factor of get_growth_factor()."""
        self._own.growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """The factor of the scale after an overflow."""
        return self._own.backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets the factor of get_backoff_factor()."""
        self._own.backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """The number of steps without an overflow after which the scale grows."""
        return self._own.growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets the number of get_growth_interval()."""
        self._own.growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """The state in PyTorch's form: numbers. Empty if the scaler is switched off."""
        if not self._enabled:
            return {}
        state = {name: tensor.tolist() for name, tensor in self._own.state_dict().items()}
        exact = {name: sum(value) if isinstance(value, list) else value for name, value in state.items()}
        return {("_growth_tracker" if name == "growth_tracker" else name): value for name, value in exact.items()}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restores a state, also one of PyTorch's scaler."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("the state is empty: it is from a scaler that was switched off")
        state = {name.lstrip("_"): value for name, value in state_dict.items()}
        self._own.load_state_dict({name: _exact(name, value, self._own.device) for name, value in state.items()})


    def __getstate__(self) -> dict[str, Any]:
        return self.state_dict()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(None, enabled=bool(state))  # type: ignore[misc]
        self.load_state_dict(state)


def _exact(name: str, value: Any, device: Any) -> Tensor:
    """The library's form of a number: a whole number, or three float32 whose sum is the number."""
    if name in ("growth_interval", "growth_tracker"):
        return _c.asarray(int(value), dtype=_c.int64, device=device)
    parts = []
    for _ in range(3):
        parts.append(_c.asarray(float(value), dtype=_c.float32).item())
        value = float(value) - parts[-1]
    return _c.asarray(parts, dtype=_c.float32, device=device)


def is_autocast_available(device_type: str) -> bool:
    """True: autocast works on each device."""
    return True


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether functions on this thread convert their operands."""
    return _autograd.is_autocast_enabled()


def get_autocast_dtype(device_type: str = "cuda") -> Any:
    """The dtype of the thread's autocast, or the one that autocast(device_type) would have."""
    return _autograd.get_autocast_dtype() if _autograd.is_autocast_enabled() else _default_dtype(device_type)


def is_autocast_cache_enabled() -> bool:
    """Whether the thread's autocast keeps converted parameters."""
    return _autograd.is_autocast_cache_enabled()


def _cast(value: Any, dtype: Any) -> Any:
    if isinstance(value, Tensor):
        wanted = value.dtype != _c.float64
        return value.to(dtype) if wanted and _c.isdtype(value.dtype, "real floating") else value
    if isinstance(value, Mapping):
        return {_cast(k, dtype): _cast(v, dtype) for k, v in value.items()}
    return type(value)(_cast(v, dtype) for v in value) if isinstance(value, (list, tuple)) else value


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str = "cuda", cast_inputs: Any = None
) -> Callable[..., Any]:
    """Decorates forward() of an autograd.Function. With cast_inputs, forward() gets floating-point inputs of this dtype
    under autocast, and runs without autocast."""
    if fwd is None:
        return partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def call(ctx: Any, *arguments: Any, **keywords: Any) -> Any:
        enabled, dtype = is_autocast_enabled(), get_autocast_dtype(device_type)
        ctx._autocast = (enabled and cast_inputs is None, dtype)
        if not enabled or cast_inputs is None:
            return fwd(ctx, *arguments, **keywords)
        with autocast(device_type, dtype, enabled=False):
            return fwd(ctx, *_cast(arguments, cast_inputs), **_cast(keywords, cast_inputs))

    return call


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str = "cuda") -> Callable[..., Any]:
    """Decorates backward() of an autograd.Function, which then runs under the autocast of forward()."""
    if bwd is None:
        return partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def call(ctx: Any, *arguments: Any, **keywords: Any) -> Any:
        enabled, dtype = ctx._autocast
        with autocast(device_type, dtype, enabled):
            return bwd(ctx, *arguments, **keywords)

    return call


def __dir__():
    return __all__
