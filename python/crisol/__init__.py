"""Deep learning over OpenCL, on the devices of any vendor."""

from ._crisol import *  # noqa: F403
from ._crisol import __version__  # noqa: F401
from ._crisol import Tensor, device, dtype

# The classes have the name under which they are used.
for _class in (Tensor, device, dtype):
    _class.__module__ = "crisol"
