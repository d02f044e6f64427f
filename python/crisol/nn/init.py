"""Initial values of parameters, as in torch.nn.init. All functions overwrite the tensor and return it."""

import math

from .._crisol import Tensor
from .._crisol._nn import _fans, _normal_, _uniform_
from ..autograd import no_grad

__all__ = ["calculate_gain", "constant_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "uniform_"]
__all__ += ["xavier_normal_", "xavier_uniform_", "zeros_"]

_GAINS = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 0.75}
_GAINS.update({f"conv{n}d": 1.0 for n in (2, 3)})


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which the deviation of weights before a nonlinearity grows. `param` is leaky_relu's slope."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"there is no gain for '{nonlinearity}', only for leaky_relu, {', '.join(_GAINS)}")
    return _GAINS[nonlinearity]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Uniform numbers in [a, b)."""
    return _uniform_(tensor, a, b)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Normal numbers with this mean and standard deviation."""
    return _normal_(tensor, mean, std)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One value everywhere."""
    with no_grad():
        return tensor.fill_(val)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1)


def _deviation(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode is 'fan_in' or 'fan_out', not '{mode}'")
    fan = _fans(tensor.shape)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Uniform numbers in [-b, b) with b = gain · sqrt(3 / fan); He et al. 2015."""
    bound = math.sqrt(3) * _deviation(tensor, a, mode, nonlinearity)
    return _uniform_(tensor, -bound, bound)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Normal numbers with mean 0 and deviation gain / sqrt(fan)."""
    return _normal_(tensor, 0, _deviation(tensor, a, mode, nonlinearity))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Uniform numbers in [-b, b) with b = gain · sqrt(6 / (fan_in + fan_out)); Glorot and Bengio 2010."""
    bound = gain * math.sqrt(6 / sum(_fans(tensor.shape)))
    return _uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Normal numbers with mean 0 and deviation gain · sqrt(2 / (fan_in + fan_out))."""
    return _normal_(tensor, 0, gain * math.sqrt(2 / sum(_fans(tensor.shape))))


def __dir__():
    return __all__
