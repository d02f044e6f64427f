"""Training on several devices: one process for each device, connected by MPI.

    from crisol import distributed as dist

    dist.init()                                    # First of all: it chooses the device of this rank.
    net = Net()
    optimizer = crisol.optim.Adam(net.parameters(), 1e-3)
    model = dist.DataParallel(net)                 # The same weights everywhere, those of rank 0.
    for images, labels in loader:                  # Each rank reads other samples: crisol.data.ShardedSampler.
        optimizer.zero_grad()
        F.cross_entropy(model(images), labels).backward()  # Gradients are averaged meanwhile.
        optimizer.step()
    dist.finish()

`mpirun -n 2 python program.py` starts two ranks. All ranks make the same calls in the same order. The same ranks give
the same bits in each run. The module needs MPI, so it is there in a package that was built where MPI is installed.
"""

import atexit
import functools
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import Tensor
from .nn import Module
from .optim import Optimizer, _state

try:
    from . import _dist
except ImportError as error:
    raise ImportError(
        "crisol.distributed is not in this package, or its MPI is missing: install MPI (Debian: libopenmpi-dev openmpi-bin) "
        f"and build crisol from its source with pip ({error})"
    ) from error
from ._dist import (
    all_gather,
    all_reduce,
    barrier,
    broadcast,
    initialized,
    local_rank,
    local_world,
    rank,
    reduce_scatter,
    sync_batch_norm,
    world,
)

__all__ = ["DataParallel", "ShardedOptimizer", "all_gather", "all_reduce", "barrier", "broadcast", "fail", "finish"]
__all__ += ["init", "initialized", "local_rank", "local_world", "rank", "reduce_scatter", "sync_batch_norm", "world"]


def init() -> None:
    """Starts MPI, unless mpi4py has started it, and connects all ranks.

    Call it before anything else of crisol. Without mpirun there is one rank. On each machine, the n-th rank gets the
    n-th GPU as its default device. CRISOL_DEVICE may be a list with one device for each rank. Ranks that compute on the
    cores of one machine share the cores. After this call, the whole run ends if one rank ends before finish(). A rank
    ends by an uncaught exception in any thread, by the end of the program, by a signal, or if it is silent for longer
    than CRISOL_DIST_TIMEOUT seconds (8; 0: never).
    """
    _dist._init()
    _watch_program()


def finish() -> None:
    """Waits for all ranks, and ends MPI if init() started it. Call it at the end, on every rank."""
    _dist._finish()


def fail(reason: str) -> None:
    """Prints the reason and the number of this rank, and ends all ranks at once. Does not return."""
    _dist._fail(reason)


def _end_with(hook, text_of):
    """A hook for uncaught exceptions. It calls the previous hook, and ends the run if there is one."""

    def uncaught(*arguments):
        hook(*arguments)
        if initialized():
            fail(f"an exception that nobody caught: {text_of(*arguments)}")

    return uncaught


def _text_of(kind, value, *_):
    return f"{kind.__name__}: {value}"


def _end_of_program():
    if initialized():
        fail("the program ended before dist.finish()")


@functools.cache
def _watch_program():
    """Ends the run if this process ends without finish(). This must happen before mpi4py ends MPI, which is later than
    atexit."""
    sys.excepthook = _end_with(sys.excepthook, _text_of)
    threading.excepthook = _end_with(threading.excepthook, lambda raised: _text_of(raised.exc_type, raised.exc_value))
    atexit.register(_end_of_program)


class DataParallel(_dist._DataParallel):
    """Averages the gradients of a module over all ranks in each backward().

    While this object lives, every backward() through the parameters is a common step of all ranks. The constructor
    gives the parameters and buffers of rank 0 to all ranks. Make the optimiser first, so that nothing is copied on the
    device. After backward(), the gradients are the same on all ranks. If a parameter got a gradient only on some ranks,
    backward() raises InvalidArgumentError on every rank and names the parameter.

    Gradients are summed in buckets of about `bucket_bytes`. The first bucket has about `first_bucket_bytes`. With
    `overlap`, a bucket is summed while backward() computes the next gradients. After every `check_every` passes, the
    ranks compare their weights (0: never).
    """

    def __init__(
        self,
        module: Module,
        *,
        bucket_bytes: int = 25 << 20,
        first_bucket_bytes: int = 1 << 20,
        overlap: bool = True,
        check_every: int = 500,
    ) -> None:
        self.module = module
        parameters, buffers = dict(module.named_parameters()), dict(module.named_buffers())
        super().__init__(parameters, buffers, bucket_bytes, first_bucket_bytes, overlap, check_every)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)


class ShardedOptimizer(_dist._ShardedOptimizer):
    """An optimiser whose state is divided among the ranks: stage 1 of ZeRO, Rajbhandari et al. 2020.

    Each rank updates one part of all parameters, and has the optimiser state only for this part. step() averages the
    gradients, updates this rank's part, and gives the new values to all ranks. So it replaces DataParallel.

        optimizer = dist.ShardedOptimizer(net.named_parameters(), lambda parts: crisol.optim.Adam(parts, 1e-3))
        schedule = crisol.optim.lr_scheduler.StepLR(optimizer.own, 10)

    `own` is the optimiser of this rank's part, made by `make`.
    """

    def __init__(
        self, named_parameters: Iterable[tuple[str, Tensor]], make: Callable[[list[Tensor]], Optimizer]
    ) -> None:
        def make_own(parts):
            self.own = make(parts)
            return self.own

        parameters = dict(named_parameters)
        super().__init__(parameters, make_own)
        self._count = len(parameters)

    def state_dict(self) -> dict[str, Any]:
        """The state of all parameters, as the undivided optimiser gives it. All ranks call it."""
        groups = [dict(group) | {"params": list(range(self._count))} for group in self.own.param_groups]
        return {"state": _state._states_of(super().state_dict(), self._count), "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restores a state of the undivided optimiser. All ranks call it with the same state."""

        def load_states(states):
            whole = super(ShardedOptimizer, self)
            whole.load_state_dict(_state._filled(whole.state_dict(), states))

        _state._load(self.own.param_groups, [self._count], state_dict, load_states)


def __dir__():
    return __all__
