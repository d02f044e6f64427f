"""Functions of layers, losses and activations, under PyTorch's names and with PyTorch's arguments."""

from collections.abc import Sequence

from .. import _crisol as _c
from .._autocast import autocasts
from .._crisol import Tensor, _functional
from .._crisol._functional import (
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    batch_norm as batch_norm,
    conv1d as conv1d,
    conv2d as conv2d,
    conv3d as conv3d,
    conv_transpose1d as conv_transpose1d,
    conv_transpose2d as conv_transpose2d,
    conv_transpose3d as conv_transpose3d,
    deform_conv2d as deform_conv2d,
    group_norm as group_norm,
    instance_norm as instance_norm,
    layer_norm as layer_norm,
    linear as linear,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
    multinomial as multinomial,
    non_max_suppression as non_max_suppression,
    one_hot as one_hot,
    pixel_shuffle as pixel_shuffle,
    pixel_unshuffle as pixel_unshuffle,
    rms_norm as rms_norm,
    roi_align as roi_align,
    sample_logits as sample_logits,
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from ._activations import *  # noqa: F403
from ._pooling._fractional import *  # noqa: F403
from ._heads import *  # noqa: F403
from ._losses import *  # noqa: F403
from ._pooling._functions import *  # noqa: F403
from ._pooling._functions import adaptive_avg_pool1d
from ._products import *  # noqa: F403
from ._shapes import *  # noqa: F403
from ._shapes import padded
from ._tables import *  # noqa: F403
from ._tables import by_frequency, shorten

# PyTorch's activations have `inplace`. It has no effect here: the result is always a new tensor.


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0), for each element."""
    return _c.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x, 0), 6), for each element."""
    return _c.relu6(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x, or negative_slope · x where x is negative."""
    return _c.leaky_relu(input, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x, or alpha · (exp(x) - 1) where x is negative."""
    return _c.elu(input, alpha)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x, or alpha · (exp(x / alpha) - 1) where x is negative."""
    return _c.celu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The scaled ELU of Klambauer et al. 2017."""
    return _c.selu(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x · sigmoid(x)."""
    return _c.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x · tanh(softplus(x))."""
    return _c.mish(input)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x · Φ(x), where Φ is the distribution function of the normal distribution. With approximate="tanh" it is
    approximated."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate is 'none' or 'tanh', not '{approximate}'")
    return _c.gelu(input) if approximate == "none" else _c.gelu_tanh(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x / 6 + 1/2, 0), 1)."""
    return _c.hard_sigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x · hardsigmoid(x)."""
    return _c.hard_swish(input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """min(max(x, min_val), max_val). For whole numbers, the fractions of the limits are dropped."""
    if input.dtype == _c.bool:
        raise _c.InvalidArgumentError("[hardtanh] the input must not be bool")
    if not _c.isdtype(input.dtype, "integral"):
        return _c.hard_tanh(input, min_val, max_val)
    least = 0 if not input.dtype.is_signed else int(min_val)
    return _c.clamp(input, max(int(min_val), least), int(max_val))


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x)), without overflow."""
    return _c.log_sigmoid(input)


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return _c.sigmoid(input)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta · x)) / beta, and x itself where beta · x > threshold."""
    return _c.softplus(input, beta, threshold)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return _c.tanh(input)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x, or weight · x where x is negative. weight has one element, or one for each channel (axis 1)."""
    if weight.numel() > 1:
        weight = weight.reshape(-1, *[1] * (input.dim() - 2))
    return _c.prelu(input, weight)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets elements to 0 with probability p and divides the others by 1 - p."""
    return _functional.dropout(input, p, training)


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Rows of weight (V, D) by indices input (…), as (…, D). Row padding_idx gets no gradient. max_norm scales the rows
    that are read, in place, to at most this norm. With scale_grad_by_freq the gradient of a row is divided by the number
    of its places in the input. `sparse` has no effect."""
    if max_norm is not None:
        shorten(weight, input, max_norm, norm_type)
    rows = _functional.embedding(input, weight, padding_idx)
    return by_frequency(rows, input, weight.shape[0]) if scale_grad_by_freq else rows


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Adds elements at the ends of axes. pad has two numbers for each axis, beginning with the last axis. mode is
    "constant", "reflect", "replicate" or "circular"."""
    if mode != "constant":
        if value is not None:
            raise _c.InvalidArgumentError(f"[pad] the mode '{mode}' takes no value")
        return padded(input, pad, mode)
    return _functional.pad(input, list(pad), 0.0 if value is None else value)


@autocasts
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """input / max(norm, eps), where norm is the p-norm along an axis."""
    return input / _c.maximum(_c.norm(input, p=p, dim=dim, keepdim=True), eps)


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resizes input (N, C, …) along the axes after the channels, to a size or by a factor.

    mode is "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic" or "area".
    """
    if (recompute_scale_factor or mode == "area") and size is None and scale_factor is not None:
        factors = [scale_factor] * (input.ndim - 2) if isinstance(scale_factor, (int, float)) else list(scale_factor)
        size, scale_factor = [int(n * f) for n, f in zip(input.shape[2:], factors)], None
    if mode == "area":
        pools = {3: adaptive_avg_pool1d, 4: _functional.adaptive_avg_pool2d, 5: _functional.adaptive_avg_pool3d}
        return pools[input.ndim](input, size)
    return _functional.interpolate(input, size, scale_factor, mode, bool(align_corners), antialias)


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Reads input (N, C, H, W) at the positions (x, y) of grid (N, OH, OW, 2), which go from -1 to 1."""
    return _functional.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid (N, H, W, 2) of the affine maps theta (N, 2, 3), for grid_sample() and size (N, C, H, W)."""
    return _functional.affine_grid(theta, size, bool(align_corners))


_OTHERS = ("Sequence", "Tensor", "by_frequency", "padded", "shorten")
__all__ = [_name for _name in vars() if not _name.startswith("_") and _name not in _OTHERS]


def __dir__():
    return __all__
