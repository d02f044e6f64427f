"""Data sets, and their parts and combinations."""

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ._collate import tensor_of
from .._crisol import Generator, InvalidArgumentError, Tensor, _data
from ._samplers import RandomSampler

__all__ = ["ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset", "TensorDataset"]
__all__ += ["random_split"]


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


class StackDataset(Dataset):
    """Samples of several data sets side by side: tuples, or dicts for data sets with names."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError("[StackDataset] takes data sets, either with names or without")
        self.datasets = args or kwargs
        parts = list(kwargs.values() if kwargs else args)
        if any(len(part) != len(parts[0]) for part in parts):
            raise ValueError(f"[StackDataset] the data sets have {[len(part) for part in parts]} samples")
        self._length = len(parts[0])

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> Any:
        if isinstance(self.datasets, dict):
            return {name: part[index] for name, part in self.datasets.items()}
        return tuple(part[index] for part in self.datasets)


class ChainDataset(IterableDataset):
    """The samples of several data sets without an index, one data set after another."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        return sum(len(part) for part in self.datasets)


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
