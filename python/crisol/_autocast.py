"""Autocast for functions that are written in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ._crisol import Tensor, _autograd

Function = TypeVar("Function", bound=Callable[..., Any])


def autocasts(function: Function) -> Function:
    """The function, with the rule of its name under autocast. Lists in lib/autograd/autocast.cpp have the names. A
    function that no list has computes in the types of its operands, also the listed functions inside of it."""
    name = function.__name__

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        if not _autograd.is_autocast_enabled():
            return function(*arguments, **keywords)
        given = [*arguments, *keywords.values()]
        operands = iter(_autograd.autocast_operands(name, [x for x in given if isinstance(x, Tensor)]))
        given = [next(operands) if isinstance(x, Tensor) else x for x in given]
        off = _autograd.AutocastScope(
            _autograd.get_autocast_dtype(), enabled=False, cache_enabled=_autograd.is_autocast_cache_enabled()
        )
        off.enter()
        try:
            return function(*given[: len(arguments)], **dict(zip(keywords, given[len(arguments) :])))
        finally:
            off.leave()

    return call  # type: ignore[return-value]
