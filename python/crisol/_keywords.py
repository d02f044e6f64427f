"""The names under which PyTorch and NumPy know the arguments of functions of the extension."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from ._method import into

# Names of one line mean the same. A function takes one of them, and a call may use any.
_GROUPS = """
    input x a x1 self
    other x2 b y exponent end tensor1 mat2 vec2
    c tensor2
    dim axis
    dims axes
    keepdim keepdims
    shape size sizes repeats counts dims axes output_size dtype
    src values
    stop end
    num steps
    shift shifts
    indices indices_or_sections sections
    sorter sort
"""
_OTHERS: dict[str, list[set[str]]] = {}
for _line in _GROUPS.strip().splitlines():
    for _name in _line.split():
        _OTHERS.setdefault(_name, []).append(set(_line.split()))


def _arguments(signature: str) -> list[str]:
    """The names of a signature's arguments. The name of *args begins with a star."""
    return re.findall(r"[(,] (?:self, )?(\*?[a-z]\w*)(?=[:,)])", signature.replace("(", "( ", 1))


def taken(
    signatures: Sequence[tuple[str, ...]], positional: int, given: tuple[str, ...]
) -> tuple[str | None, ...] | None:
    """The names that an overload has for given names: None for what it takes by position. None if no overload fits."""
    for signature, *_ in signatures:
        names = _arguments(signature)
        first = positional - ("(self" in signature)
        own = {name: name for name in names[first:] if not name.startswith("*")}
        own |= {name[1:]: None for name in names if name.startswith("*")}
        found = []
        for name in given:
            if name in names[:first]:
                break  # It is given by position too.
            groups = [{name}] if name in own else _OTHERS.get(name, [])
            matching = [other for other in own if any(other in group for group in groups)]
            if not matching:
                break
            found.append(own.pop(matching[0]))
        else:
            if tuple(found) != given:
                return tuple(found)
    return None


def into_out(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Calls a function without its argument `out`, and writes the result into this argument."""
    out = kwargs.pop("out")
    return into(out, function(*args, **kwargs))
