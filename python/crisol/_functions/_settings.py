"""PyTorch's functions that ask for settings of the library, or change them. Many have no effect here."""

import os
import sys
import warnings
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor, dtype
from ._members import _KINDS

__all__ = ["compile", "get_default_device", "get_default_dtype", "get_float32_matmul_precision", "get_num_threads"]
__all__ += ["is_inference_mode_enabled", "set_default_dtype", "set_float32_matmul_precision", "set_num_threads"]
__all__ += ["set_default_tensor_type", "set_printoptions", "use_deterministic_algorithms"]


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
    """The dtype of new tensors and of numbers with fractions, if nothing else decides it: float32, until
    set_default_dtype() changes it."""
    return _c._default_dtype()


def set_default_dtype(d: dtype, /) -> None:
    """Changes the default dtype on all threads: float64, float32, bfloat16 or float16."""
    if not isinstance(d, dtype) or not _c.isdtype(d, "real floating"):
        raise TypeError(f"set_default_dtype() takes a dtype of floating-point numbers, not {d!r}")
    _c._set_default_dtype(d)


def set_default_tensor_type(t: Any, /) -> None:
    """The old form of set_default_dtype(): takes a class such as DoubleTensor, or its name."""
    if isinstance(t, str):
        t = _KINDS.get(t.rpartition(".")[2].removesuffix("Tensor"), t)
    set_default_dtype(getattr(t, "_dtype", t))


def get_default_device() -> _c.device:
    """The device that new tensors are made on."""
    return _c.device()


def is_inference_mode_enabled() -> bool:
    """Whether functions are not recorded."""
    return not _c._autograd.is_grad_enabled()


_PROFILES = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, sys.maxsize, 3, 80)}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """How tensors are printed: digits after the point, the number of elements above which a tensor is shortened, the
    elements shown at each end of its axes, characters of a line, and whether numbers have exponents (None: where they
    need them). The profiles "default", "short" and "full" set the first four; None leaves them as they are."""
    if profile is not None and profile not in _PROFILES:
        raise _c.InvalidArgumentError(f"[set_printoptions] '{profile}' is not default, short or full")
    now = _c._print_options() if profile is None else _PROFILES[profile]
    limit = None if threshold is None else int(min(threshold, sys.maxsize))
    given = (precision, limit, edgeitems, linewidth)
    _c._set_print_options(*(old if new is None else new for old, new in zip(now, given, strict=True)), sci_mode)


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
