"""Averages of models over training steps, under PyTorch's names."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor, _nn
from .._crisol._optim import Optimizer
from ..autograd import no_grad
from .lr_scheduler import LRScheduler

__all__ = ["AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn"]
__all__ += ["update_bn"]


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Tensor, Tensor, Any], Tensor]:
    """The function average · decay + value · (1 - decay)."""
    if not 0 <= decay <= 1:
        raise ValueError(f"[get_ema_avg_fn] decay is {decay}, and it must be in [0, 1]")
    return lambda average, value, count: average * decay + value * (1 - decay)


def get_swa_avg_fn() -> Callable[[Tensor, Tensor, Any], Tensor]:
    """The function whose result is the mean of all values so far."""
    return lambda average, value, count: average + (value - average) / (int(count) + 1)


def _for_lists(function: Callable[[Tensor, Tensor, Any], Tensor]) -> Callable[[Any, Any, Any], None]:
    def update(averages: Any, values: Any, count: Any) -> None:
        for average, value in zip(averages, values):
            average.copy_(function(average, value, count))

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], None]:
    """get_ema_avg_fn() for lists, in place."""
    return _for_lists(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Callable[[Any, Any, Any], None]:
    """get_swa_avg_fn() for lists, in place."""
    return _for_lists(get_swa_avg_fn())


class AveragedModel(_nn.Module):
    """A copy of a model. update_parameters() averages the parameters of a model into it: the mean of all calls, or
    another average."""

    def __init__(
        self, model: _nn.Module, device: Any = None, avg_fn: Callable[[Tensor, Tensor, Any], Tensor] | None = None,
        multi_avg_fn: Callable[[Any, Any, Any], None] | None = None, use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise ValueError("[AveragedModel] takes avg_fn or multi_avg_fn, not both")
        self.module = copy.deepcopy(model)
        self.n_averaged = _nn.Buffer(_c.zeros((), dtype=_c.int64))
        if device is not None:
            self.to(device)
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: _nn.Module) -> None:
        """Averages the parameters of a model into this one. The first call copies them."""
        with no_grad():
            averages, values = list(self.module.parameters()), list(model.parameters())
            own_buffers, buffers = list(self.module.buffers()), list(model.buffers())
            if self.use_buffers:
                averages, values = averages + own_buffers, values + buffers
            count = int(self.n_averaged)
            if count == 0:
                for average, value in zip(averages, values):
                    average.copy_(value)
            elif self.multi_avg_fn is not None:
                self.multi_avg_fn(averages, values, self.n_averaged)
            else:
                _for_lists(self.avg_fn or get_swa_avg_fn())(averages, values, self.n_averaged)
            if not self.use_buffers:
                for average, value in zip(own_buffers, buffers):
                    average.copy_(value)
            self.n_averaged.add_(1)


def update_bn(loader: Iterable[Any], model: _nn.Module, device: Any = None) -> None:
    """Computes the running statistics of all BatchNorm layers anew, as the mean over the batches of a loader."""
    layers = [m for m in model.modules() if isinstance(m, _nn.BatchNorm2d) and m.running_mean is not None]
    if not layers:
        return
    was_training = model.training
    sums: list[Any] = [None] * len(layers)
    count = 0
    model.train()
    with no_grad():
        for batch in loader:
            x = batch[0] if isinstance(batch, (list, tuple)) else batch
            _one_batch(model, x if device is None else x.to(device), layers)
            found = [(m.running_mean.clone(), m.running_var.clone()) for m in layers]
            sums = [new if old is None else (old[0] + new[0], old[1] + new[1]) for old, new in zip(sums, found)]
            count += 1
        for layer, total in zip(layers, sums):
            if total is not None:
                layer.running_mean.copy_(total[0] / count)
                layer.running_var.copy_(total[1] / count)
                layer.num_batches_tracked.fill_(count)
    model.train(was_training)


def _one_batch(model: _nn.Module, x: Any, layers: list[Any]) -> None:
    """Runs a model. Afterwards the running statistics are those of the batch."""
    for layer in layers:
        layer.running_mean.zero_()
        layer.running_var.zero_()
        layer.num_batches_tracked.zero_()
    model(x)
    for layer in layers:
        share = 1 if layer.momentum is None else layer.momentum
        layer.running_mean.div_(share)
        layer.running_var.div_(share)


class SWALR(LRScheduler):
    """From the present rate to swa_lr within anneal_epochs steps, along a cosine or a line."""

    def __init__(
        self, optimizer: Optimizer, swa_lr: float | list[float], anneal_epochs: int = 10, anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"[SWALR] anneal_strategy is 'cos' or 'linear', not {anneal_strategy!r}")
        groups = optimizer.param_groups
        wanted = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(groups)
        for group, rate in zip(groups, wanted):
            group["swa_lr"] = rate
        self.anneal_epochs, self._anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _share(self, steps: int) -> float:
        t = max(0.0, min(1.0, steps / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[float]:
        """The present rates, moved towards swa_lr."""
        step = max(self._step_count - 1, 1 if self.anneal_epochs == 0 else 0)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            wanted = group["swa_lr"]
            first = wanted if before == 1 else (group["lr"] - before * wanted) / (1 - before)
            rates.append(wanted * now + first * (1 - now))
        return rates


def __dir__():
    return __all__
