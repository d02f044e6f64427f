"""Gradients of functions beside differences of their values."""

from collections.abc import Callable, Sequence
from typing import Any

from .._crisol import Tensor, float64, ones_like, zeros_like
from . import enable_grad, grad, no_grad
from .functional import _tuple

__all__ = ["gradcheck", "gradgradcheck"]


def gradcheck(
    func: Callable[..., Any], inputs: Tensor | Sequence[Any], *, eps: float | None = None, atol: float | None = None,
    rtol: float | None = None, raise_exception: bool = True, **_: Any,
) -> bool:  # fmt: skip
    """Whether the gradients of a function agree with differences of its values at x + eps and x - eps. Raises, or returns
    False, if they do not. The defaults are 1e-6, 1e-5 and 1e-3, as in PyTorch, if all inputs with gradients are float64,
    and otherwise 1e-2 each."""
    given = _tuple(inputs)
    eps, atol, rtol = _bounds(given, eps, atol, rtol)
    for i, x in enumerate(given):
        if isinstance(x, Tensor) and x.requires_grad:
            for k, y in enumerate(_tuple(func(*given))):
                text = _difference(func, given, i, k, y, (eps, atol, rtol))
                if text and raise_exception:
                    raise RuntimeError(text)
                if text:
                    return False
    return True


def gradgradcheck(
    func: Callable[..., Any], inputs: Tensor | Sequence[Any], grad_outputs: Tensor | Sequence[Tensor] | None = None, *,
    eps: float | None = None, atol: float | None = None, rtol: float | None = None, raise_exception: bool = True,
    **_: Any,
) -> bool:  # fmt: skip
    """gradcheck() of the gradients of a function, with weights of its results that are 1 or given."""
    given = _tuple(inputs)
    weights = [ones_like(y) for y in _tuple(func(*given))] if grad_outputs is None else list(_tuple(grad_outputs))

    def gradients(*values: Any) -> tuple[Tensor, ...]:
        with enable_grad():  # gradcheck() moves copies of the inputs, without gradients.
            wanted = [isinstance(x, Tensor) and x.requires_grad for x in given]
            inputs = [x.requires_grad_() if want and not x.requires_grad else x for x, want in zip(values, wanted)]
            of = [x for x, want in zip(inputs, wanted) if want]
            return grad(list(_tuple(func(*inputs))), of, weights, create_graph=True)

    return gradcheck(gradients, given, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception)


def _bounds(given: tuple[Any, ...], *wanted: float | None) -> list[float]:
    moved = [x.dtype for x in given if isinstance(x, Tensor) and x.requires_grad]
    exact = bool(moved) and all(dtype is float64 for dtype in moved)
    usual = (1e-6, 1e-5, 1e-3) if exact else (1e-2, 1e-2, 1e-2)
    return [number if one is None else one for one, number in zip(wanted, usual)]


def _difference(func: Any, given: tuple[Any, ...], i: int, k: int, y: Tensor, bounds: Sequence[float]) -> str:
    eps, atol, rtol = bounds
    for place in range(y.numel()):
        one = y.reshape(-1)[place]
        found = grad(one, given[i], retain_graph=True, allow_unused=True)[0] if one.requires_grad else None
        gradient = (zeros_like(given[i]) if found is None else found).reshape(-1).tolist()
        for j in range(given[i].numel()):
            wanted = (_value(func, given, i, j, k, place, eps) - _value(func, given, i, j, k, place, -eps)) / (2 * eps)
            difference = gradient[j] - wanted
            if not -atol - rtol * max(wanted, -wanted) <= difference <= atol + rtol * max(wanted, -wanted):
                return f"[gradcheck] result {k}, input {i}: the gradient is {gradient[j]}, the difference {wanted}"
    return ""


def _value(func: Any, given: tuple[Any, ...], i: int, j: int, k: int, place: int, step: float) -> float:
    with no_grad():
        moved = given[i].detach().clone()
        moved.reshape(-1)[j] += step
        result = _tuple(func(*(moved if n == i else x for n, x in enumerate(given))))[k]
        return float(result.reshape(-1)[place].item())
