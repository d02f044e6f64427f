"""PyTorch's functions that ask for settings of the library, or change them. Many have no effect here."""

import os
import warnings
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor, dtype

__all__ = ["compile", "get_default_device", "get_default_dtype", "get_float32_matmul_precision", "get_num_threads"]
__all__ += ["is_inference_mode_enabled", "set_default_dtype", "set_float32_matmul_precision", "set_num_threads"]
__all__ += ["set_printoptions", "use_deterministic_algorithms"]


def compile(
    model: Any = None,
    example: Tensor | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = None,
    mode: str | None = None,
    options: Any = None,
    disable: bool = False,
) -> Any:
    """With an example of the input, a module that runs as a graph in evaluation, which takes less time:
    `fast = crisol.compile(net.eval(), x)`. It fixes branches of the module's code as the example takes them. Other batch
    sizes (axis 0) work too. Without an example, the model or function itself: kernels are compiled at the first call
    anyway. PyTorch's other arguments change nothing."""
    if example is not None:
        return _c.compile(model, example)
    return (lambda function: function) if model is None else model


def get_default_dtype() -> dtype:
    """float32: the dtype of numbers with fractions."""
    return _c.float32


def set_default_dtype(d: dtype, /) -> None:
    """Accepts only float32, which is always the default."""
    if d is not _c.float32:
        raise _c.InvalidArgumentError(f"[set_default_dtype] the default dtype is float32, not {d!r}")


def get_default_device() -> _c.device:
    """The device that new tensors are made on."""
    return _c.device()


def is_inference_mode_enabled() -> bool:
    """Whether functions are not recorded."""
    return not _c._autograd.is_grad_enabled()


def set_printoptions(**options: Any) -> None:
    """Accepts PyTorch's options, and has no effect: tensors print 4 decimals."""


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Has no effect: results have the same bits in every run."""


def get_num_threads() -> int:
    """The number of the computer's processors. The OpenCL driver has its own threads."""
    return os.cpu_count() or 1


def set_num_threads(number: int, /) -> None:
    """Has no effect, and warns about this: the OpenCL driver has its own threads."""
    warnings.warn("set_num_threads() changes nothing: the OpenCL driver has its own threads", stacklevel=2)


def get_float32_matmul_precision() -> str:
    """"highest" if products are computed in float32, "medium" if in float16."""
    return "highest" if _c.get_precision() == "fp32" else "medium"


def set_float32_matmul_precision(precision: str) -> None:
    """In PyTorch, "high" and "medium" allow less precise products. Here products stay float32. with_precision() selects
    another precision."""
    if precision not in ("highest", "high", "medium"):
        raise _c.InvalidArgumentError(f"[set_float32_matmul_precision] '{precision}' is not highest, high or medium")
