"""PyTorch's old arguments `size_average` and `reduce` of losses."""

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from .. import _crisol as _c

F = TypeVar("F", bound=Callable[..., Any])


def require_reduction(reduction: str, name: str) -> None:
    """Refuses a text that names no reduction."""
    if reduction not in ("mean", "sum", "none") and (reduction != "batchmean" or name != "kl_div"):
        raise _c.InvalidArgumentError(f"[{name}] reduction is '{reduction}', allowed are 'mean', 'sum' and 'none'")


def takes_old_reduction(function: F) -> F:
    """A decorator. The function then also accepts `size_average` and `reduce`, which give its argument `reduction`."""

    @functools.wraps(function)
    def call(*args: Any, size_average: bool | None = None, reduce: bool | None = None, **named: Any) -> Any:
        if size_average is not None or reduce is not None:
            named["reduction"] = "none" if reduce is False else "sum" if size_average is False else "mean"
            text = f"size_average and reduce are old names: write reduction='{named['reduction']}'"
            warnings.warn(text, FutureWarning, stacklevel=2)
        if function.__name__ != "__init__":  # A layer is refused when it computes.
            require_reduction(named.get("reduction", "mean"), function.__name__)
        return function(*args, **named)

    return call  # type: ignore[return-value]
