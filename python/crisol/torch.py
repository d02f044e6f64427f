"""The device "crisol" of PyTorch, where the module torch_crisol is built."""

from torch_crisol import *
from torch_crisol import __all__ as __all__
