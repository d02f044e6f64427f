"""The names of torch.utils that programs import: data and checkpoint."""

from . import checkpoint as checkpoint
from . import data as data

__all__ = ["checkpoint", "data"]


def __dir__():
    return __all__
