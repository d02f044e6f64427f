"""Deep learning over OpenCL, on the devices of any vendor.

The functions of this module are those of the Array API standard 2024.12, and functions with PyTorch's names.
"""

# ruff: noqa: E402, F401, F403
from . import _opencl

_opencl.prepare()

from ._crisol import *
from ._crisol import Tensor, __version__, device, dtype
from . import _tensor
from ._info import __array_api_version__, __array_namespace_info__
from ._namespace import *
from ._precision import with_precision as with_precision
from . import autograd, data, linalg, nn, onnx, optim, trace
from ._crisol._functional import multinomial as multinomial, sample_logits as sample_logits
from .autograd import enable_grad as enable_grad, inference_mode as inference_mode, is_grad_enabled as is_grad_enabled
from .autograd import no_grad as no_grad, set_grad_enabled as set_grad_enabled

# The classes have the name under which they are used.
for _value in list(vars().values()):
    if isinstance(_value, type) and _value.__module__ == "crisol._crisol":
        _value.__module__ = "crisol"
del _value

__all__ = [_name for _name in vars() if not _name.startswith("_")]
