"""Sequences of several lengths, under PyTorch's names."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ... import _crisol as _c
from ..._crisol import Tensor

__all__ = ["PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence"]
__all__ += ["pad_sequence", "unpack_sequence", "unpad_sequence"]


class PackedSequence(NamedTuple):
    """The elements of sequences, without padding: first all elements at time 0, then at time 1, …. batch_sizes has the
    number of sequences at each time. The longest sequence comes first; unsorted_indices restores the order."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """The same with the elements converted by Tensor.to()."""
        return self._replace(data=self.data.to(*args, **kwargs))


def _lengths_of(sequence: PackedSequence) -> list[int]:
    """The lengths, the longest first."""
    sizes = [int(size) for size in sequence.batch_sizes.tolist()]
    return [sum(size > i for size in sizes) for i in range(sizes[0])]


def _places(lengths: Sequence[int], order: Sequence[int], batch: int) -> list[int]:
    """The rows of a padded batch, time by time, that belong to sequences."""
    longest = max(lengths)
    return [time * batch + i for time in range(longest) for i in order if lengths[i] > time]


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that restores the order."""
    return None if permutation is None else _c.argsort(permutation)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs padded sequences (T, B, …), or (B, T, …) with batch_first. With enforce_sorted the lengths must not rise."""
    counts = [int(n) for n in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)]
    x = input.transpose(0, 1) if batch_first else input
    if len(counts) != x.shape[1] or min(counts) < 1 or max(counts) > x.shape[0]:
        raise _c.InvalidArgumentError(
            f"[pack_padded_sequence] {x.shape[1]} sequences of at most {x.shape[0]} elements have no lengths {counts}"
        )
    order = sorted(range(len(counts)), key=lambda i: -counts[i])
    if enforce_sorted and order != list(range(len(counts))):
        raise _c.InvalidArgumentError(f"[pack_padded_sequence] lengths {counts} rise: give enforce_sorted=False")
    rows = _c.asarray(_places(counts, order, len(counts)), dtype=_c.int64, device=x.device)
    data = _c.index_select(x.reshape((x.shape[0] * x.shape[1], *x.shape[2:])), 0, rows)
    sizes = _c.asarray([sum(n > time for n in counts) for time in range(max(counts))], dtype=_c.int64)
    if enforce_sorted:
        return PackedSequence(data, sizes)
    indices = _c.asarray(order, dtype=_c.int64, device=x.device)
    return PackedSequence(data, sizes, indices, invert_permutation(indices))


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The sequences (T, B, …) with padding, and their lengths."""
    counts, data = _lengths_of(sequence), sequence.data
    batch, longest = len(counts), counts[0]
    if total_length is not None and total_length < longest:
        raise _c.InvalidArgumentError(f"[pad_packed_sequence] total_length {total_length} is below {longest}")
    time = longest if total_length is None else total_length
    rows = _c.asarray(_places(counts, range(batch), batch), dtype=_c.int64, device=data.device)
    empty = _c.full((time * batch, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
    place = rows.reshape((-1, *[1] * (data.ndim - 1))).expand(data.shape)
    x = _c.scatter(empty, 0, place, data).reshape((time, batch, *data.shape[1:]))
    lengths = _c.asarray(counts, dtype=_c.int64)
    if sequence.unsorted_indices is not None:
        x = _c.index_select(x, 1, sequence.unsorted_indices)
        lengths = _c.index_select(lengths, 0, sequence.unsorted_indices.to(lengths.device))
    return (x.transpose(0, 1) if batch_first else x), lengths


def pad_sequence(
    sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Stacks sequences (L, …) of several lengths: (T, B, …), or (B, T, …) with batch_first."""
    if padding_side not in ("left", "right"):
        raise ValueError(f"[pad_sequence] padding_side is 'left' or 'right', not {padding_side!r}")
    given = list(sequences)
    longest = max(x.shape[0] for x in given)
    rows = []
    for x in given:
        missing = longest - x.shape[0]
        filler = _c.full((missing, *x.shape[1:]), padding_value, dtype=x.dtype, device=x.device)
        parts = [x, filler] if padding_side == "right" else [filler, x]
        rows.append(_c.concat(parts) if missing else x)
    return _c.stack(rows, axis=0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences without their padding."""
    x = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [x[i, : int(n)] for i, n in enumerate(lengths.tolist())]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences (L, …) of several lengths."""
    lengths = [x.shape[0] for x in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences))


def __dir__():
    return __all__
