"""Data sets, and loaders that prepare batches during training. The names are those of torch.utils.data."""

import atexit
import copy
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ._collate import batch_of, default_collate, default_convert, is_flat, layout_of, leaves_of
from .._crisol import Generator, InvalidArgumentError, Tensor, _data
from .._crisol import device as _device
from .._crisol._data import MNIST, Csv, ImageDataset, ImageFolder, ShardedSampler, read_idx, read_image
from .._functions._random import initial_seed
from .._public import belongs_to
from ._datasets import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from ._samplers import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
    batches_of,
)

__all__ = ["BatchSampler", "ConcatDataset", "Csv", "DataLoader", "Dataset", "ImageDataset", "ImageFolder"]
__all__ += ["IterableDataset", "MNIST", "RandomSampler", "Sampler", "SequentialSampler", "ShardedSampler", "Subset"]
__all__ += ["SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate", "random_split"]
__all__ += ["ChainDataset", "DistributedSampler", "StackDataset", "default_convert", "get_worker_info", "read_idx"]
__all__ += ["read_image"]

_classes = (BatchSampler, ChainDataset, ConcatDataset, Csv, Dataset, DistributedSampler, ImageDataset, ImageFolder)
_classes += (IterableDataset, RandomSampler, Sampler, SequentialSampler, ShardedSampler, StackDataset, Subset)
_classes += (SubsetRandomSampler, TensorDataset, WeightedRandomSampler)
belongs_to("crisol.data", (*_classes, default_collate, default_convert, random_split))


def _native(dataset):
    """The data set as a data set of the library, which reads samples without Python. None if this is not possible."""
    if isinstance(dataset, _data.NativeDataset):
        return dataset
    if type(dataset) is Subset:
        whole = _native(dataset.dataset)
        return None if whole is None else _data.Subset(whole, dataset.indices)
    if type(dataset) is ConcatDataset:
        parts = [_native(part) for part in dataset.datasets]
        return None if None in parts else _data.Concat(parts)
    return None


class _Leaves:
    """A data set for the library: each sample is a tuple of the leaves of a nested sample."""

    def __init__(self, dataset, layout):
        self._dataset, self._layout = dataset, layout

    def __len__(self):
        return len(self._dataset)

    def __getitem__(self, index):
        return leaves_of(self._dataset[index], self._layout, index)


_open = weakref.WeakSet()


@atexit.register
def _close_all():
    # Loops are closed first, because their threads call Python.
    for loop in list(_open):
        loop.close()


