"""Data sets, and loaders that prepare batches while the training runs."""

import atexit
import weakref
from collections.abc import Iterator, Mapping
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
        """A sample: an array or a number, or a tuple of them. All samples have the same shapes and types."""
        raise NotImplementedError("a Dataset needs __getitem__()")


_open = weakref.WeakSet()


@atexit.register
def _close_all():
    # The threads of a loader call Python, which must not end before them.
    for loader in list(_open):
        loader.close()


class DataLoader:
    """Reads samples on threads of its own, and moves the next batch to the device while the program uses the current.

    Each loop goes through one epoch, and each batch is a list with a tensor (batch_size, …) for each field of the
    samples. The seed and the number of the epoch determine the order of shuffle. num_workers threads read samples,
    at least one; they do not change the batches.
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
    ) -> None:
        self.dataset = dataset
        self.batch_size = batch_size
        self._loader = _data.Loader(
            dataset, batch_size, shuffle, drop_last, seed, max(1, num_workers), sampler, device
        )
        _open.add(self._loader)

    def __len__(self) -> int:
        return self._loader.batches()

    def __iter__(self) -> Iterator[list[Tensor]]:
        loop = _data.Loop(self._loader)
        while (batch := loop.next()) is not None:
            yield batch

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
