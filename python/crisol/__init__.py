"""Deep learning over OpenCL, on the devices of any vendor.

The functions of this module are those of the Array API standard 2024.12, and functions with PyTorch's names.
"""

# ruff: noqa: F401, F403
from ._crisol import *
from ._crisol import Tensor, __version__, device, dtype
from ._info import __array_api_version__, __array_namespace_info__
from ._namespace import *

# The classes have the name under which they are used.
for _class in (Tensor, device, dtype):
    _class.__module__ = "crisol"
del _class


def _array_namespace(self, *, api_version=None):
    """The module crisol, which has the functions of the Array API standard."""
    import sys

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ValueError(f"crisol has the Array API standard 2024.12, not {api_version}")
    return sys.modules["crisol"]


Tensor.__array_namespace__ = _array_namespace
del _array_namespace