class DataLoader:
    """Reads samples on its own threads. While the program uses a batch, the next batch is moved to the device.

    Each loop goes through one epoch, and has its own position. Each tensor, array or number of a sample becomes a
    tensor (batch_size, …) in the batch. Tuples become lists, dicts stay dicts, and texts become lists
    (default_collate). With shuffle, the order is determined by the seed and the number of the epoch, or drawn by the
    generator. num_workers threads read samples, at least one. Their number does not change the batches.

    collate_fn makes a batch from a list of samples. The program's own thread then reads the samples. It also reads them
    with an IterableDataset, with a batch_sampler, and with batch_size=None, which gives single samples. pin_memory,
    prefetch_factor and persistent_workers have no effect. worker_init_fn(i) is called for each i below num_workers when
    a loop begins, and get_worker_info() then tells i. With worker_init_fn, an IterableDataset is read as PyTorch's
    workers do: each i has its own copy, and they give batches in turn.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        seed: int = 0,
        device: _device | str | None = None,
    ) -> None:
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.collate_fn, self.num_workers, self.worker_init_fn = collate_fn, num_workers, worker_init_fn
        self.sampler, self.batch_sampler, self.device = sampler, batch_sampler, device
        if not isinstance(num_workers, int):
            raise TypeError(f"[DataLoader] num_workers is {num_workers!r}, it must be an int")
        self._loader = self._layout = None
        iterable = isinstance(dataset, IterableDataset)
        if (iterable or batch_sampler is not None) and (shuffle or sampler is not None):
            raise ValueError("[DataLoader] an IterableDataset and a batch_sampler take no shuffle and no sampler")
        if batch_sampler is not None and (batch_size != 1 or drop_last):
            raise ValueError("[DataLoader] a batch_sampler takes no batch_size and no drop_last")
        if iterable or batch_sampler is not None:
            return
        if shuffle and generator is not None and sampler is None:
            sampler, shuffle = RandomSampler(dataset, generator=generator), False
        if batch_size is None or (sampler is not None and not hasattr(sampler, "__len__")):
            self.sampler = sampler or (RandomSampler if shuffle else SequentialSampler)(dataset)
            return
        options = (batch_size, bool(shuffle), drop_last, seed, max(1, num_workers), sampler, device)
        self._loader = _data.DataLoader(self._source(), *options)

    def _source(self):
        """The data set for the library. It is only the number of samples if the library just orders their indices."""
        if not (hasattr(self.dataset, "__len__") and hasattr(self.dataset, "__getitem__")):
            kind = type(self.dataset).__name__
            raise TypeError(
                f"[DataLoader] a data set has __len__() and __getitem__(), or is an IterableDataset; {kind} is not"
            )
        if self.collate_fn is not None:
            return len(self.dataset)
        native = _native(self.dataset)
        if native is not None:
            return native
        if len(self.dataset) == 0:
            return 0
        self._layout = layout_of(self.dataset[0])
        if self._layout is None:
            return len(self.dataset)
        return self.dataset if is_flat(self._layout) else _Leaves(self.dataset, self._layout)

    def __len__(self) -> int:
        if self._loader is not None:
            return self._loader.batches()
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        samples = len(self.dataset if isinstance(self.dataset, IterableDataset) else self.sampler)
        return samples if self.batch_size is None else batches_of(samples, self.batch_size, self.drop_last)

    def __iter__(self) -> Iterator[Any]:
        if self.worker_init_fn is not None:
            sources = [self._begun(number) for number in range(self.num_workers)]
            if isinstance(self.dataset, IterableDataset) and sources:
                return _in_turn([self._batched(source) for source in sources])
        if self._loader is None:
            return self._plain()
        loop = _data.Loop(self._loader)
        _open.add(loop)
        return self._batches(loop)

    def _begun(self, number):
        """The data set that a worker reads, after worker_init_fn."""
        iterable = isinstance(self.dataset, IterableDataset)
        source = copy.copy(self.dataset) if iterable else self.dataset
        worker = _Worker(number, self.num_workers, initial_seed() + number, source)
        with worker.acting():
            self.worker_init_fn(number)
        return worker.samples() if iterable else source

    def _batches(self, loop):
        while (batch := loop.next()) is not None:
            yield self._finished(batch)

    def _finished(self, batch):
        if self._loader.numbers():
            return self._collated([self.dataset[i] for i in batch])
        return batch if self._layout is None else batch_of(self._layout, batch)

    def _collated(self, samples):
        return default_collate(samples, device=self.device) if self.collate_fn is None else self.collate_fn(samples)

    def _plain(self):
        """The batches of a loop whose order the library does not determine."""
        if isinstance(self.dataset, IterableDataset):
            return self._batched(self.dataset)
        if self.batch_size is None:
            return map(self.collate_fn or default_convert, map(self.dataset.__getitem__, self.sampler))
        batches = self.batch_sampler or BatchSampler(self.sampler, self.batch_size, self.drop_last)
        return (self._collated([self.dataset[i] for i in batch]) for batch in batches)

    def _batched(self, samples):
        if self.batch_size is None:
            return map(self.collate_fn or default_convert, samples)
        return map(self._collated, BatchSampler(samples, self.batch_size, self.drop_last))

    def _ordered(self):
        if self._loader is None:
            raise TypeError(
                "[DataLoader] there is no position with an IterableDataset, a batch_sampler or batch_size=None"
            )
        return self._loader

    @property
    def position(self) -> tuple[int, int]:
        """The epoch and batch that come next, in the loop that gave a batch last."""
        return self._ordered().position()

    def state_dict(self) -> dict[str, Tensor]:
        """The position and the order, as tensors by name, for Checkpoint(data=…). The position is the position of the
        loop that gave a batch last. So save it only while one loop runs."""
        return self._ordered().state_dict()

    def load_state_dict(self, state_dict: Mapping[str, Tensor]) -> None:
        """Restores a state from state_dict(): the next loop continues there."""
        self._ordered().load_state_dict(state_dict)


class _Worker(NamedTuple):
    """What get_worker_info() tells."""

    id: int
    num_workers: int
    seed: int
    dataset: Any

    @contextmanager
    def acting(self):
        """The time in which get_worker_info() is this worker."""
        global _acting
        _acting = self
        try:
            yield
        finally:
            _acting = None

    def samples(self):
        """The samples of an IterableDataset."""
        with self.acting():
            iterator = iter(self.dataset)
        ended = object()
        while True:
            with self.acting():
                sample = next(iterator, ended)
            if sample is ended:
                return
            yield sample


_acting: _Worker | None = None


def get_worker_info() -> _Worker | None:
    """The worker whose worker_init_fn or IterableDataset runs: its id, num_workers, seed and dataset. Elsewhere None,
    because threads of this process, or the program's own thread, read samples."""
    return _acting


def _in_turn(iterators: list[Iterator[Any]]) -> Iterator[Any]:
    """One item of each, then the next of each, until all have ended."""
    ended = object()
    while iterators:
        items = [(each, next(each, ended)) for each in iterators]
        iterators = [each for each, item in items if item is not ended]
        yield from (item for _, item in items if item is not ended)


def __dir__():
    return __all__
