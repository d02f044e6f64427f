"""Named results."""

from typing import Any, NamedTuple

from .._crisol import Tensor


class ValuesIndices(NamedTuple):
    """Elements and their positions, for max(), min(), sort(), topk(), median() and other functions along an axis."""

    values: Tensor
    indices: Tensor


class MinMax(NamedTuple):
    """The result of aminmax()."""

    min: Tensor
    max: Tensor


class Histogram(NamedTuple):
    """The result of histogram()."""

    hist: Tensor
    bin_edges: Tensor


class Frexp(NamedTuple):
    """The result of frexp()."""

    mantissa: Tensor
    exponent: Tensor


class SVD(NamedTuple):
    """The result of svd()."""

    U: Tensor
    S: Tensor
    V: Tensor


class LstsqResult(NamedTuple):
    """The result of lstsq()."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


def _refuse(self: ValuesIndices, name: str) -> Any:
    if hasattr(Tensor, name):
        raise AttributeError(f"this is a pair (values, indices), as in PyTorch: take .values for .{name} (crisol 0.3)")
    raise AttributeError(name)


def _refuse_operator(self: ValuesIndices, other: Any) -> Any:
    raise TypeError("this is a pair (values, indices), as in PyTorch: take .values to compute with it (crisol 0.3)")


# A program for 0.2 has one tensor here.
for _name in ("add", "radd", "mul", "rmul", "sub", "rsub", "truediv", "rtruediv", "matmul", "neg"):
    setattr(ValuesIndices, f"__{_name}__", _refuse_operator)
setattr(ValuesIndices, "__getattr__", _refuse)


class LUFactors(NamedTuple):
    """Both triangles in one matrix, and for each row the number of the row (from 1) that it was exchanged with."""

    LU: Tensor
    pivots: Tensor


class LUFactorsInfo(NamedTuple):
    """LUFactors, and for each matrix the number of the first zero on the diagonal of U, or 0."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


class LUResult(NamedTuple):
    """The factors of A = P L U."""

    P: Tensor
    L: Tensor
    U: Tensor
