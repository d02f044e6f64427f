"""The limited-memory method of Broyden, Fletcher, Goldfarb and Shanno, with PyTorch's steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .. import _crisol as _c
from .._crisol import Tensor
from .._crisol._optim import Optimizer
from ..autograd import enable_grad, no_grad

__all__ = ["LBFGS"]


class _Point(NamedTuple):
    """A step, and there the loss, the gradient and the slope along the direction."""

    t: float
    loss: float
    gradient: Tensor
    slope: float


def _between(a: _Point, b: _Point, bounds: tuple[float, float] | None = None) -> float:
    """The least point of the cubic through two points, within bounds."""
    low, high = bounds or (min(a.t, b.t), max(a.t, b.t))
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    if a.t > b.t:
        a, b = b, a
    return min(max(b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2)), low), high)


def _too_high(new: _Point, start: _Point) -> bool:
    return new.loss > start.loss + 1e-4 * new.t * start.slope


def _bracket(at: Callable[[float], _Point], t: float, start: _Point, most: int) -> tuple[list[_Point], int]:
    """One point that meets Wolfe's conditions, or two points around one. Also the number of further steps."""
    before, new, steps = start, at(t), 0
    while steps < most:
        if _too_high(new, start) or (steps > 1 and new.loss >= before.loss):
            return [before, new], steps
        if abs(new.slope) <= -0.9 * start.slope:
            return [new], steps
        if new.slope >= 0:
            return [before, new], steps
        t = _between(before, new, (new.t + 0.01 * (new.t - before.t), new.t * 10))
        before, new, steps = new, at(t), steps + 1
    return [start, new], steps


def _inside(ends: list[_Point], was_slow: bool) -> tuple[float, bool]:
    """The next step between two points. It stays away from the ends if the search is slow."""
    t, low, high = _between(*ends), min(p.t for p in ends), max(p.t for p in ends)
    margin = 0.1 * (high - low)
    if min(high - t, t - low) >= margin:
        return t, False
    if not (was_slow or t >= high or t <= low):
        return t, True
    return (high - margin if abs(t - high) < abs(t - low) else low + margin), False


def _strong_wolfe(
    at: Callable[[float], _Point], t: float, start: _Point, width: float, tolerance: float, most: int
) -> tuple[_Point, int]:
    """A step that meets Wolfe's strong conditions, and the number of calls of the closure. `width` is the largest
    number of the direction."""
    ends, steps = _bracket(at, t, start, most)
    slow, done = False, len(ends) == 1
    while not done and steps < most and abs(ends[1].t - ends[0].t) * width >= tolerance:
        low = 0 if ends[0].loss <= ends[1].loss else 1
        t, slow = _inside(ends, slow)
        new, steps = at(t), steps + 1
        if _too_high(new, start) or new.loss >= ends[low].loss:
            ends[1 - low] = new
            continue
        done = abs(new.slope) <= -0.9 * start.slope
        if not done and new.slope * (ends[1 - low].t - ends[low].t) >= 0:
            ends[1 - low] = ends[low]
        ends[low] = new
    return min(ends, key=lambda point: point.loss), steps + 1


