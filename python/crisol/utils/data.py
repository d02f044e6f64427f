"""crisol.data, under PyTorch's names."""

from ..data import *
from ..data import __all__ as __all__

def __dir__():
    return __all__
