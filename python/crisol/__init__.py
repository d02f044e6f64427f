"""Deep learning over OpenCL, on the devices of any vendor.

The functions of this module and the methods of tensors have PyTorch's names and PyTorch's meaning. The functions of the
Array API standard 2024.12 are in crisol.array_api.
"""

# ruff: noqa: E402, F401, F403
from . import _opencl

_opencl.prepare()

from math import e as e, inf as inf, nan as nan, pi as pi

from ._crisol import *
from ._crisol import Tensor, __version__, device, dtype
from ._functions import *
from ._precision import with_precision as with_precision
from . import array_api, autograd, cuda, data, distributions, fft, linalg, nn, onnx, optim, special, trace, utils
from .array_api import UniqueAll as UniqueAll, UniqueCounts as UniqueCounts, UniqueInverse as UniqueInverse
from .array_api import broadcast_arrays as broadcast_arrays, conj as conj, imag as imag, real as real
from .array_api import unique_all as unique_all, unique_counts as unique_counts, unique_inverse as unique_inverse
from .array_api import unique_values as unique_values, unstack as unstack
from ._crisol._functional import sample_logits as sample_logits
from .autograd import enable_grad as enable_grad, inference_mode as inference_mode, is_grad_enabled as is_grad_enabled
from .autograd import no_grad as no_grad, set_grad_enabled as set_grad_enabled
from .linalg import cholesky as cholesky, cholesky_solve as cholesky_solve, det as det, matrix_power as matrix_power
from .special import multigammaln as mvlgamma
from .linalg import pinv as pinv, qr as qr, slogdet as slogdet, svd as svd, vecdot as vecdot

newaxis = None

# The classes get the name of the module from which users import them.
for _value in list(vars().values()):
    if isinstance(_value, type) and _value.__module__.startswith(("crisol._crisol", "crisol._functions")):
        _value.__module__ = "crisol"
del _value

__all__ = [_name for _name in vars() if not _name.startswith("_")]