class LBFGS(Optimizer):
    """The limited-memory BFGS method. step() needs a closure, which it calls several times. There is one group.
    line_search_fn is "strong_wolfe" or None."""

    def __init__(
        self, params: Iterable[Any], lr: float = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        if line_search_fn not in (None, "strong_wolfe"):
            raise _c.InvalidArgumentError(f"[LBFGS] line_search_fn is {line_search_fn!r}, not 'strong_wolfe' or None")
        most = max_iter * 5 // 4 if max_eval is None else max_eval
        super().__init__(params, dict(lr=float(lr), max_iter=max_iter, max_eval=most, tolerance_grad=tolerance_grad,
                                      tolerance_change=tolerance_change, history_size=history_size,
                                      line_search_fn=line_search_fn, maximize=maximize))  # fmt: skip
        if len(self.param_groups) != 1:
            raise _c.InvalidArgumentError(f"[LBFGS] takes one group of parameters, not {len(self.param_groups)}")

    def _parameters(self) -> list[Any]:
        return self.param_groups[0]["params"]

    def _gradient(self) -> Tensor:
        """The gradients of all parameters as one line."""
        parts = [_c.zeros_like(p) if p.grad is None else p.grad for p in self._parameters()]
        line = _c.concat([part.reshape(-1) for part in parts])
        return -line if self.param_groups[0]["maximize"] else line

    def _move(self, t: float, direction: Tensor) -> None:
        at = 0
        for p in self._parameters():
            p.add_(direction[at : at + p.numel()].reshape(p.shape), alpha=t)
            at += p.numel()

    def _loss(self, closure: Callable[[], Any]) -> tuple[Any, float]:
        with enable_grad():
            loss = closure()
        return loss, -float(loss) if self.param_groups[0]["maximize"] else float(loss)

    def _searched(self, closure: Any, direction: Tensor, t: float, start: _Point, most: int) -> tuple[_Point, int]:
        values = [p.detach().clone() for p in self._parameters()]

        def at(step: float) -> _Point:
            self._move(step, direction)
            loss, gradient = self._loss(closure)[1], self._gradient()
            for p, value in zip(self._parameters(), values):
                p.copy_(value)
            return _Point(step, loss, gradient, _dot(gradient, direction))

        width = float(_c.abs(direction).amax())
        return _strong_wolfe(at, t, start, width, self.param_groups[0]["tolerance_change"], most)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Takes up to max_iter steps. The closure computes the loss and its gradients, and its first loss is the
        result."""
        if closure is None:
            raise TypeError("[LBFGS] step() needs a closure that computes the loss")
        with no_grad():
            return self._step(closure)

    def _step(self, closure: Callable[[], Any]) -> Any:
        first, loss = self._loss(closure)
        if not self._parameters():
            return first
        group, state = self.param_groups[0], self.state[self._parameters()[0]]
        gradient, calls = self._gradient(), 1
        for step in range(group["max_iter"]):
            if not step and float(_c.abs(gradient).amax()) <= group["tolerance_grad"]:
                return first
            direction = _direction(state, gradient, group["history_size"])
            t = float(group["lr"])
            if state["n_iter"] == 1:
                t *= min(1.0, 1.0 / float(_c.abs(gradient).sum()))
            state["prev_flat_grad"], before, slope = gradient.clone(), loss, _dot(gradient, direction)
            state["d"], state["t"] = direction, t
            if slope > -group["tolerance_change"]:
                break
            if group["line_search_fn"] is not None:
                start = _Point(0.0, loss, gradient, slope)
                found, more = self._searched(closure, direction, t, start, group["max_eval"] - calls)
                t, loss, gradient, _ = found
                self._move(t, direction)
            else:
                self._move(t, direction)
                more = int(step + 1 < group["max_iter"])
                if more:
                    loss, gradient = self._loss(closure)[1], self._gradient()
            state["t"], calls = t, calls + more
            if calls >= group["max_eval"] or float(_c.abs(gradient).amax()) <= group["tolerance_grad"]:
                break
            change = float(_c.abs(direction).amax()) * abs(t)
            if change <= group["tolerance_change"] or abs(loss - before) < group["tolerance_change"]:
                break
        state["func_evals"] = state.get("func_evals", 0) + calls
        return first


def _dot(a: Tensor, b: Tensor) -> float:
    return float((a * b).sum())


def _direction(state: Any, gradient: Tensor, history: int) -> Tensor:
    """The direction of the next step. Updates the differences of gradients and of steps that the state keeps."""
    state["n_iter"] = state.get("n_iter", 0) + 1
    if state["n_iter"] == 1:
        return -gradient
    y, s = gradient - state["prev_flat_grad"], state["d"] * state["t"]
    product = _dot(y, s)
    if product > 1e-10:
        for name, row in (("old_dirs", y), ("old_stps", s)):
            kept = [state[name][-history + 1 :]] if name in state and history > 1 else []
            state[name] = _c.concat([*kept, row.unsqueeze(0)])
        state["H_diag"] = product / _dot(y, y)
    if "old_dirs" not in state:
        return -gradient
    ys, ss = state["old_dirs"], state["old_stps"]
    weights = [1.0 / number for number in (ys * ss).sum(1).tolist()]
    q, shares = -gradient, {}
    for i in reversed(range(len(weights))):
        shares[i] = _dot(ss[i], q) * weights[i]
        q = q - ys[i] * shares[i]
    q = q * state.get("H_diag", 1.0)
    for i, weight in enumerate(weights):
        q = q + ss[i] * (shares[i] - _dot(ys[i], q) * weight)
    return q
