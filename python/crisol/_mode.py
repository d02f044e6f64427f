"""Scopes that can also be used as decorators."""

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, Self


class Mode:
    """A scope of the library: `with mode(): …`, and `@mode()` for a function. It may be entered several times.

    Each call of a decorated function has its own scope. For a generator or a coroutine, each step has its own scope:
    between the steps, the caller's mode is active.
    """

    _scope: Any = None

    def __new__(cls, *arguments: Any, **_: Any) -> Any:
        if arguments and callable(arguments[0]):
            return cls()(arguments[0])
        return super().__new__(cls)

    def __init__(self) -> None:
        self._entered: list[Any] = []

    def __enter__(self) -> Self:
        scope = self._scope()
        scope.enter()
        self._entered.append(scope)
        return self

    def __exit__(self, *_: object) -> None:
        self._entered.pop().leave()

    def _again(self) -> Any:
        """Another scope with the same settings."""
        return type(self)()

    def __call__(self, function: Any) -> Any:
        return _decorated(self._again, function)


def _decorated(scope: Callable[[], Any], function: Any) -> Any:
    if inspect.isclass(function):
        warnings.warn(
            f"a scope decorates functions: for the class {function.__name__} it covers only the constructor",
            FutureWarning,
            stacklevel=3,
        )
    if inspect.isasyncgenfunction(function):
        raise TypeError(f"{function.__name__} is an asynchronous generator: enter the scope in it, around each step")
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def generate(*arguments, **keywords):
            return (yield from _in_steps(scope, function(*arguments, **keywords)))

        return generate
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def run(*arguments, **keywords):
            return await _Steps(scope, function(*arguments, **keywords))

        return run

    @functools.wraps(function, updated=() if inspect.isclass(function) else functools.WRAPPER_UPDATES)
    def call(*arguments, **keywords):
        with scope():
            return function(*arguments, **keywords)

    return call


class _Steps:
    """A coroutine. Each of its steps runs in a scope."""

    def __init__(self, scope, coroutine):
        self._scope, self._coroutine = scope, coroutine

    def __await__(self):
        return _in_steps(self._scope, self._coroutine.__await__())


def _in_steps(scope, generator):
    """Runs a generator, and each of its steps in a scope: next, send, throw and close."""
    step, argument = generator.send, None
    while True:
        try:
            with scope():
                result = step(argument)
        except StopIteration as end:
            return end.value
        try:
            argument = yield result
            step = generator.send
        except GeneratorExit:
            with scope():
                generator.close()
            raise
        except BaseException as error:
            step, argument = generator.throw, error
