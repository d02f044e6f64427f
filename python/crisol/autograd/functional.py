"""Derivatives of functions, under the names of torch.autograd.functional."""

from collections.abc import Callable, Sequence
from typing import Any

from .._crisol import Tensor, stack, zeros_like
from . import enable_grad, grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = Tensor | Sequence[Tensor]


def _tuple(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, Tensor) else tuple(value)


def _like(value: Any, parts: Sequence[Any]) -> Any:
    """One tensor if the value is one tensor, else a tuple."""
    return parts[0] if isinstance(value, Tensor) else tuple(parts)


def _inputs(inputs: Tensors, create_graph: bool) -> tuple[Tensor, ...]:
    """Tensors that want a gradient. Those that have a graph are connected with it if it goes on."""
    connected = [x.clone() if create_graph and x.requires_grad else x.detach().requires_grad_() for x in _tuple(inputs)]
    return tuple(connected)


def _or_zero(gradients: Sequence[Tensor | None], inputs: Sequence[Tensor]) -> list[Tensor]:
    return [zeros_like(x) if g is None else g for g, x in zip(gradients, inputs)]


def _gradients(outputs: Any, inputs: Sequence[Tensor], weights: Any, create_graph: bool) -> list[Tensor]:
    pairs = [(y, w) for y, w in zip(_tuple(outputs), _tuple(weights)) if y.requires_grad]
    if not pairs:
        return [zeros_like(x) for x in inputs]
    ys, ws = zip(*pairs)
    found = grad(ys, inputs, ws, retain_graph=True, create_graph=create_graph, allow_unused=True)
    return _or_zero(found, inputs)


def _finished(value: Any, create_graph: bool) -> Any:
    if create_graph:
        return value
    return value.detach() if isinstance(value, Tensor) else tuple(_finished(part, False) for part in value)


@enable_grad()
def vjp(
    func: Callable[..., Any], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The results, and the products of v with the Jacobian."""
    xs = _inputs(inputs, create_graph)
    outputs = func(*xs)
    weights = _like(outputs, [y * 0 + 1 for y in _tuple(outputs)]) if v is None else v
    found = _like(inputs, _gradients(outputs, xs, weights, create_graph))
    return _finished(outputs, create_graph), _finished(found, create_graph)


@enable_grad()
def jvp(
    func: Callable[..., Any], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The results, and the products of the Jacobian with v."""
    xs = _inputs(inputs, create_graph)
    outputs = func(*xs)
    ys = _tuple(outputs)
    # The product of weights with the Jacobian is linear in the weights. Its gradient is the product with v.
    weights = tuple(zeros_like(y.detach()).requires_grad_() for y in ys)
    linear = _gradients(ys, xs, weights, True)
    directions = tuple(x.detach() * 0 + 1 for x in xs) if v is None else _tuple(v)
    found = _like(outputs, _gradients(linear, weights, directions, create_graph))
    return _finished(outputs, create_graph), _finished(found, create_graph)


@enable_grad()
def jacobian(
    func: Callable[..., Any], inputs: Tensors, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The derivatives of all results with respect to all inputs: a tensor of shape result.shape + input.shape, or tuples
    of them."""
    xs = _inputs(inputs, create_graph)
    outputs = func(*xs)
    rows = []
    for y in _tuple(outputs):
        line = y.reshape(-1)
        parts = [_gradients(line[i], xs, zeros_like(line[i].detach()) + 1, create_graph) for i in range(line.numel())]
        rows.append(_like(inputs, [stack([p[k] for p in parts]).reshape(y.shape + x.shape) for k, x in enumerate(xs)]))
    return _finished(_like(outputs, rows), create_graph)


@enable_grad()
def hessian(
    func: Callable[..., Any], inputs: Tensors, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The second derivatives of a function whose result has one element."""

    def first(*xs: Tensor) -> Any:
        return jacobian(func, xs[0] if isinstance(inputs, Tensor) else xs, create_graph=True)

    return jacobian(first, inputs, create_graph)


@enable_grad()
def vhp(
    func: Callable[..., Any], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The result, and the product of v with the second derivatives."""
    xs = _inputs(inputs, create_graph)
    output = func(*xs)
    first = _gradients(output, xs, zeros_like(output.detach()) + 1, True)
    weights = tuple(x.detach() * 0 + 1 for x in xs) if v is None else _tuple(v)
    found = _like(inputs, _gradients(tuple(first), xs, weights, create_graph))
    return _finished(output, create_graph), _finished(found, create_graph)


hvp = vhp  # The second derivatives are symmetric.


def __dir__():
    return __all__
