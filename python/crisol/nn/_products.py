"""Products of matrices with PyTorch's options."""

from __future__ import annotations

from typing import Any

from .. import _crisol as _c
from .._autocast import autocasts
from .._crisol import Tensor

__all__ = ["bilinear", "grouped_mm"]


@autocasts
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1 · W · x2 + bias for input1 (…, I), input2 (…, J) and weight (O, I, J): (…, O)."""
    y = _c.einsum(
        "ni,oij,nj->no", input1.reshape((-1, input1.shape[-1])), weight, input2.reshape((-1, input2.shape[-1]))
    )
    y = y.reshape((*input1.shape[:-1], weight.shape[0]))
    return y if bias is None else y + bias


def grouped_mm(
    mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: Any = None
) -> Tensor:
    """Products of groups: rows of (M, K) by (G, K, N), columns of (G, K, N) by (G, M, K), or parts of the inner axis of
    (M, K) and (K, N). `offs` are the ends of the groups along the axis that is divided. Waits for the device."""
    if mat_a.ndim == 3 and mat_b.ndim == 3:
        found = _c.matmul(mat_a, mat_b)
    else:
        if offs is None:
            raise _c.InvalidArgumentError("[grouped_mm] matrices with two axes need offs")
        ends = [int(end) for end in offs.tolist()]
        groups = [slice(start, end) for start, end in zip([0, *ends], ends)]
        if mat_a.ndim == 2 and mat_b.ndim == 2:
            found = _c.stack([_c.matmul(mat_a[:, group], mat_b[group]) for group in groups])
        elif mat_a.ndim == 2:
            found = _c.concat([_c.matmul(mat_a[group], mat_b[i]) for i, group in enumerate(groups)], axis=0)
        else:
            found = _c.concat([_c.matmul(mat_a[i], mat_b[:, group]) for i, group in enumerate(groups)], axis=1)
    found = found if bias is None else found + bias
    return found if out_dtype is None else found.to(out_dtype)
