"""The device "crisol" of PyTorch. The wheel torch-crisol has it."""

from torch_crisol import *
from torch_crisol import __all__ as __all__
