"""Distributions of random numbers, with PyTorch's names: samples, log-probabilities, entropies and divergences."""

from . import _base, _divergences, _more
from ._base import *
from ._divergences import *
from ._more import *

__all__ = [*_base.__all__, *_divergences.__all__, *_more.__all__]

for _value in list(vars().values()):
    if isinstance(_value, type):
        _value.__module__ = "crisol.distributions"


def __dir__():
    return __all__
