"""Distributions of random numbers, with PyTorch's names: samples, log-probabilities, entropies and divergences."""

from . import _base, _counts, _divergences, _more, _relaxed, transforms
from . import _divergences as kl
from ._base import *
from ._counts import *
from ._divergences import *
from ._more import *
from ._relaxed import *
from .transforms import *

__all__ = [*_base.__all__, *_counts.__all__, *_divergences.__all__, *_more.__all__, *_relaxed.__all__]
__all__ += [*transforms.__all__, "kl", "transforms"]

for _value in list(vars().values()):
    if isinstance(_value, type):
        _value.__module__ = "crisol.distributions"


def __dir__():
    return __all__
