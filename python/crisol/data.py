"""Data sets, and loaders that prepare batches during training. The names are those of torch.utils.data."""

import atexit
import bisect
import itertools
import math
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ._collate import batch_of, default_collate, is_flat, layout_of, leaves_of, tensor_of
from ._crisol import Generator, InvalidArgumentError, Tensor, _data
from ._crisol import device as _device
from ._crisol._data import MNIST, Csv, ImageDataset, ImageFolder, ShardedSampler, read_idx, read_image
from ._samplers import (
    BatchSampler,
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
__all__ += ["read_idx", "read_image"]

for _value in (
    Csv, ImageDataset, ImageFolder, ShardedSampler, BatchSampler, RandomSampler, Sampler, SequentialSampler,
    SubsetRandomSampler, WeightedRandomSampler, default_collate,
):
    _value.__module__ = "crisol.data"


class Dataset:
    """Samples by index. A subclass defines both methods. Any other object with both methods is a data set too."""

    def __len__(self) -> int:
        """The number of samples."""
        raise NotImplementedError("a Dataset needs __len__()")

    def __getitem__(self, index: int) -> Any:
        """One sample: a tensor, array or number, or a tuple, list or dict of them. All samples must have the same
        shapes and types."""
        raise NotImplementedError("a Dataset needs __getitem__()")

    def __add__(self, other: Any) -> "ConcatDataset":
        return ConcatDataset([self, other])


class IterableDataset:
    """Samples in the order in which __iter__() gives them. A subclass defines it."""

    def __iter__(self) -> Iterator[Any]:
        """The samples."""
        raise NotImplementedError("an IterableDataset needs __iter__()")


class TensorDataset(_data.TensorDataset, Dataset):
    """The rows of tensors or arrays: sample i is a tuple of row i of each.

    A loader reads the values that they had when the data set was made.
    """

    def __init__(self, *tensors: Any) -> None:
        self.tensors = tuple(value if isinstance(value, Tensor) else tensor_of(value) for value in tensors)
        super().__init__(list(self.tensors))

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)


class Subset(Dataset):
    """Selected samples of a data set, in the given order."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, list(indices)
        for index in self.indices:
            if not 0 <= index < len(dataset):
                raise InvalidArgumentError(f"[Subset] index {index} is not in [0, {len(dataset)})")

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, (list, tuple)):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]


class ConcatDataset(Dataset):
    """The samples of several data sets, one data set after another."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("[ConcatDataset] there are no data sets")
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"sample {index} of {len(self)}")
        number = bisect.bisect_right(self.cumulative_sizes, place)
        return self.datasets[number][place - (self.cumulative_sizes[number - 1] if number else 0)]


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Generator | None = None, *, seed: int = 0
) -> list[Subset]:
    """Splits a data set into parts at random. The lengths are numbers of samples, or fractions whose sum is 1. The seed
    or the generator determines the parts."""
    count = len(dataset)
    if math.isclose(sum(lengths), 1):
        parts = [math.floor(count * fraction) for fraction in lengths]
        for i in range(count - sum(parts)):
            parts[i % len(parts)] += 1
        lengths = parts
    if generator is not None:
        seed = RandomSampler(1, generator=generator)._drawn(0)[0]
    return [Subset(dataset, indices) for indices in _data.split_indices(count, list(lengths), seed)]


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
    a loop begins.
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
            for number in range(self.num_workers):
                self.worker_init_fn(number)
        if self._loader is None:
            return self._plain()
        loop = _data.Loop(self._loader)
        _open.add(loop)
        return self._batches(loop)

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
        iterable = isinstance(self.dataset, IterableDataset)
        if self.batch_size is None:
            samples = self.dataset if iterable else map(self.dataset.__getitem__, self.sampler)
            return map(self.collate_fn or _converted, samples)
        if iterable:
            return map(self._collated, BatchSampler(self.dataset, self.batch_size, self.drop_last))
        batches = self.batch_sampler or BatchSampler(self.sampler, self.batch_size, self.drop_last)
        return (self._collated([self.dataset[i] for i in batch]) for batch in batches)

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


def _converted(sample):
    """Converts a sample that is not in a batch: arrays become tensors."""
    if isinstance(sample, Mapping):
        return {key: _converted(value) for key, value in sample.items()}
    if isinstance(sample, (tuple, list)):
        parts = map(_converted, sample)
        return type(sample)(*parts) if hasattr(sample, "_fields") else type(sample)(parts)
    return _tensor_of(sample) if hasattr(sample, "__array__") else sample


def __dir__():
    return __all__
