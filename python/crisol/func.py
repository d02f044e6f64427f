"""Functions of functions, under the names of torch.func: derivatives, and batches of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ._crisol import InvalidArgumentError, Tensor, _nn, stack
from .autograd import enable_grad
from .autograd import grad as _gradients_of
from .autograd.functional import jacobian as _jacobian
from .autograd.functional import jvp as _jvp

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "stack_module_state"]
__all__ += ["vjp", "vmap"]

_depth = 0  # Derivatives inside a derivative keep their graph.


def _mapped(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """The value with each tensor of it replaced. Values are tensors, and tuples, lists and dicts of values."""
    if isinstance(value, Mapping):
        return {name: _mapped(function, part, *(other[name] for other in others)) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [_mapped(function, *each) for each in zip(value, *others, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return function(value, *others) if isinstance(value, Tensor) else value


def _tensors(value: Any) -> list[Tensor]:
    found: list[Tensor] = []
    _mapped(found.append, value)
    return found


def _connected(x: Tensor) -> Tensor:
    return x.clone() if x.requires_grad else x.detach().requires_grad_()


def _done(value: Any, inputs: Any) -> Any:
    """The value without its graph, if nothing outside goes on with it."""
    goes_on = _depth > 0 or any(x.requires_grad for x in _tensors(inputs))
    return value if goes_on else _mapped(lambda x: x.detach(), value)


class _Deeper:
    def __enter__(self) -> None:
        global _depth
        _depth += 1

    def __exit__(self, *_: object) -> None:
        global _depth
        _depth -= 1


def _gradients(outputs: Any, inputs: Any, weights: Any = None) -> Any:
    found = iter(
        _gradients_of(
            _tensors(outputs), _tensors(inputs), None if weights is None else _tensors(weights),
            retain_graph=True, create_graph=True, allow_unused=True,
        )
    )  # fmt: skip

    def next_one(x: Tensor) -> Tensor:
        gradient = next(found)
        return x.detach() * 0 if gradient is None else gradient

    return _mapped(next_one, inputs)


def grad_and_value(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Any:
    """A function that gives (gradient, value) of a function whose result has one element. argnums are the arguments of
    the gradient. With has_aux the function gives (value, more), and the result is (gradient, (value, more))."""

    @enable_grad()
    def call(*args: Any, **kwargs: Any) -> Any:
        numbers = (argnums,) if isinstance(argnums, int) else argnums
        given = list(args)
        for i in numbers:
            given[i] = _mapped(_connected, args[i])
        with _Deeper():
            result = func(*given, **kwargs)
        value, *more = result if has_aux else (result,)
        if not isinstance(value, Tensor) or value.numel() != 1:
            raise InvalidArgumentError("[grad] the function must give a tensor of one element")
        wanted = tuple(given[i] for i in numbers)
        gradient = _gradients(value, wanted) if value.requires_grad else _mapped(lambda x: x.detach() * 0, wanted)
        gradient = gradient[0] if isinstance(argnums, int) else gradient
        return _done((gradient, (value, more[0]) if has_aux else value), args)

    return call


def grad(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Any:
    """A function that gives the gradient of a function whose result has one element."""
    both = grad_and_value(func, argnums, has_aux)

    def call(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return call


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The results, and a function that gives the products of a weight with the Jacobian, one for each argument."""
    with enable_grad(), _Deeper():
        inputs = _mapped(_connected, primals)
        result = func(*inputs)
    outputs, *more = result if has_aux else (result,)

    def products(weights: Any) -> Any:
        return _done(_gradients(outputs, inputs, weights), (primals, weights))

    return (_done(outputs, primals), products, *more)


def _without_more(func: Callable[..., Any], more: list[Any]) -> Callable[..., Any]:
    """The first of the two results of a function. The second goes into a list."""

    def first(*args: Any, **kwargs: Any) -> Any:
        value, aux = func(*args, **kwargs)
        more[:] = [aux]
        return value

    return first


