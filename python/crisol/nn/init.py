"""Initial values of parameters, as in torch.nn.init. All functions overwrite the tensor and return it."""

import math
import warnings
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._crisol._nn import _fans, _normal_, _uniform_
from ..autograd import no_grad

__all__ = ["calculate_gain", "constant_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "uniform_"]
__all__ += ["dirac_", "eye_", "orthogonal_", "sparse_", "trunc_normal_", "xavier_normal_", "xavier_uniform_", "zeros_"]
__all__ += ["constant", "dirac", "eye", "kaiming_normal", "kaiming_uniform", "normal", "orthogonal", "sparse", "uniform"]
__all__ += ["xavier_normal", "xavier_uniform"]

_GAINS = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 0.75}
_GAINS.update({f"conv{n}d": 1.0 for n in (1, 2, 3)})
_GAINS.update({f"conv_transpose{n}d": 1.0 for n in (1, 2, 3)})


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor for the standard deviation of weights before a nonlinearity. `param` is leaky_relu's slope."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"there is no gain for '{nonlinearity}', only for leaky_relu, {', '.join(_GAINS)}")
    return _GAINS[nonlinearity]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform numbers in [a, b)."""
    if generator is None:
        return _uniform_(tensor, a, b)
    return _written(tensor, _c.rand(tensor.shape, device=tensor.device, generator=generator) * (b - a) + a)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal numbers with this mean and standard deviation."""
    if generator is None:
        return _normal_(tensor, mean, std)
    return _written(tensor, _c.randn(tensor.shape, device=tensor.device, generator=generator) * std + mean)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Sets all elements to one value."""
    with no_grad():
        return tensor.fill_(val)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1)


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """The numbers of inputs and of outputs of a layer with this weight."""
    fan_in, fan_out = _fans(tensor.shape)
    return int(fan_in), int(fan_out)


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """The number of inputs for mode "fan_in", of outputs for "fan_out"."""
    return _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]


def _deviation(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode is 'fan_in' or 'fan_out', not '{mode}'")
    fan = _fans(tensor.shape)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Uniform numbers in [-b, b) with b = gain · sqrt(3 / fan); He et al. 2015."""
    bound = math.sqrt(3) * _deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Normal numbers with mean 0 and standard deviation gain / sqrt(fan)."""
    return normal_(tensor, 0, _deviation(tensor, a, mode, nonlinearity), generator)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform numbers in [-b, b) with b = gain · sqrt(6 / (fan_in + fan_out)); Glorot and Bengio 2010."""
    bound = gain * math.sqrt(6 / sum(_fans(tensor.shape)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal numbers with mean 0 and standard deviation gain · sqrt(2 / (fan_in + fan_out))."""
    return normal_(tensor, 0, gain * math.sqrt(2 / sum(_fans(tensor.shape))), generator)


def _written(tensor: Tensor, value: Tensor) -> Tensor:
    with no_grad():
        return tensor.copy_(value)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Normal numbers, but only those between a and b."""

    def part_below(x: float) -> float:
        return (1 + math.erf((x - mean) / std / math.sqrt(2))) / 2

    low, high = part_below(a), part_below(b)
    drawn = _c.rand(tensor.shape, device=tensor.device, generator=generator) * (2 * (high - low)) + (2 * low - 1)
    from .._functions import erfinv

    limit = 1 - 2.0**-24
    return _written(tensor, _c._clip(erfinv(_c._clip(drawn, -limit, limit)) * (std * math.sqrt(2)) + mean, a, b))


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """A matrix with orthonormal rows or columns, times the gain. The axes after the first count as one."""
    if tensor.ndim < 2:
        raise _c.InvalidArgumentError(f"[orthogonal_] takes a tensor of 2 axes or more, not shape {tuple(tensor.shape)}")
    rows, columns = tensor.shape[0], tensor.numel() // max(tensor.shape[0], 1)
    drawn = _c.randn((rows, columns), device=tensor.device, generator=generator)
    q, r = _c._linalg.qr(drawn.mT if rows < columns else drawn, False)
    q = q * _c.sign(_c.diagonal(r))
    return _written(tensor, ((q.mT if rows < columns else q) * gain).reshape(tensor.shape))


def eye_(tensor: Tensor) -> Tensor:
    """The unit matrix."""
    if tensor.ndim != 2:
        raise _c.InvalidArgumentError(f"[eye_] takes a matrix, not shape {tuple(tensor.shape)}")
    return _written(tensor, _c.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The weight of a convolution whose result is its input, as far as the numbers of channels allow it."""
    shape = tensor.shape
    if not 3 <= tensor.ndim <= 5 or shape[0] % groups:
        raise _c.InvalidArgumentError(f"[dirac_] takes 3 to 5 axes, the first divisible by {groups}, not shape {shape}")
    value, size = _c.zeros(shape, dtype=tensor.dtype, device=tensor.device), shape[0] // groups
    for group in range(groups):
        for channel in range(min(size, shape[1])):
            value[(group * size + channel, channel, *(n // 2 for n in shape[2:]))] = 1
    return _written(tensor, value)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal numbers with zeros at random positions. `sparsity` is the share of zeros in each column."""
    if tensor.ndim != 2:
        raise _c.InvalidArgumentError(f"[sparse_] takes a matrix, not shape {tuple(tensor.shape)}")
    rows = tensor.shape[0]
    rank = _c.argsort(_c.argsort(_c.rand(tensor.shape, device=tensor.device, generator=generator), 0), 0)
    drawn = _c.randn(tensor.shape, device=tensor.device, generator=generator) * std
    return _written(tensor, _c.where(_c.lt(rank, math.ceil(sparsity * rows)), 0.0, drawn))


def _old(name: str) -> Any:
    def function(tensor: Tensor, *args: Any, **named: Any) -> Tensor:
        warnings.warn(f"nn.init.{name} is the old name of nn.init.{name}_", FutureWarning, stacklevel=2)
        return globals()[f"{name}_"](tensor, *args, **named)

    function.__name__, function.__qualname__ = name, name
    function.__doc__ = f"The old name of {name}_()."
    return function


constant, dirac, eye, normal, orthogonal = map(_old, ("constant", "dirac", "eye", "normal", "orthogonal"))
sparse, uniform, kaiming_normal, kaiming_uniform = map(_old, ("sparse", "uniform", "kaiming_normal", "kaiming_uniform"))
xavier_normal, xavier_uniform = map(_old, ("xavier_normal", "xavier_uniform"))


def __dir__():
    return __all__
