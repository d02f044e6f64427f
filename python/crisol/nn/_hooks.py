"""Hooks of modules. A table stores the hooks of one module, and runs the module's calls."""

from __future__ import annotations

import copy
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from .. import _crisol
from .._crisol import Tensor, _autograd, _nn
from .._method import _aliases, _method

Module = _nn.Module


class _Hook:
    """A hook, and the way in which it is called."""

    def __init__(self, function, with_kwargs=False, always_call=False):
        if not callable(function):
            raise TypeError(f"a hook is a function, not {type(function).__name__}")
        self.function, self.with_kwargs, self.always_call = function, with_kwargs, always_call

    def __call__(self, module, args, kwargs, *results):
        more = (kwargs,) if self.with_kwargs else ()
        return self.function(module, args, *more, *results)


class Hooks:
    """The hooks of one module, in one list for each kind."""

    def __init__(self):
        self.pre, self.forward, self.backward_pre, self.backward = [], [], [], []
        self.state_pre, self.state, self.load_pre, self.load = [], [], [], []

    def call(self, module, forward, args, kwargs):
        """Computes module(*args, **kwargs) with the hooks. `forward` computes it without hooks."""
        for hook in list(self.pre):
            args, kwargs = _changed_arguments(hook, hook(module, args, kwargs), args, kwargs)
        watch = None
        if self.backward or self.backward_pre:
            watch = _Watch(module, list(self.backward_pre), list(self.backward))
            args = watch.watch_arguments(args)
        left = list(self.forward)
        try:
            result = forward(*args, **kwargs)
            while left:
                hook = left.pop(0)
                changed = hook(module, args, kwargs, result)
                result = result if changed is None else changed
        except Exception:
            _call_always(left, module, args, kwargs)
            raise
        return result if watch is None else watch.watch_result(result)


def _changed_arguments(hook, changed, args, kwargs):
    if changed is None:
        return args, kwargs
    if not hook.with_kwargs:
        return (changed if isinstance(changed, tuple) else (changed,)), kwargs
    if isinstance(changed, tuple) and len(changed) == 2:
        return changed
    raise RuntimeError(f"a forward pre-hook with_kwargs=True returns None or (args, kwargs), not {changed!r}")


def _call_always(hooks, module, args, kwargs):
    """Calls the remaining hooks that must run also after an error. Errors of these hooks become warnings."""
    for hook in hooks:
        if hook.always_call:
            try:
                hook(module, args, kwargs, None)
            except Exception as error:
                warnings.warn(f"a forward hook with always_call=True raised an error: {error!r}", stacklevel=3)


class _Arguments:
    """Passes the gradients of arguments to a _Watch that already has the gradients of its results. The graph refers to
    the _Watch only from the results, where the garbage collector can find it."""

    def __init__(self):
        self.watch = None

    def __call__(self, gradients):
        watch, self.watch = self.watch, None
        return gradients if watch is None else watch.got_inputs(gradients)


class _Watch:
    """Calls the backward hooks for one call of a module. They run when the gradients of results and arguments are
    known."""

    def __init__(self, module, pre, hooks):
        self.module, self.pre, self.hooks = module, pre, hooks
        self.behind = _Arguments()
        self.arguments = None  # The positions of the watched tensors.
        self.grad_output = ()

    def watch_arguments(self, args):
        self.count = len(args)
        args, self.arguments = _watched(args, self.behind)
        return args

    def watch_result(self, result):
        if isinstance(result, Tensor):
            results = (result,)
        elif isinstance(result, tuple):
            results = result
        else:
            kind = type(result).__name__
            text = f"backward hooks are called for a result that is a tensor or a tuple of tensors, not {kind}"
            warnings.warn(text, stacklevel=4)
            return result
        self.results = len(results)
        results, self.places = _watched(results, self.got_outputs)
        if isinstance(result, Tensor):
            return results[0]
        return type(result)(*results) if hasattr(result, "_fields") else results

    def got_outputs(self, gradients):
        grad_output = _spread(gradients, self.places, self.results)
        for hook in self.pre:
            grad_output = _replaced("pre-hook", hook.function(self.module, grad_output), grad_output)
        self.grad_output = grad_output
        if self.arguments:
            self.behind.watch = self
        else:
            self.run((None,) * self.count)
        return [grad_output[place] for place in self.places]

    def got_inputs(self, gradients):
        grad_input = self.run(_spread(gradients, self.arguments, self.count))
        return [grad_input[place] for place in self.arguments]

    def run(self, grad_input):
        for hook in self.hooks:
            grad_input = _replaced("hook", hook.function(self.module, grad_input, self.grad_output), grad_input)
        return grad_input


