"""Functions of each element, with PyTorch's names and arguments."""

import math
from typing import Any

from .. import _crisol as _c
from .._autocast import autocasts
from .._crisol import Tensor, mul, sub
from .._method import _aliases, _method, into, may_convert, tell_once
from ._sloped import rounded_once, sloped
from ._types import both_floats, finfo, floats

__all__ = ["absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "bitwise_not", "clamp"]
__all__ += [
    "clamp_max",
    "clamp_min",
    "clip",
    "deg2rad",
    "div",
    "divide",
    "equal",
    "expit",
    "fix",
    "float_power",
    "fmax",
]
__all__ += [
    "fmin",
    "frac",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "is_complex",
    "is_floating_point",
]
__all__ += ["is_same_size", "is_signed", "is_tensor", "isneginf", "isposinf", "isreal", "lcm", "ldexp", "less"]
__all__ += ["less_equal", "logaddexp2", "logit", "multiply", "nan_to_num", "negative", "not_equal", "numel", "positive"]
__all__ += ["rad2deg", "round", "rsub", "sgn", "sinc", "subtract", "true_divide", "xlogy", "xlog1py", "threshold"]
__all__ += ["nextafter", "erfinv", "digamma", "can_cast", "clone", "detach", "pow"]

absolute, negative, multiply, subtract = _c.abs, _c.neg, mul, sub
arccos, arcsin, arctan, arccosh, arcsinh, arctanh = _c.acos, _c.asin, _c.atan, _c.acosh, _c.asinh, _c.atanh
arctan2, fix, expit, bitwise_not = _c.atan2, _c.trunc, _c.sigmoid, _c.bitwise_invert
not_equal, less, less_equal, greater, greater_equal = _c.ne, _c.lt, _c.le, _c.gt, _c.ge

_aliases(Tensor, absolute="abs", negative="neg", multiply="mul", subtract="sub", arccos="acos", arcsin="asin")
_aliases(Tensor, arctan="atan", arccosh="acosh", arcsinh="asinh", arctanh="atanh", arctan2="atan2", fix="trunc")
_aliases(Tensor, not_equal="ne", less="lt", less_equal="le", greater="gt", greater_equal="ge", multiply_="mul_")
_aliases(Tensor, subtract_="sub_", absolute_="abs_", negative_="neg_", sgn="sign", nelement="numel", ndimension="dim")
_aliases(Tensor, expit="sigmoid", arctan2_="atan2_")


def _limits(input: Any, min: Any, max: Any, name: str) -> Any:
    if min is None and max is None:
        raise _c.InvalidArgumentError(f"[{name}] at least one of min and max must be given")
    if not isinstance(input, Tensor):  # An expression of crisol.fuse.
        return _c.clamp(input, -math.inf if min is None else min, math.inf if max is None else max)
    if _c.isdtype(input.dtype, "integral") and any(isinstance(bound, float) for bound in (min, max)):
        input = input.float()
    for bound in (min, max):
        if isinstance(bound, Tensor):
            input = input.to(_c.result_type(input, bound))
    return _c._clip(input, min, max)


@_method(Tensor)
def clamp(input: Any, min: Any = None, max: Any = None, *, out: Tensor | None = None) -> Tensor:
    """min(max(x, min), max), for each element. The bounds are numbers or tensors, and one may be left out."""
    return into(out, _limits(input, min, max, "clamp"))


@_method(Tensor)
def clip(input: Any, min: Any = None, max: Any = None, *, out: Tensor | None = None) -> Tensor:
    """clamp()."""
    return into(out, _limits(input, min, max, "clip"))


@_method(Tensor)
def clamp_min(input: Tensor, min: Any) -> Tensor:
    """max(x, min), for each element."""
    return _limits(input, min, None, "clamp_min")


@_method(Tensor)
def clamp_max(input: Tensor, max: Any) -> Tensor:
    """min(x, max), for each element."""
    return _limits(input, None, max, "clamp_max")


@_method(Tensor)
def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """input / other, for each element. With rounding_mode "floor" or "trunc" it is rounded to a whole number."""
    if rounding_mode is None:
        return into(out, _c.div(input, other))
    if rounding_mode == "floor":
        return into(out, _c.floor_divide(input, other))
    if rounding_mode != "trunc":
        raise _c.InvalidArgumentError(f"[div] rounding_mode is {rounding_mode!r}, allowed are 'floor' and 'trunc'")
    quotient = _c.div(input, other)
    if _c.isdtype(_c.result_type(input, other), "integral"):
        # If the signs differ and there is a remainder, the floor is one below the truncated quotient.
        below = _c.floor_divide(input, other)
        exact = _c.eq(_c.mul(below, other), input)
        return into(out, _c.where(_c.logical_or(exact, _c.ge(below, 0)), below, below + 1))
    return into(out, _c.trunc(quotient))


@_method(Tensor)
def divide(input: Any, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """div()."""
    return div(input, other, rounding_mode=rounding_mode, out=out)


@_method(Tensor)
def true_divide(input: Any, other: Any) -> Tensor:
    """input / other, for each element."""
    return _c.div(input, other)


@_method(Tensor)
def round(input: Any, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest whole number, or the even one of two. With `decimals`, the nearest number with this many decimals."""
    if decimals == 0:
        return into(out, _c.round(input))
    factor = 10.0**decimals
    return into(out, _c.div(_c.round(_c.mul(input, factor)), factor))


@_method(Tensor)
def pow(input: Any, exponent: Any = None, *, other: Any = None, out: Tensor | None = None) -> Tensor:
    """input to the power of the exponent, for each element."""
    return into(out, _c.pow(input, other if exponent is None else exponent))


@_method(Tensor)
def frac(input: Tensor) -> Tensor:
    """x - trunc(x), for each element."""
    return input - _c.trunc(input)


@_method(Tensor)
def deg2rad(input: Tensor) -> Tensor:
    """x · π / 180, for each element."""
    return input * (math.pi / 180)


@_method(Tensor)
def rad2deg(input: Tensor) -> Tensor:
    """x · 180 / π, for each element."""
    return input * (180 / math.pi)


@_method(Tensor)
@autocasts
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)), for each element, which is first limited to [eps, 1 - eps]."""
    x = floats(input)
    if eps is not None:
        x = _c.where(_c.lt(x, eps), eps, _c.where(_c.gt(x, 1 - eps), 1 - eps, x))
    return _c.log(x / (1 - x))


@_method(Tensor)
@rounded_once
def sinc(input: Tensor) -> Tensor:
    """sin(πx) / (πx), and 1 at 0."""
    zero = _c.eq(input, 0)
    turned = _c.where(zero, 1.0, input * math.pi)
    return _c.where(zero, 1.0, _c.sin(turned) / turned)


@_method(Tensor)
@autocasts
def xlogy(input: Any, other: Any) -> Tensor:
    """x log(y), and 0 where x is 0 unless y is NaN."""
    return _times_log(input, other, _c.log)


@autocasts
def xlog1py(input: Any, other: Any) -> Tensor:
    """x log(1 + y), and 0 where x is 0 unless y is NaN."""
    return _times_log(input, other, _c.log1p)


def _times_log(input: Any, other: Any, log: Any) -> Tensor:
    x, y = both_floats(input, other)
    zero = _c.logical_and(_c.eq(x, 0), _c.logical_not(_c.logical_or(_c.isfinite(log(y)), _c.isnan(y))))
    return _c.where(zero, 0.0, x * log(_c.where(zero, 1.0, y)))


@_method(Tensor)
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 below 0, 1 above 0, and `values` at 0."""
    step = _c.where(_c.eq(input, 0), values.to(input.dtype), _c.gt(input, 0).to(input.dtype))
    return _c.where(_c.isnan(input), 0.0, step) if _c.isdtype(input.dtype, "real floating") else step


@_method(Tensor)
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """The elements, with NaN replaced by 0, and infinity by the largest finite number."""
    if not _c.isdtype(input.dtype, "real floating"):
        return input.clone()
    largest = finfo(input.dtype).max
    x = _c.where(_c.isnan(input), 0.0 if nan is None else nan, input)
    x = _c.where(_c.eq(x, math.inf), largest if posinf is None else posinf, x)
    return _c.where(_c.eq(x, -math.inf), -largest if neginf is None else neginf, x)


def fmax(input: Tensor, other: Tensor) -> Tensor:
    """The larger of both numbers. If one is NaN, the result is the other."""
    return _c.where(_c.isnan(other), input, _c.where(_c.isnan(input), other, _c.maximum(input, other)))


def fmin(input: Tensor, other: Tensor) -> Tensor:
    """The smaller of both numbers. If one is NaN, the result is the other."""
    return _c.where(_c.isnan(other), input, _c.where(_c.isnan(input), other, _c.minimum(input, other)))


_method(Tensor)(fmax)
_method(Tensor)(fmin)


@_method(Tensor)
def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """log2(2^x + 2^y), without overflow."""
    return _c.logaddexp(input * math.log(2), other * math.log(2)) / math.log(2)


@_method(Tensor)
def ldexp(input: Any, other: Any) -> Tensor:
    """x · 2^y, for each element."""
    found = _c.mul(input, _c.pow(2.0, other))
    whole = isinstance(other, Tensor) and not _c.isdtype(other.dtype, "real floating")
    half = isinstance(input, Tensor) and _c.isdtype(input.dtype, "real floating") and input.dtype.itemsize == 2
    return found.to(input.dtype) if whole and half else found


@_method(Tensor)
def float_power(input: Any, exponent: Any) -> Tensor:
    """pow() in float64."""
    return _c.pow(*(v.to(_c.float64) if isinstance(v, Tensor) else float(v) for v in (input, exponent)))


@_method(Tensor)
def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """The number next to `input` in the direction of `other`."""
    if input.dtype != other.dtype:
        common = _c.result_type(input, other)
        input, other = input.to(common), other.to(common)
    if input.dtype.itemsize != 2 or not _c.isdtype(input.dtype, "real floating"):
        return _c.nextafter(input, other)
    input, other = _c._broadcast_tensors([input, other])
    # The bits of halves are in the order of their sizes, so the next half has the next number as its bits.
    bits = input.view(_c.int16)
    away = _c.gt(other, input) == _c.gt(input, 0)
    found = _c.where(_c.eq(input, 0), _c.where(_c.gt(other, 0), 1, -32767), bits + _c.where(away, 1, -1)).to(_c.int16)
    found = _c.where(_c.eq(input, other), other.view(_c.int16), found).view(input.dtype)
    return _c.where(_c.logical_or(_c.isnan(input), _c.isnan(other)), math.nan, found)


def rsub(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """other - alpha · input."""
    return other - input * alpha


@_method(Tensor)
def gcd(input: Tensor, other: Tensor) -> Tensor:
    """The greatest common divisor of whole numbers, for each element. Waits for the device."""
    a, b = _c.abs(input), _c.abs(other)
    a, b = a + _c.zeros_like(b), b + _c.zeros_like(a)
    while _c.any(_c.ne(b, 0)).item():
        a, b = _c.where(_c.eq(b, 0), a, b), _c.where(_c.eq(b, 0), 0, _c.remainder(a, _c.where(_c.eq(b, 0), 1, b)))
    return a


@_method(Tensor)
def lcm(input: Tensor, other: Tensor) -> Tensor:
    """The least common multiple of whole numbers, for each element. Waits for the device."""
    divisor = gcd(input, other)
    return _c.abs(_c.mul(_c.floor_divide(input, _c.where(_c.eq(divisor, 0), 1, divisor)), other))


@_method(Tensor)
def sgn(input: Tensor) -> Tensor:
    """sign()."""
    return _c.sign(input)


@_method(Tensor)
def positive(input: Tensor) -> Tensor:
    """x itself."""
    return +input


@_method(Tensor)
def isneginf(input: Tensor) -> Tensor:
    """Whether x is -inf, for each element."""
    return _c.eq(input, -math.inf)


@_method(Tensor)
def isposinf(input: Tensor) -> Tensor:
    """Whether x is inf, for each element."""
    return _c.eq(input, math.inf)


@_method(Tensor)
def isreal(input: Tensor) -> Tensor:
    """True everywhere, because there are no complex dtypes."""
    return _c.ones_like(input, dtype=_c.bool)


@_method(Tensor)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether both tensors have the same shape and the same elements. Waits."""
    tell_once("equal", "equal() compares whole tensors, as in PyTorch; eq() and == compare each element")
    return input.shape == other.shape and bool(_c.all(_c.eq(input, other)).item())


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x, and the value where x is at most the threshold. Both numbers are converted to the dtype."""
    if _c.isdtype(input.dtype, "integral"):
        threshold, value = int(threshold), int(value)
    return _c.where(_c.le(input, threshold), value, input)


def is_tensor(obj: object) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


@_method(Tensor)
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floating-point numbers."""
    return _c.isdtype(input.dtype, "real floating")


@_method(Tensor)
def is_complex(input: Tensor) -> bool:
    """False, because there are no complex dtypes."""
    return False


@_method(Tensor)
def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return _c.isdtype(input.dtype, ("real floating", "signed integer"))


@_method(Tensor)
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether both tensors have the same shape."""
    return input.shape == other.shape


def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A contiguous copy."""
    return input.clone()


def detach(input: Tensor) -> Tensor:
    """The same elements, outside the graph."""
    return input.detach()


def can_cast(from_: Any, to: Any) -> bool:
    """Whether a function may convert elements of a dtype (or of a tensor) to another dtype. It may not convert a float
    to a whole number, or a number to a bool."""
    return may_convert(from_.dtype if isinstance(from_, Tensor) else from_, to)


@_method(Tensor)
@autocasts
def erfinv(input: Tensor) -> Tensor:
    """The inverse of erf(), with a relative error of at most 1e-6, or of a few eps of float64."""
    return sloped(floats(input), _erfinv, lambda x: _c.exp(_c.square(erfinv(x))) * (math.sqrt(math.pi) / 2))


def _erfinv(x: Tensor) -> Tensor:
    y = _giles_erfinv(x)
    if x.dtype != _c.float64:
        return y
    sign, rest = _c.sign(x), 1 - _c.abs(x)
    tail = -_c.log(rest)  # The square of y up to its logarithm, where the approximation is not for float32 any more.
    far = _c.logical_and(_c.gt(rest, 0), _c.lt(rest, 1e-6))
    y = _c.where(far, sign * _c.sqrt(_c.abs(tail - 0.5 * _c.log(math.pi * tail))), y)
    for _ in range(3):  # Halley's steps. Near 1 the complement of the error function has more digits.
        near = _c.where(_c.isfinite(y), y, 0.0)
        beyond = (rest - _c.erfc(_c.abs(near))) * sign
        error = _c.where(_c.gt(_c.abs(x), 0.5), beyond, _c.erf(near) - x)
        step = error * _c.exp(_c.square(near)) * (math.sqrt(math.pi) / 2)
        y = _c.where(_c.isfinite(y), y - step / (1 + near * step), y)
    return y


def _giles_erfinv(x: Tensor) -> Tensor:
    w = -_c.log((1 - x) * (1 + x))
    central, tail = w - 2.5, _c.sqrt(_c.maximum(w, 5.0)) - 3.0
    # M. Giles, Approximating the erfinv function, 2010.
    inner = [2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503]
    inner += [-0.00417768164, 0.246640727, 1.50140941]
    outer = [-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613]
    outer += [0.00943887047, 1.00167406, 2.83297682]
    p, q = _c.full_like(x, inner[0]), _c.full_like(x, outer[0])
    for a, b in zip(inner[1:], outer[1:]):
        p, q = p * central + a, q * tail + b
    return _c.where(_c.eq(_c.abs(x), 1), x * math.inf, _c.where(_c.lt(w, 5), p, q) * x)


@_method(Tensor)
def digamma(input: Tensor) -> Tensor:
    """The derivative of lgamma()."""
    from ..special import polygamma

    x = floats(input)
    return sloped(x, _digamma, lambda x: polygamma(1, x))


def _digamma(input: Tensor) -> Tensor:
    from ..autograd import enable_grad, grad

    with enable_grad():
        x = input.detach().clone().requires_grad_()
        return grad(_c.sum(_c.lgamma(x)), x)[0]
