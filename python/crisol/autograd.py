"""Gradients: recording modes, functions with their own gradient, checkpoints."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from . import _crisol
from ._crisol import Tensor, _autograd
from ._crisol._autograd import is_grad_enabled
from ._mode import Mode

__all__ = ["Function", "checkpoint", "detect_anomaly", "enable_grad", "grad", "is_grad_enabled", "no_grad"]
__all__ += ["Variable", "backward", "inference_mode", "set_detect_anomaly", "set_grad_enabled"]


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
    """Finds NaN and infinity: a function, or a step of backward(), raises if its result has one of them."""

    _scope = _autograd.DetectAnomaly


_anomaly: list[Any] = []


class set_detect_anomaly:
    """Switches detect_anomaly() on or off on this thread. After `with set_detect_anomaly(True): …` it is off."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        if mode and not _anomaly:
            _anomaly.append(detect_anomaly())
            _anomaly[0].__enter__()
        elif not mode and _anomaly:
            _anomaly.pop().__exit__()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if _anomaly:
            _anomaly.pop().__exit__()


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
    retain_graph: bool = False,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Any, ...]:
    """The gradient of the sum of the outputs with respect to each input, as a tuple.

    Does not change the grad of any tensor. grad_outputs are the gradients of the outputs. They may be left out if each
    output has one element. With create_graph, the gradients have gradients themselves. With allow_unused, the result is
    None instead of an error if no output depends on an input.
    """
    if grad_outputs is not None:
        grad_outputs = _tuple_of(grad_outputs)
    return _autograd.grad(
        _tuple_of(outputs), _tuple_of(inputs), grad_outputs, retain_graph, create_graph, allow_unused
    )


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Adds the gradients of several tensors to the grad of the leaves that they depend on."""
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    weights = [grad_tensors] if isinstance(grad_tensors, Tensor) else list(grad_tensors or [None] * len(given))
    if any(w is None and x.numel() != 1 for x, w in zip(given, weights, strict=True)):
        raise _crisol.InvalidArgumentError("[backward] a tensor of several elements needs its gradient")
    parts = [_crisol.sum(x if w is None else x * w) for x, w in zip(given, weights)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    total.backward(retain_graph=retain_graph, create_graph=create_graph)


def Variable(data: Tensor, requires_grad: bool = False) -> Tensor:
    """The tensor itself, as a leaf that wants a gradient if it is asked for."""
    return data.requires_grad_() if requires_grad else data


class _Saved:
    """Stands for a saved tensor that is an input or a result, because the library keeps these tensors itself."""

    def __init__(self, input=None, result=None):
        self.input, self.result = input, result


class Context:
    """The data that forward() keeps for backward(): saved tensors, and any attributes."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._saved: tuple[Any, ...] = ()
        self._inputs: Any = None
        self._results: Any = None

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Saves tensors for backward(): inputs, results, or other tensors."""
        self._saved = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """The tensors that save_for_backward() got. Inputs and results are the tensors of the graph."""
        return tuple(self._current(tensor) for tensor in self._saved)

    def _current(self, tensor):
        if not isinstance(tensor, _Saved):
            return tensor
        return self._results[tensor.result] if tensor.input is None else self._inputs[tensor.input]


class _Joined:
    """Several results joined into one vector, because the library records one tensor for each function."""

    def __init__(self, name, results):
        dtypes = {result.dtype if isinstance(result, Tensor) else type(result).__name__ for result in results}
        if len(dtypes) != 1 or not isinstance(results[0], Tensor):
            raise TypeError(f"{name}.forward() must return tensors of one dtype, not {list(dtypes)}")
        self._shapes = [result.shape for result in results]
        self.line = _crisol.concat([result.flatten() for result in results])

    def parts(self, line):
        """The results, or gradients of the results, as views of a joined vector."""
        parts, first = [], 0
        for shape in self._shapes:
            size = math.prod(shape)
            parts.append(line.narrow(0, first, size).reshape(shape))
            first += size
        return tuple(parts)


class Function:
    """A function with its own gradient. A subclass defines two static methods:

        class Double(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return 2 * x

            @staticmethod
            def backward(ctx, dy):
                return 2 * dy

        y = Double.apply(x)

    forward() gets the arguments. Its result is a tensor, or a tuple of tensors of one dtype. The ops in forward() are
    not recorded. backward() gets a gradient for each result. It returns a gradient or None for each argument.
    """

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Calls forward(), and records backward()."""
        places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx = Context(tuple(isinstance(a, Tensor) and a.requires_grad for a in args))
        number = len(args)
        others = [None if isinstance(a, Tensor) else a for a in args]
        joined = None

        def forward(inputs):
            full = list(others)
            for place, tensor in zip(places, inputs):
                full[place] = tensor
            nonlocal joined
            result = cls.forward(ctx, *full)
            if isinstance(result, tuple) and result:
                joined = _Joined(cls.__name__, result)
            elif not isinstance(result, Tensor):
                kind = type(result).__name__
                raise TypeError(f"{cls.__name__}.forward() must return a tensor or a tuple of tensors, not {kind}")
            results = (result,) if joined is None else result
            ctx._saved = tuple(_place_of(tensor, inputs, results) for tensor in ctx._saved)
            return result if joined is None else joined.line

        def parts(tensor):
            return (tensor,) if joined is None else joined.parts(tensor)

        def backward(dy, inputs, result):
            ctx._inputs, ctx._results = inputs, parts(result)
            try:
                gradients = cls.backward(ctx, *parts(dy))
            finally:
                ctx._inputs = ctx._results = None
            if not isinstance(gradients, tuple):
                gradients = (gradients,)
            if len(gradients) != number:
                raise ValueError(
                    f"{cls.__name__}.backward() returned {len(gradients)} gradients for {number} arguments of forward()"
                )
            for i, gradient in enumerate(gradients):
                if gradient is not None and not isinstance(gradient, Tensor):
                    kind = type(gradient).__name__
                    raise TypeError(f"{cls.__name__}.backward() returned a {kind} for argument {i}, not a tensor or None")
            return [gradients[place] for place in places]

        result = _autograd.custom_function(cls.__name__, [args[i] for i in places], forward, backward)
        return result if joined is None else parts(result)

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Computes the result. A subclass defines it."""
        raise NotImplementedError("a Function needs forward()")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Computes the gradient of each argument of forward(). A subclass defines it."""
        raise NotImplementedError("a Function needs backward()")


def _place_of(tensor, inputs, results):
    for i, result in enumerate(results):
        if tensor is result:
            return _Saved(result=i)
    for i, input in enumerate(inputs):
        if tensor is input:
            return _Saved(input=i)
    return tensor


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


def __dir__():
    return __all__
