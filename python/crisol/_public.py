"""The module from which users import a class."""

from collections.abc import Iterable
from typing import Any


def belongs_to(module: str, values: Iterable[Any]) -> None:
    """Messages, pickles and the reference name `module` as the module of the classes and functions.

    Since Python 3.13 a class knows its first line, and `inspect` looks for it in the file of the named module. That is
    another file, so such a class has no source to show, as before 3.13.
    """
    for value in values:
        value.__module__ = module
        if "__firstlineno__" in vars(value):
            del value.__firstlineno__
