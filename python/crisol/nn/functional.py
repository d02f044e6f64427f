"""Functions of layers, losses and activations, under PyTorch's names and with PyTorch's arguments."""

from .. import _crisol as _c
from .._crisol import _functional
from .._crisol._functional import *  # noqa: F403

# PyTorch's activations take `inplace`, which changes nothing here: the result is always a new tensor.


def relu(input, inplace=False):
    """max(x, 0), for each element."""
    return _c.relu(input)


def relu6(input, inplace=False):
    """min(max(x, 0), 6), for each element."""
    return _c.relu6(input)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x, or negative_slope · x where x is negative."""
    return _c.leaky_relu(input, negative_slope)


def elu(input, alpha=1.0, inplace=False):
    """x, or alpha · (exp(x) - 1) where x is negative."""
    return _c.elu(input, alpha)


def celu(input, alpha=1.0, inplace=False):
    """x, or alpha · (exp(x / alpha) - 1) where x is negative."""
    return _c.celu(input, alpha)


def selu(input, inplace=False):
    """The scaled elu of Klambauer et al. 2017."""
    return _c.selu(input)


def silu(input, inplace=False):
    """x · sigmoid(x)."""
    return _c.silu(input)


def mish(input, inplace=False):
    """x · tanh(softplus(x))."""
    return _c.mish(input)


def gelu(input, approximate="none"):
    """x · Φ(x), where Φ is the normal distribution; with approximate="tanh" its approximation."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate is 'none' or 'tanh', not '{approximate}'")
    return _c.gelu(input) if approximate == "none" else _c.gelu_tanh(input)


def hardsigmoid(input, inplace=False):
    """min(max(x / 6 + 1/2, 0), 1)."""
    return _c.hard_sigmoid(input)


def hardswish(input, inplace=False):
    """x · hardsigmoid(x)."""
    return _c.hard_swish(input)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """min(max(x, min_val), max_val)."""
    return _c.clamp(input, min_val, max_val)


def logsigmoid(input):
    """log(sigmoid(x)), without overflow."""
    return _c.log_sigmoid(input)


def sigmoid(input):
    """1 / (1 + exp(-x))."""
    return _c.sigmoid(input)


def softplus(input, beta=1.0, threshold=20.0):
    """log(1 + exp(beta · x)) / beta, and x itself where beta · x > threshold."""
    return _c.softplus(input, beta, threshold)


def tanh(input):
    """The hyperbolic tangent."""
    return _c.tanh(input)


def prelu(input, weight):
    """x, or weight · x where x is negative. weight has one element, or one for each channel (axis 1)."""
    if weight.numel() > 1:
        weight = weight.reshape(-1, *[1] * (input.dim() - 2))
    return _c.prelu(input, weight)


def dropout(input, p=0.5, training=True, inplace=False):
    """Sets elements to 0 with probability p and divides the others by 1 - p."""
    return _functional.dropout(input, p, training)


def pad(input, pad, mode="constant", value=None):
    """Adds elements of one value at the ends of axes. pad holds two numbers for each axis, the last axis first."""
    if mode != "constant":
        raise ValueError(f"[pad] mode is 'constant', not '{mode}'")
    return _functional.pad(input, list(pad), 0.0 if value is None else value)


def normalize(input, p=2.0, dim=1, eps=1e-12):
    """input / max(norm, eps), with the p-norm along an axis."""
    return input / _c.maximum(_c.norm(input, p=p, dim=dim, keepdim=True), eps)


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, antialias=False):
    """Resizes input (N, C, …) along the axes after the channels, to a size or by a factor.

    mode is "nearest", "nearest-exact", "linear", "bilinear", "trilinear" or "bicubic".
    """
    return _functional.interpolate(input, size, scale_factor, mode, bool(align_corners), antialias)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Reads input (N, C, H, W) at the places (across, down) of grid (N, OH, OW, 2), from -1 to 1."""
    return _functional.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


def affine_grid(theta, size, align_corners=None):
    """The grid (N, H, W, 2) for grid_sample that the affine maps theta (N, 2, 3) give for size (N, C, H, W)."""
    return _functional.affine_grid(theta, size, bool(align_corners))
