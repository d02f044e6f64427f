"""Data sets, and loaders that prepare batches while the training runs."""

import atexit
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ._crisol import Tensor, _data
from ._crisol import device as _device
from ._crisol._data import (
    MNIST,
    Csv,
    ImageDataset,
    ImageFolder,
    RandomSampler,
    SequentialSampler,
    ShardedSampler,
    Subset,
    TensorDataset,
    random_split,
    read_idx,
    read_image,
)

__all__ = ["Csv", "DataLoader", "Dataset", "ImageDataset", "ImageFolder", "MNIST", "Subset", "TensorDataset"]
__all__ += ["RandomSampler", "SequentialSampler", "ShardedSampler", "random_split", "read_idx", "read_image"]

for _class in (
    Csv, ImageDataset, ImageFolder, RandomSampler, SequentialSampler, ShardedSampler, Subset, TensorDataset
):
    _class.__module__ = "crisol.data"


class Dataset:
    """Samples by index. A subclass defines both methods. Any object with them is a data set too."""

    def __len__(self) -> int:
        """The number of samples."""
        raise NotImplementedError("a Dataset needs __len__()")

    def __getitem__(self, index: int) -> Any:
        """A sample: an array or a number, or a tuple or dict of them. All samples have the same shapes and types."""
        raise NotImplementedError("a Dataset needs __getitem__()")


def _has_dicts(dataset):
    if isinstance(dataset, _data.NativeDataset) or not (hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")):
        return False
    return len(dataset) > 0 and isinstance(dataset[0], Mapping)


class _Values:
    """The values of samples that are dicts, in one order."""

    def __init__(self, dataset, names):
        self._dataset, self._names = dataset, names

    def __len__(self):
        return len(self._dataset)

    def __getitem__(self, index):
        sample = self._dataset[index]
        if set(sample) != set(self._names):
            raise ValueError(f"[DataLoader] sample {index} has the names {list(sample)}, sample 0 has {self._names}")
        return tuple(sample[name] for name in self._names)


_open = weakref.WeakSet()


@atexit.register
def _close_all():
    # The threads of a loader call Python, which must not end before them.
    for loader in list(_open):
        loader.close()


class DataLoader:
    """Reads samples on threads of its own, and moves the next batch to the device while the program uses the current.

    Each loop goes through one epoch, and each batch is a list with a tensor (batch_size, …) for each field of the
    samples, or a dict of such tensors if the samples are dicts. The seed and the number of the epoch determine the
    order of shuffle. num_workers threads read samples, at least one; they do not change the batches.

    collate_fn makes a batch of its own from a list of samples. The program's thread then reads the samples. pin_memory
    changes nothing.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        *,
        sampler: Any = None,
        num_workers: int = 0,
        drop_last: bool = False,
        seed: int = 0,
        device: _device | str | None = None,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
    ) -> None:
        self.dataset = dataset
        self.batch_size = batch_size
        self.collate_fn = collate_fn
        self._names = None
        source = dataset
        if collate_fn is not None:
            source = range(len(dataset))  # The library orders the numbers of the samples.
        elif _has_dicts(dataset):
            self._names = list(dataset[0])
            source = _Values(dataset, self._names)
        self._loader = _data.Loader(source, batch_size, shuffle, drop_last, seed, max(1, num_workers), sampler, device)
        _open.add(self._loader)

    def __len__(self) -> int:
        return self._loader.batches()

    def __iter__(self) -> Iterator[Any]:
        loop = _data.Loop(self._loader)
        while (batch := loop.next()) is not None:
            yield self._finished(batch)

    def _finished(self, batch):
        if self.collate_fn is not None:
            return self.collate_fn([self.dataset[i] for i in batch[0].tolist()])
        return batch if self._names is None else dict(zip(self._names, batch))

    @property
    def position(self) -> tuple[int, int]:
        """The epoch and the batch that come next."""
        return self._loader.position()

    def state_dict(self) -> dict[str, Tensor]:
        """The position and the order, as tensors by name: Checkpoint(data=…)."""
        return self._loader.state_dict()

    def load_state_dict(self, state_dict: Mapping[str, Tensor]) -> None:
        """Continues from a state of state_dict()."""
        self._loader.load_state_dict(state_dict)


def __dir__():
    return __all__
