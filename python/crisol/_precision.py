"""The precision of products and convolutions in a part of a program."""

from functools import partial
from typing import Self

from ._crisol import _PrecisionScope
from ._mode import Mode


class with_precision(Mode):
    """Sets the precision on this thread: `with with_precision("fp16"): …`, or as a decorator of a function."""

    def __init__(self, precision: str) -> None:
        super().__init__()
        _PrecisionScope(precision)  # Raises at once if the name is wrong.
        self._precision, self._scope = precision, partial(_PrecisionScope, precision)

    def _again(self) -> Self:
        return type(self)(self._precision)
