"""Limits for gradients, to be called after backward() and before step(), and norms of weights."""

from collections.abc import Iterable
from typing import Any

from ... import _crisol as _c
from ..._crisol import Tensor
from ..._crisol._optim import _clip_grad_norm, _clip_grad_value
from ...autograd import no_grad
from . import fusion, parametrizations, parametrize, prune, rnn
from .fusion import fuse_conv_bn_eval, fuse_conv_bn_weights, fuse_linear_bn_eval, fuse_linear_bn_weights
from ._norms import remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm

__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector"]
__all__ += ["parametrizations", "parametrize", "prune", "remove_spectral_norm", "remove_weight_norm", "rnn", "skip_init"]
__all__ += ["spectral_norm", "vector_to_parameters", "weight_norm"]
__all__ += ["clip_grad_norm", "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval"]
__all__ += ["fuse_linear_bn_weights", "fusion"]


def _list_of(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales all gradients so that their joint norm is at most max_norm. The norm is the Euclidean norm, or another
    p-norm.

    Returns the norm before scaling, as a tensor without axes. The call does not wait for the device, except with
    error_if_nonfinite: then it raises if the norm is NaN or infinite, and does not change gradients. `foreach` has no
    effect.
    """
    return _clip_grad_norm(_list_of(parameters), float(max_norm), float(norm_type), error_if_nonfinite)


clip_grad_norm = clip_grad_norm_


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Limits every element of the gradients to [-clip_value, clip_value]."""
    _clip_grad_value(_list_of(parameters), clip_value)


def get_total_norm(
    tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """The common p-norm of all tensors."""
    norms = [_c.norm(x, p=float(norm_type)) for x in _list_of(tensors)]
    total = _c.norm(_c.stack(norms), p=float(norm_type)) if norms else _c.zeros(())
    if error_if_nonfinite and not _c.isfinite(total).item():
        raise _c.InvalidArgumentError(f"[get_total_norm] the norm is {total.item()}")
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scales all gradients by max_norm / total_norm, if that is below 1."""
    factor = _c.minimum(max_norm / (total_norm + 1e-6), 1.0)
    with no_grad():
        for parameter in _list_of(parameters):
            if parameter.grad is not None:
                parameter.grad.mul_(factor)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of the parameters as one line."""
    return _c.concat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Overwrites the parameters with the elements of a line."""
    at = 0
    with no_grad():
        for parameter in parameters:
            parameter.copy_(vec[at : at + parameter.numel()].reshape(parameter.shape))
            at += parameter.numel()


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A layer of a class. Its parameters have initial values anyway."""
    return module_cls(*args, **kwargs)


def __dir__():
    return __all__