def jvp(
    func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], *, strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The results, and the products of the Jacobian with tangents. With has_aux the function gives (results, more), and
    `more` is a third result. `strict` has no effect."""
    more: list[Any] = []
    found = _jvp(_without_more(func, more) if has_aux else func, primals, tangents, create_graph=_depth > 0)
    return (*found, *_done(more, primals))


def jacrev(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False,
    chunk_size: int | None = None, randomness: str = "error",
) -> Any:  # fmt: skip
    """A function that gives the derivatives of all results with respect to arguments. With has_aux the function gives
    (results, more), and the result is (derivatives, more). chunk_size and `randomness` have no effect."""
    numbers = (argnums,) if isinstance(argnums, int) else argnums

    def call(*args: Any, **kwargs: Any) -> Any:
        more: list[Any] = []
        wanted = _without_more(func, more) if has_aux else func

        def of_inputs(*inputs: Tensor) -> Any:
            given = list(args)
            for i, x in zip(numbers, inputs):
                given[i] = x
            with _Deeper():
                return wanted(*given, **kwargs)

        inputs = args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in numbers)
        found = _done(_jacobian(of_inputs, inputs, create_graph=True), args)
        return (found, *_done(more, args)) if has_aux else found

    return call


jacfwd = jacrev


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Any:
    """A function that gives the second derivatives of a function whose result has one element."""
    return jacrev(jacrev(func, argnums), argnums)


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error",
    chunk_size: int | None = None,
) -> Any:  # fmt: skip
    """A function that calls `func` for each entry along an axis of its arguments, and stacks the results. in_dims are the
    axes of the arguments; None means that all calls get the whole argument."""

    def call(*args: Any, **kwargs: Any) -> Any:
        axes = tuple(in_dims) if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
        pairs = [(arg, _axes_for(arg, axis)) for arg, axis in zip(args, axes, strict=True)]
        sizes = {x.shape[axis] for arg, dims in pairs for x, axis in _with_axes(arg, dims)}
        sizes |= {x.shape[0] for x in _tensors(kwargs)}
        if len(sizes) != 1:
            raise ValueError(f"vmap: the batches have the sizes {sorted(sizes)}, and it takes one size")
        results = []
        for i in range(sizes.pop()):
            given = [_entry(arg, dims, i) for arg, dims in pairs]
            results.append(func(*given, **{n: _mapped(lambda x: x[i], v) for n, v in kwargs.items()}))
        return _stacked(results, out_dims)

    return call


def _axes_for(value: Any, axis: Any) -> Any:
    """The axis of each tensor of a value."""
    if isinstance(axis, (tuple, list, Mapping)):
        return axis
    if isinstance(value, Mapping):
        return {name: _axes_for(part, axis) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple(_axes_for(part, axis) for part in value)
    return axis


def _with_axes(value: Any, axes: Any) -> list[tuple[Tensor, int]]:
    if isinstance(value, Tensor):
        return [] if axes is None else [(value, axes)]
    if isinstance(value, Mapping):
        return [pair for name, part in value.items() for pair in _with_axes(part, axes[name])]
    if isinstance(value, (tuple, list)):
        return [pair for part, axis in zip(value, axes) for pair in _with_axes(part, axis)]
    return []


def _entry(value: Any, axes: Any, i: int) -> Any:
    if isinstance(value, Tensor):
        return value if axes is None else value.select(axes, i)
    if isinstance(value, Mapping):
        return {name: _entry(part, axes[name], i) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_entry(part, axis, i) for part, axis in zip(value, axes))
    return value


def _stacked(results: list[Any], axis: Any) -> Any:
    first = results[0]
    if isinstance(first, Tensor):
        return stack(results, axis)
    if isinstance(first, Mapping):
        return {name: _stacked([result[name] for result in results], axis) for name in first}
    if isinstance(first, (tuple, list)):
        axes = axis if isinstance(axis, (tuple, list)) else (axis,) * len(first)
        return type(first)(_stacked(list(parts), each) for parts, each in zip(zip(*results), axes))
    raise TypeError(f"vmap: the function gives a {type(first).__name__}, and it must give tensors")


def _assign(owner: _nn.Module, names: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    """All parameters are registered again, so that they keep their order."""
    for name in names:
        if isinstance(getattr(owner, name, None), _nn.Parameter):
            delattr(owner, name)
    for name, tensor in {**names, **values}.items():
        setattr(owner, name, tensor)


def functional_call(
    module: _nn.Module, parameter_and_buffer_dicts: Any, args: Any = (), kwargs: Any = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """Calls a module with other values of its parameters and buffers, given by name. Gradients go to these values."""
    given = parameter_and_buffer_dicts
    tensors = dict(given) if isinstance(given, Mapping) else {n: x for part in given for n, x in part.items()}
    unknown = sorted(set(tensors) - {n for n, _ in module.named_parameters()} - {n for n, _ in module.named_buffers()})
    if unknown:
        raise InvalidArgumentError(f"[functional_call] the module has no parameter or buffer {unknown}")
    owners: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        path, _, own = name.rpartition(".")
        owners.setdefault(path, {})[own] = tensor
    before: list[tuple[_nn.Module, dict[str, Tensor], dict[str, Tensor]]] = []
    try:
        for path, values in owners.items():
            owner = module.get_submodule(path)
            before.append((owner, dict(owner._parameters), dict(owner._buffers)))
            _assign(owner, owner._parameters, values)
        return module(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))
    finally:
        for owner, parameters, buffers in before:
            _assign(owner, parameters, {**parameters, **buffers})


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of equal modules, stacked by name."""
    models = list(models)
    kinds = (lambda m: m.named_parameters(), lambda m: m.named_buffers())
    parameters, buffers = ({name: stack([dict(k(m))[name] for m in models]) for name, _ in k(models[0])} for k in kinds)
    return {n: x.detach().requires_grad_() for n, x in parameters.items()}, {n: x.detach() for n, x in buffers.items()}


def __dir__():
    return __all__
