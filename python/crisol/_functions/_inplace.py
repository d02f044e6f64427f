"""Methods in place: the result of a method replaces the elements. python/stub.py derives their types from the types of
the methods."""

from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._method import _aliases, _in_place, _method
from . import _arrange, _index, _math, _matrix, _members, _order, _reduce  # noqa: F401

__all__: list[str] = ["relu_", "selu_", "celu_", "clamp_", "nan_to_num_"]

_in_place(Tensor, "clamp", "clip", "clamp_min", "clamp_max", "div", "divide", "true_divide", "round", "frac", "deg2rad")
_in_place(
    Tensor, "rad2deg", "logit", "sinc", "xlogy", "heaviside", "nan_to_num", "fmax", "fmin", "ldexp", "float_power"
)
_in_place(Tensor, "gcd", "lcm", "erfinv", "digamma", "addmm", "addmv", "addr", "baddbmm", "addbmm", "tril", "triu")
_in_place(Tensor, "cumsum", "cumprod", "renorm", "scatter", "scatter_add", "scatter_reduce", "index_add", "index_copy")
_in_place(Tensor, "index_fill", "index_put", "index_reduce", "masked_scatter", "put", "bitwise_and", "bitwise_or")
_in_place(Tensor, "bitwise_xor", "bitwise_not", "bitwise_left_shift", "bitwise_right_shift")
_in_place(Tensor, "eq", "ne", "lt", "le", "gt", "ge")
_aliases(Tensor, fix_="trunc_", sgn_="sign_", arccos_="acos_", arcsin_="asin_", arctan_="atan_", greater_="gt_")
_aliases(Tensor, greater_equal_="ge_", less_equal_="le_")
_aliases(Tensor, arccosh_="acosh_", arcsinh_="asinh_", arctanh_="atanh_", less_="lt_", not_equal_="ne_")


@_method(Tensor)
def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Overwrites the elements whose indices are all equal with one value. A tensor of more than two axes must have
    equal sizes. With wrap, the diagonal of a matrix with more rows than columns starts anew below its end, behind an
    empty row. Returns this tensor."""
    shape = self.shape
    if self.ndim < 2 or (self.ndim > 2 and len(set(shape)) > 1):
        text = f"takes a matrix, or a tensor whose sizes are equal, not shape {tuple(shape)}"
        raise _c.InvalidArgumentError(f"[fill_diagonal_] {text}")
    rows = shape[0]
    if self.ndim > 2:
        self.as_strided((rows,), (sum(self.stride()),)).fill_(fill_value)
    else:
        for first in range(0, rows, shape[1] + 1) if wrap else (0,):
            _c.diagonal(self.narrow(0, first, rows - first)).fill_(fill_value)
    return self


def _moved(self: Tensor, view: Tensor) -> Tensor:
    """Makes this object refer to a view of its tensor. Other objects of the tensor do not change."""
    if self.is_leaf and self.requires_grad:
        raise _c.InvalidArgumentError("a leaf that wants a gradient keeps its shape; use detach()")
    return self._become(view)


@_method(Tensor)
def t_(self: Tensor) -> Tensor:
    """Makes this object refer to the transposed matrix. Returns this object."""
    return _moved(self, self.t())


@_method(Tensor)
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Makes this object refer to the view with two axes exchanged. Returns this object."""
    return _moved(self, self.transpose(dim0, dim1))


@_method(Tensor)
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """Makes this object refer to the view with the new axis. Returns this object."""
    return _moved(self, self.unsqueeze(dim))


@_method(Tensor)
def squeeze_(self: Tensor, dim: Any = None) -> Tensor:
    """Makes this object refer to the view without axes of size 1. Returns this object."""
    return _moved(self, self.squeeze(dim))


def relu_(input: Tensor) -> Tensor:
    """Replaces the elements by those of relu(). Returns the tensor."""
    return input.relu_()


def selu_(input: Tensor) -> Tensor:
    """Replaces the elements by those of selu(). Returns the tensor."""
    return input.selu_()


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Replaces the elements by those of celu(). Returns the tensor."""
    return input.celu_(alpha)


def clamp_(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Replaces the elements by those of clamp(). Returns the tensor."""
    return input.clamp_(min, max)


def nan_to_num_(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Replaces the elements by those of nan_to_num(). Returns the tensor."""
    return input.nan_to_num_(nan, posinf, neginf)


# PyTorch has these methods as functions too.
abs_, acos_, acosh_, addmv_ = Tensor.abs_, Tensor.acos_, Tensor.acosh_, Tensor.addmv_
arccos_, arccosh_, arcsin_, arcsinh_ = Tensor.arccos_, Tensor.arccosh_, Tensor.arcsin_, Tensor.arcsinh_
arctan_, arctanh_, asin_, asinh_ = Tensor.arctan_, Tensor.arctanh_, Tensor.asin_, Tensor.asinh_
atan_, atanh_, ceil_, clamp_max_ = Tensor.atan_, Tensor.atanh_, Tensor.ceil_, Tensor.clamp_max_
clamp_min_, clip_, cos_, cosh_ = Tensor.clamp_min_, Tensor.clip_, Tensor.cos_, Tensor.cosh_
deg2rad_, detach_, erf_, erfc_ = Tensor.deg2rad_, Tensor.detach_, Tensor.erf_, Tensor.erfc_
exp2_, exp_, expm1_, fill_ = Tensor.exp2_, Tensor.exp_, Tensor.expm1_, Tensor.fill_
fix_, floor_, frac_, gcd_ = Tensor.fix_, Tensor.floor_, Tensor.frac_, Tensor.gcd_
index_put_, lcm_, ldexp_, log10_ = Tensor.index_put_, Tensor.lcm_, Tensor.ldexp_, Tensor.log10_
log1p_, log2_, log_, logit_ = Tensor.log1p_, Tensor.log2_, Tensor.log_, Tensor.logit_
neg_, negative_, rad2deg_, reciprocal_ = Tensor.neg_, Tensor.negative_, Tensor.rad2deg_, Tensor.reciprocal_
round_, rsqrt_, sigmoid_, sin_ = Tensor.round_, Tensor.rsqrt_, Tensor.sigmoid_, Tensor.sin_
sinc_, sinh_, sqrt_, square_ = Tensor.sinc_, Tensor.sinh_, Tensor.sqrt_, Tensor.square_
tan_, tanh_, trunc_, xlogy_ = Tensor.tan_, Tensor.tanh_, Tensor.trunc_, Tensor.xlogy_
zero_ = Tensor.zero_
__all__ += ["abs_", "acos_", "acosh_", "addmv_", "arccos_", "arccosh_", "arcsin_", "arcsinh_"]
__all__ += ["arctan_", "arctanh_", "asin_", "asinh_", "atan_", "atanh_", "ceil_", "clamp_max_"]
__all__ += ["clamp_min_", "clip_", "cos_", "cosh_", "deg2rad_", "detach_", "erf_", "erfc_"]
__all__ += ["exp2_", "exp_", "expm1_", "fill_", "fix_", "floor_", "frac_", "gcd_"]
__all__ += ["index_put_", "lcm_", "ldexp_", "log10_", "log1p_", "log2_", "log_", "logit_"]
__all__ += ["neg_", "negative_", "rad2deg_", "reciprocal_", "round_", "rsqrt_", "sigmoid_", "sin_"]
__all__ += ["sinc_", "sinh_", "sqrt_", "square_", "tan_", "tanh_", "trunc_", "xlogy_"]
__all__ += ["zero_"]
