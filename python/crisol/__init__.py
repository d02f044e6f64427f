"""Deep learning over OpenCL, on the devices of any vendor.

The functions of this module and the methods of tensors have PyTorch's names and PyTorch's meaning. The functions of the
Array API standard 2025.12 are in crisol.array_api.
"""

# ruff: noqa: E402, F401, F403
from . import _opencl

_opencl.prepare()

from math import e as e, inf as inf, nan as nan, pi as pi

from ._crisol import *
from ._crisol import Tensor, __version__, device, dtype
from ._functions import *
from ._precision import with_precision as with_precision
from ._public import belongs_to as _belongs_to, register_files as _register_files
from . import accelerator, amp, array_api, autograd, backends, compiler, cuda, data, distributions, fft, func, jit
from . import linalg, nn, onnx, optim, profiler, random, special, testing, trace, utils, version
from .array_api import UniqueAll as UniqueAll, UniqueCounts as UniqueCounts, UniqueInverse as UniqueInverse
from .array_api import broadcast_arrays as broadcast_arrays, conj as conj, imag as imag, real as real
from .array_api import unique_all as unique_all, unique_counts as unique_counts, unique_inverse as unique_inverse
from .array_api import unique_values as unique_values, unstack as unstack
from ._crisol._functional import sample_logits as sample_logits
from .amp import (
    GradScaler as GradScaler,
    autocast as autocast,
    get_autocast_dtype as get_autocast_dtype,
    is_autocast_cache_enabled as is_autocast_cache_enabled,
    is_autocast_enabled as is_autocast_enabled,
)
from .autograd import enable_grad as enable_grad, inference_mode as inference_mode, is_grad_enabled as is_grad_enabled
from .autograd import no_grad as no_grad, set_grad_enabled as set_grad_enabled
from .linalg import cholesky as cholesky, cholesky_solve as cholesky_solve, det as det, matrix_power as matrix_power
from .nn.functional import adaptive_avg_pool1d as adaptive_avg_pool1d, alpha_dropout as alpha_dropout
from .nn.functional import avg_pool1d as avg_pool1d, bilinear as bilinear
from .nn.functional import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from .nn.functional import channel_shuffle as channel_shuffle, conv1d as conv1d, conv2d as conv2d, conv3d as conv3d
from .nn.functional import conv_transpose1d as conv_transpose1d, conv_transpose2d as conv_transpose2d
from .nn.functional import conv_transpose3d as conv_transpose3d, cosine_embedding_loss as cosine_embedding_loss
from .nn.functional import cosine_similarity as cosine_similarity, dropout as dropout
from .nn.functional import feature_alpha_dropout as feature_alpha_dropout, group_norm as group_norm
from .nn.functional import hardshrink as hardshrink, hinge_embedding_loss as hinge_embedding_loss
from .nn.functional import layer_norm as layer_norm, margin_ranking_loss as margin_ranking_loss
from .nn.functional import max_pool1d as max_pool1d, max_pool2d as max_pool2d, max_pool3d as max_pool3d
from .nn.functional import pairwise_distance as pairwise_distance, pdist as pdist, pixel_shuffle as pixel_shuffle
from .nn.functional import pixel_unshuffle as pixel_unshuffle, poisson_nll_loss as poisson_nll_loss
from .nn.functional import rms_norm as rms_norm, rrelu as rrelu, triplet_margin_loss as triplet_margin_loss
from .special import gammainc as igamma, gammaincc as igammac, i0 as i0, multigammaln as mvlgamma
from .special import polygamma as polygamma
from .func import vmap as vmap
from .linalg import cholesky_inverse as cholesky_inverse, matrix_exp as matrix_exp
from .linalg._lu import lu_unpack as lu_unpack
from .linalg import pinv as pinv, qr as qr, slogdet as slogdet, vecdot as vecdot

newaxis = None

# The classes get the name of the module from which users import them.
_inner = ("crisol._crisol", "crisol._functions")
_belongs_to("crisol", [v for v in vars().values() if isinstance(v, type) and v.__module__.startswith(_inner)])

__all__ = [_name for _name in vars() if not _name.startswith("_")]

_register_files()
