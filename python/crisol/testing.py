"""Comparisons of tensors in tests, as in torch.testing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from . import _crisol as _c
from ._crisol import Tensor

__all__ = ["assert_close"]

_TOLERANCES = {_c.float64: (1e-7, 1e-7), _c.float32: (1.3e-6, 1e-5), _c.float16: (1e-3, 1e-5)}
_TOLERANCES |= {_c.bfloat16: (1.6e-2, 1e-5)}


def _are_close(a: Any, b: Any, relative: float, absolute: float, equal_nan: bool) -> bool:
    if a == b or (equal_nan and a != a and b != b):
        return True
    return math.isfinite(a) and math.isfinite(b) and abs(a - b) <= absolute + relative * abs(b)


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Raises AssertionError unless |actual - expected| is at most atol + rtol · |expected|, with equal shapes and dtypes.
    Sequences and dicts are compared part by part."""
    if isinstance(expected, dict) or (isinstance(expected, (list, tuple)) and not isinstance(actual, Tensor)):
        names = expected.keys() if isinstance(expected, dict) else range(len(expected))
        if len(actual) != len(expected):
            raise AssertionError(f"there are {len(actual)} parts, not {len(expected)}")
        for name in names:
            assert_close(actual[name], expected[name], rtol=rtol, atol=atol, equal_nan=equal_nan, msg=msg)
        return
    if (rtol is None) != (atol is None):
        raise ValueError("[assert_close] takes both rtol and atol, or neither")
    x, y = (v if isinstance(v, Tensor) else _c.asarray(v) for v in (actual, expected))
    text = None
    if tuple(x.shape) != tuple(y.shape):
        text = f"the shapes {tuple(x.shape)} and {tuple(y.shape)} differ"
    elif check_dtype and x.dtype is not y.dtype:
        text = f"the dtypes {x.dtype!r} and {y.dtype!r} differ"
    else:
        usual = _TOLERANCES.get(y.dtype, (0.0, 0.0))
        relative, absolute = usual if rtol is None or atol is None else (rtol, atol)
        pairs = list(zip(*(v.detach().reshape((-1,)).tolist() for v in (x, y)), strict=True))
        wrong = [abs(a - b) for a, b in pairs if not _are_close(a, b, relative, absolute, equal_nan)]
        if wrong:
            largest = max((one for one in wrong if one == one), default=math.nan)
            text = f"{len(wrong)} of {len(pairs)} elements differ, by up to {largest} (rtol {relative}, atol {absolute})"
    if text is not None:
        raise AssertionError(msg(text) if callable(msg) else msg or text)


def __dir__():
    return __all__
