"""One layer in place of a layer and the batch norm behind it, for inference."""

from __future__ import annotations

import copy
from typing import Any

from ... import _crisol as _c
from ..._crisol import Tensor
from ..._crisol._nn import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def fuse_conv_bn_weights(
    conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor | None,
    bn_b: Tensor | None, transpose: bool = False,
) -> tuple[Parameter, Parameter]:  # fmt: skip
    """The weight and bias of a convolution that also normalizes."""
    scale = _c.rsqrt(bn_rv + bn_eps)
    scale = scale if bn_w is None else scale * bn_w
    shape = [1] * conv_w.ndim
    shape[1 if transpose else 0] = -1
    bias = ((0.0 if conv_b is None else conv_b) - bn_rm) * scale
    bias = bias if bn_b is None else bias + bn_b
    weight = (conv_w * scale.reshape(shape)).to(conv_w.dtype)
    return Parameter(weight.detach(), conv_w.requires_grad), Parameter(bias.to(conv_w.dtype).detach())


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:  # fmt: skip
    """The weight and bias of a linear layer that also normalizes."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of a layer that also computes the batch norm behind it. Both are in evaluation mode."""
    if conv.training or bn.training:
        raise _c.InvalidArgumentError("[fuse_conv_bn_eval] call eval() of both layers first")
    if bn.running_mean is None:
        raise _c.InvalidArgumentError("[fuse_conv_bn_eval] the norm has no running statistics")
    fused = copy.deepcopy(conv)
    fused.weight, bias = fuse_conv_bn_weights(
        conv.weight, conv.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    fused.bias = bias
    return fused


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """The same for a linear layer."""
    return fuse_conv_bn_eval(linear, bn)


def __dir__():
    return __all__