def _watched(values, function):
    """Watches the tensors among the values that want gradients. Returns the values with these tensors replaced, and
    their positions."""
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad]
    if not places or not _autograd.is_grad_enabled():
        return values, []
    changed = list(values)
    for place, tensor in zip(places, _autograd.watch_gradients([values[i] for i in places], function)):
        changed[place] = tensor
    return tuple(changed), places


def _spread(gradients, places, count):
    spread = [None] * count
    for place, gradient in zip(places, gradients):
        spread[place] = gradient
    return tuple(spread)


def _replaced(kind, changed, gradients):
    if changed is None:
        return gradients
    changed = changed if isinstance(changed, tuple) else (changed,)
    if len(changed) != len(gradients):
        raise RuntimeError(f"a backward {kind} returned {len(changed)} gradients in place of {len(gradients)}")
    return changed


def _add(module, kind, hook, prepend):
    table = module._hooks()
    if table is None:
        module._set_hooks(table := Hooks())
    hooks = getattr(table, kind)
    hooks.insert(0 if prepend else len(hooks), hook)
    known, own = weakref.ref(table), weakref.ref(hook)

    def remove():
        table, hook = known(), own()
        if table is not None and hook in getattr(table, kind):
            getattr(table, kind).remove(hook)

    return _autograd.HookHandle(remove)


def copy_hooks(module, copied, memo):
    """Copies the hooks of a module to its deep copy, if the copy has no hooks yet."""
    table = module._hooks()
    if table is not None and copied._hooks() is None:
        copied._set_hooks(copy.deepcopy(table, memo))


@_method(Module)
def register_forward_pre_hook(
    self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
) -> _crisol._autograd.HookHandle:
    """Calls hook(module, args) before forward(), or hook(module, args, kwargs) if with_kwargs.

    If the hook returns something other than None, it replaces the arguments: a tuple, one argument, or (args, kwargs)
    if with_kwargs. The module keeps the hook until remove() of the returned handle. With prepend, the hook is called
    before the other hooks.
    """
    return _add(self, "pre", _Hook(hook, with_kwargs), prepend)


@_method(Module)
def register_forward_hook(
    self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
) -> _crisol._autograd.HookHandle:
    """Calls hook(module, args, result) after forward(), or hook(module, args, kwargs, result) if with_kwargs.

    If the hook returns something other than None, it replaces the result. With always_call, the hook is also called
    after an error, with None as the result.
    """
    return _add(self, "forward", _Hook(hook, with_kwargs, always_call), prepend)


@_method(Module)
def register_full_backward_hook(
    self, hook: Callable[..., Any], prepend: bool = False
) -> _crisol._autograd.HookHandle:
    """Calls hook(module, grad_input, grad_output) in backward(), when the gradients of the arguments are known.

    Both are tuples. grad_input has a gradient for each positional argument, or None. grad_output has a gradient for
    each result. If the hook returns something other than None, it replaces grad_input.
    """
    return _add(self, "backward", _Hook(hook), prepend)


@_method(Module)
def register_full_backward_pre_hook(
    self, hook: Callable[..., Any], prepend: bool = False
) -> _crisol._autograd.HookHandle:
    """Calls hook(module, grad_output) in backward(), before the gradients of the module are computed. If the hook
    returns something other than None, it replaces grad_output."""
    return _add(self, "backward_pre", _Hook(hook), prepend)


def state_hooks(module, kind):
    """The hooks of a module for its state: "state_pre", "state", "load_pre" or "load"."""
    table = module._hooks()
    return [] if table is None else list(getattr(table, kind))


@_method(Module)
def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> _crisol._autograd.HookHandle:
    """Calls hook(module, prefix, keep_vars) before state_dict()."""
    return _add(self, "state_pre", _Hook(hook), False)


@_method(Module)
def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> _crisol._autograd.HookHandle:
    """Calls hook(module, state_dict, prefix, metadata) after state_dict(). The hook may change the dict."""
    return _add(self, "state", _Hook(hook), False)


@_method(Module)
def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> _crisol._autograd.HookHandle:
    """Calls hook(module, state_dict, prefix, metadata, strict, missing_keys, unexpected_keys, error_msgs) before
    load_state_dict() reads the dict. The hook may change the dict, which is a copy."""
    return _add(self, "load_pre", _Hook(hook), False)


@_method(Module)
def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> _crisol._autograd.HookHandle:
    """Calls hook(module, incompatible_keys) after load_state_dict(). The hook may change the lists of names, which are
    then the ones that a strict load refuses."""
    return _add(self, "load", _Hook(hook), False)


_aliases(Module, _register_state_dict_hook="register_state_dict_post_hook")
