"""Orders of samples, under the names of torch.utils.data."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

from .._crisol import Generator, _data, randint

__all__ = ["BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler"]
__all__ += ["DistributedSampler", "WeightedRandomSampler"]


class Sampler:
    """Chooses the samples of an epoch and their order. A subclass defines __iter__() and __len__()."""

    def __iter__(self) -> Iterator[Any]:
        """The indices of the samples of the next epoch."""
        raise NotImplementedError("a Sampler needs __iter__()")


class _Ordered(Sampler):
    """A sampler whose order is determined by a seed and the epoch, or drawn from a generator."""

    def __init__(self, seed: int, generator: Generator | None) -> None:
        self._seed, self._generator, self._epoch = seed, generator, 0

    def order(self, epoch: int) -> list[int]:
        """The indices of an epoch's samples. Without a generator, the same epoch has the same indices each time."""
        raise NotImplementedError

    def _drawn(self, epoch: int) -> tuple[int, int]:
        """A seed and an epoch, from which an order is made."""
        if self._generator is None:
            return self._seed, epoch
        return int(randint(0, 2**31, 1, generator=self._generator)[0]), 0

    def _random(self, epoch: int) -> random.Random:
        return random.Random(repr(self._drawn(epoch)))

    def __iter__(self) -> Iterator[int]:
        epoch, self._epoch = self._epoch, self._epoch + 1
        return iter(self.order(epoch))


def _count_of(name: str, data_source: Sized | int) -> int:
    count = data_source if isinstance(data_source, int) else len(data_source)
    if count < 0:
        raise ValueError(f"[{name}] the number of samples is {count}")
    return count


class DistributedSampler(Sampler):
    """Every num_replicas-th sample, beginning with number `rank`. The first samples are repeated, or with drop_last some
    are left out, so that all ranks have the same number. The order depends on the seed and on set_epoch()."""

    def __init__(
        self, dataset: Sized, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True,
        seed: int = 0, drop_last: bool = False,
    ) -> None:  # fmt: skip
        if num_replicas is None or rank is None:
            from .. import distributed

            num_replicas = distributed.world() if num_replicas is None else num_replicas
            rank = distributed.rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"[DistributedSampler] rank {rank} is not in [0, {num_replicas})")
        self.dataset, self.num_replicas, self.rank, self.epoch = dataset, num_replicas, rank, 0
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        count = len(dataset)
        self.num_samples = count // num_replicas if drop_last else -(-count // num_replicas)
        self.total_size = self.num_samples * num_replicas

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch, which changes the order."""
        self.epoch = epoch

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        order = list(range(len(self.dataset)))
        if self.shuffle:
            random.Random(f"{self.seed}, {self.epoch}").shuffle(order)
        while order and len(order) < self.total_size:
            order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])


class SequentialSampler(_Ordered):
    """0, 1, … for a data set, or for a number of samples."""

    def __init__(self, data_source: Sized | int) -> None:
        super().__init__(0, None)
        self.data_source = data_source
        self._count = _count_of("SequentialSampler", data_source)

    def __len__(self) -> int:
        return self._count

    def order(self, epoch: int) -> list[int]:
        return list(range(self._count))


class RandomSampler(_Ordered):
    """A permutation of the samples of a data set, or of a number of samples. The seed and the epoch determine it.

    With replacement, a sample may appear several times. If there is a generator, it draws a new order in each epoch.
    """

    def __init__(
        self,
        data_source: Sized | int,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
        *,
        seed: int = 0,
    ) -> None:
        super().__init__(seed, generator)
        self.data_source, self.replacement = data_source, replacement
        self._count = _count_of("RandomSampler", data_source)
        self.num_samples = self._count if num_samples is None else num_samples
        if num_samples is not None and num_samples <= 0:
            raise ValueError(f"[RandomSampler] num_samples is {num_samples}, it must be positive")
        if num_samples is not None and self._count == 0:
            raise ValueError(f"[RandomSampler] num_samples is {num_samples}, and there are no samples to draw from")

    def __len__(self) -> int:
        return self.num_samples

    def order(self, epoch: int) -> list[int]:
        if self.replacement:
            return self._random(epoch).choices(range(self._count), k=self.num_samples)
        seed, epoch = self._drawn(epoch)
        order: list[int] = []
        while len(order) < self.num_samples:
            order += _data.shuffled(self._count, seed, epoch + len(order))
        return order[: self.num_samples]


class SubsetRandomSampler(_Ordered):
    """A permutation of selected samples."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None, *, seed: int = 0) -> None:
        super().__init__(seed, generator)
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    def order(self, epoch: int) -> list[int]:
        return [self.indices[i] for i in _data.shuffled(len(self.indices), *self._drawn(epoch))]


class WeightedRandomSampler(_Ordered):
    """Draws num_samples samples. The probability of a sample is proportional to its weight."""

    def __init__(
        self,
        weights: Iterable[Any],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
        *,
        seed: int = 0,
    ) -> None:
        super().__init__(seed, generator)
        values = weights.tolist() if hasattr(weights, "tolist") else weights
        self.weights, self.num_samples, self.replacement = [float(w) for w in values], num_samples, replacement
        positive = sum(weight > 0 for weight in self.weights)
        if num_samples <= 0 or min(self.weights, default=0) < 0 or positive == 0:
            raise ValueError(
                f"[WeightedRandomSampler] num_samples is {num_samples}, and there are {positive} positive weights; "
                "both must be positive, and no weight negative"
            )
        if not replacement and num_samples > positive:
            raise ValueError(f"[WeightedRandomSampler] {num_samples} samples of {positive} without replacement")

    def __len__(self) -> int:
        return self.num_samples

    def order(self, epoch: int) -> list[int]:
        source = self._random(epoch)
        if self.replacement:
            return source.choices(range(len(self.weights)), self.weights, k=self.num_samples)
        # Draws an exponential time for each sample, with its weight as the rate. The samples with the smallest times
        # are chosen. Source: Efraimidis and Spirakis 2006.
        times = [(source.expovariate(w), i) for i, w in enumerate(self.weights) if w > 0]
        return [i for _, i in sorted(times)[: self.num_samples]]


class BatchSampler(Sampler):
    """Groups the indices of another sampler into lists of batch_size, for DataLoader(batch_sampler=…)."""

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool = False) -> None:
        if batch_size <= 0:
            raise ValueError(f"[BatchSampler] batch_size {batch_size} must be positive")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[Any]]:
        batch: list[Any] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        return batches_of(len(self.sampler), self.batch_size, self.drop_last)  # type: ignore[arg-type]


def batches_of(samples: int, batch_size: int, drop_last: bool) -> int:
    """The number of batches."""
    return samples // batch_size if drop_last else -(-samples // batch_size)
