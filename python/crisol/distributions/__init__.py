"""Distributions of random numbers, with PyTorch's names: samples, log-probabilities, entropies and divergences."""

from . import _base, _choices, _counts, _divergences, _events, _matrices, _more, _powers, _relaxed, _sets
from . import _values, constraints, transforms  # noqa: F401
from . import _divergences as kl
from ._base import *
from ._choices import *
from ._counts import *
from ._divergences import *
from ._events import *
from ._matrices import *
from ._more import *
from ._powers import *
from ._relaxed import *
from ._sets import *
from .transforms import *
from .._public import belongs_to

__all__ = [*_base.__all__, *_choices.__all__, *_counts.__all__, *_divergences.__all__, *_events.__all__]
__all__ += [*_matrices.__all__, *_more.__all__, *_powers.__all__, *_relaxed.__all__, *_sets.__all__]
__all__ += [*transforms.__all__, "constraints", "kl", "transforms"]

belongs_to("crisol.distributions", [_value for _value in vars().values() if isinstance(_value, type)])


def __dir__():
    return __all__
