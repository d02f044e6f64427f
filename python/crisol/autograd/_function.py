"""Functions with their own gradient."""

import math
from typing import Any

from .. import _crisol
from .._crisol import Tensor, _autograd


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
        self._fixed: tuple[Tensor, ...] = ()

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Says that results have no gradient."""
        self._fixed = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Has no effect: ops in place count the version of a tensor."""

    def set_materialize_grads(self, value: bool) -> None:
        """Has no effect: backward() always gets tensors."""

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


class _Results:
    """The results of forward(), which may be several tensors. The library records one tensor for each function, so
    results with a gradient are joined into one vector. Other results are whole numbers, bools, or tensors that
    mark_non_differentiable() got."""

    def __init__(self, name, results, fixed):
        for result in results:
            if not isinstance(result, Tensor):
                kind = type(result).__name__
                raise TypeError(f"{name}.forward() must return a tensor or a tuple of tensors, not {kind}")
        constant = [not r.dtype.is_floating_point or any(r is tensor for tensor in fixed) for r in results]
        joined = [result for result, stays in zip(results, constant) if not stays]
        if len({result.dtype for result in joined}) > 1:
            dtypes = [result.dtype for result in joined]
            raise TypeError(f"{name}.forward() must return tensors of one dtype, not {dtypes}")
        self._shapes = [result.shape for result in results]
        self._constants = [result.detach() if stays else None for result, stays in zip(results, constant)]
        self._joined = joined

    def is_one(self):
        """Whether the only result has a gradient."""
        return len(self._shapes) == len(self._joined) == 1

    def line(self):
        """The results with a gradient as one vector."""
        joined, self._joined = self._joined, []
        return _crisol.concat([result.flatten() for result in joined]) if joined else _crisol.zeros(0)

    def parts(self, line):
        """The results, from the joined vector."""
        return self._parts(line, self._constants)

    def gradients(self, line):
        """A gradient for each result, from the joined vector. It is 0 for a result without a gradient."""
        return self._parts(line, [None if c is None else _crisol.zeros_like(c) for c in self._constants])

    def _parts(self, line, others):
        parts, first = [], 0
        for shape, other in zip(self._shapes, others):
            if other is not None:
                parts.append(other)
                continue
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

    forward() gets the arguments. Its result is a tensor, or a tuple of tensors. Those that have a gradient have one
    dtype. The ops in forward() are not recorded. backward() gets a gradient for each result. It returns a gradient or
    None for each argument.
    """

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Calls forward(), and records backward()."""
        places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx = Context(tuple(isinstance(a, Tensor) and a.requires_grad for a in args))
        number = len(args)
        others = [None if isinstance(a, Tensor) else a for a in args]
        joined, is_tuple = None, False

        def forward(inputs):
            full = list(others)
            for place, tensor in zip(places, inputs):
                full[place] = tensor
            nonlocal joined, is_tuple
            if cls.setup_context is Function.setup_context:
                result = cls.forward(ctx, *full)
            else:
                result = cls.forward(*full)
                cls.setup_context(ctx, tuple(full), result)
            results = result if isinstance(result, tuple) and result else (result,)
            is_tuple = results is result
            own = _Results(cls.__name__, results, ctx._fixed)
            ctx._saved = tuple(_place_of(tensor, inputs, results) for tensor in ctx._saved)
            if own.is_one() and not is_tuple:
                return result
            joined = own
            return joined.line()

        def backward(dy, inputs, result):
            ctx._inputs, ctx._results = inputs, (result,) if joined is None else joined.parts(result)
            try:
                gradients = cls.backward(ctx, *((dy,) if joined is None else joined.gradients(dy)))
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
        if joined is None:
            return result
        return joined.parts(result) if is_tuple else joined.parts(result)[0]

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Computes the result. A subclass defines it."""
        raise NotImplementedError("a Function needs forward()")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Keeps for backward() what it needs. A subclass may define it; forward() then gets no ctx."""
        raise NotImplementedError("a Function may have setup_context()")

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
