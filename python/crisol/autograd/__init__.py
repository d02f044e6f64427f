"""Gradients: recording modes, functions with their own gradient, checkpoints."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from .. import _crisol
from .._crisol import Tensor, _autograd
from .._crisol._autograd import is_grad_enabled
from .._mode import Mode
from .._public import belongs_to
from ._function import Context as Context, Function as Function

__all__ = ["Function", "checkpoint", "detect_anomaly", "enable_grad", "grad", "is_grad_enabled", "no_grad"]
__all__ += ["Variable", "backward", "functional", "gradcheck", "gradgradcheck", "inference_mode", "profiler"]
__all__ += ["set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled", "variable"]

belongs_to("crisol.autograd", (Context, Function))


class no_grad(Mode):
    """Switches recording off on this thread: `with no_grad(): …`, or `@no_grad` for a function."""

    _scope = _autograd.NoGrad


class enable_grad(Mode):
    """Switches recording on again inside no_grad()."""

    _scope = _autograd.EnableGrad


class inference_mode(Mode):
    """The same as no_grad(). With mode=False it is the same as enable_grad()."""

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self._mode = mode
        self._scope = _autograd.NoGrad if mode else _autograd.EnableGrad

    def _again(self) -> Self:
        return type(self)(self._mode)


class set_grad_enabled(Mode):
    """Switches recording on or off on this thread. This happens at once: `set_grad_enabled(False)`.

    After `with set_grad_enabled(training): …`, the mode is the same as before the call. As a decorator, it changes the
    mode only inside the function.
    """

    def __init__(self, mode: bool) -> None:
        self._mode, self._before = mode, is_grad_enabled()
        _autograd.set_grad_enabled(mode)

    def __call__(self, function: Any) -> Any:
        _autograd.set_grad_enabled(self._before)
        return super().__call__(function)

    def __enter__(self) -> Self:
        _autograd.set_grad_enabled(self._mode)
        return self

    def __exit__(self, *_: object) -> None:
        _autograd.set_grad_enabled(self._before)

    def _again(self) -> Self:
        return type(self)(self._mode)


class detect_anomaly(Mode):
    """Finds NaN and infinity: a function, or a step of backward(), raises if its result has one of them. With
    check_nan=False it finds nothing."""

    _scope = _autograd.DetectAnomaly

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self._check_nan = check_nan

    def __enter__(self) -> Self:
        return super().__enter__() if self._check_nan else self

    def __exit__(self, *_: object) -> None:
        if self._check_nan:
            super().__exit__()

    def _again(self) -> Self:
        return type(self)(self._check_nan)


_anomaly: list[Any] = []


class set_detect_anomaly:
    """Switches detect_anomaly() on or off on this thread. After `with set_detect_anomaly(True): …` it is off."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        if mode and not _anomaly:
            _anomaly.append(detect_anomaly(check_nan))
            _anomaly[0].__enter__()
        elif not mode and _anomaly:
            _anomaly.pop().__exit__()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if _anomaly:
            _anomaly.pop().__exit__()


class set_multithreading_enabled:
    """Has no effect: the device decides how much of a graph runs at once."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _tuple_of(tensors):
    if isinstance(tensors, Tensor):
        return (tensors,)
    if not isinstance(tensors, Iterable):
        raise TypeError(f"grad() takes a tensor or a sequence of tensors, not a {type(tensors).__name__}")
    return tuple(tensors)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradient of the sum of the outputs with respect to each input, as a tuple.

    Does not change the grad of any tensor. grad_outputs are the gradients of the outputs. They may be left out if each
    output has one element. With create_graph, the gradients have gradients themselves. With allow_unused, the result is
    None instead of an error if no output depends on an input, and with materialize_grads it is zeros. With
    is_grads_batched, grad_outputs have one more axis in front: a gradient is computed for each of its entries, and the
    results are stacked. only_inputs=False is an old name of backward().
    """
    if not only_inputs:
        raise _crisol.InvalidArgumentError("[grad] only_inputs=False: call backward(), which adds to the grad of leaves")
    retain_graph = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        batches = list(zip(*(w.unbind() for w in _tuple_of(grad_outputs)), strict=True))
        parts = [
            grad(outputs, inputs, batch, retain_graph or batch is not batches[-1], create_graph,
                 allow_unused=allow_unused, materialize_grads=materialize_grads)
            for batch in batches
        ]  # fmt: skip
        return tuple(None if of_one[0] is None else _crisol.stack(of_one) for of_one in zip(*parts))
    if materialize_grads and allow_unused is False:
        raise ValueError("[grad] materialize_grads=True needs allow_unused=True, or None")
    if grad_outputs is not None:
        grad_outputs = _tuple_of(grad_outputs)
    wanted = _tuple_of(inputs)
    unused = materialize_grads or bool(allow_unused)
    found = _autograd.grad(_tuple_of(outputs), wanted, grad_outputs, retain_graph, create_graph, unused)
    if not materialize_grads:
        return found
    return tuple(_crisol.zeros_like(x) if g is None else g for x, g in zip(wanted, found))


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Adds the gradients of several tensors to the grad of the leaves that they depend on, or only to that of `inputs`.
    grad_variables is an old name of grad_tensors."""
    grad_tensors = grad_variables if grad_tensors is None else grad_tensors
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    weights = [grad_tensors] if isinstance(grad_tensors, Tensor) else list(grad_tensors or [None] * len(given))
    if any(w is None and x.numel() != 1 for x, w in zip(given, weights, strict=True)):
        raise _crisol.InvalidArgumentError("[backward] a tensor of several elements needs its gradient")
    parts = [_crisol.sum(x if w is None else x * w) for x, w in zip(given, weights)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    total.backward(retain_graph=retain_graph, create_graph=create_graph, inputs=inputs)


def _add_to(
    output: Tensor, weight: Tensor | None, inputs: Tensor | Sequence[Tensor], retain_graph: bool, create_graph: bool
) -> None:
    """Tensor.backward() for its argument `inputs`."""
    wanted = _tuple_of(inputs)
    if not wanted:
        raise _crisol.InvalidArgumentError("[backward] inputs is empty")
    weights = None if weight is None else (weight,)
    found = _autograd.grad((output,), wanted, weights, retain_graph, create_graph, True)
    for x, gradient in zip(wanted, found):
        if gradient is not None:
            x.grad = gradient if x.grad is None else x.grad + gradient


def Variable(data: Tensor, requires_grad: bool = False) -> Tensor:
    """A leaf over the memory of a tensor, which itself stays as it is."""
    return data.detach().requires_grad_(requires_grad)


def checkpoint(function: Callable[..., Any], *args: Any) -> Any:
    """Computes function(*args), and releases the tensors that its ops keep for backward.

    backward() calls the function again to compute these tensors. This takes less memory and more time. The second call
    draws the same random numbers. The function must compute the same each time.
    """
    places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
    single = False

    def run(inputs):
        nonlocal single
        full = list(args)
        for place, tensor in zip(places, inputs):
            full[place] = tensor
        result = function(*full)
        single = isinstance(result, Tensor)
        return (result,) if single else result

    results = _autograd.checkpoint(run, [args[i] for i in places])
    return results[0] if single else tuple(results)


from . import functional, profiler  # noqa: E402
from ._check import gradcheck as gradcheck, gradgradcheck as gradgradcheck  # noqa: E402
from . import variable as variable  # noqa: E402


def __dir__():
    return __all__
